/** The conversations at work of a server of agents: each with its readers, its inputs and its stops. */
import { randomUUID } from 'node:crypto';
import { defer, filter, firstValueFrom, lastValueFrom, type Observable, Subject, type Subscription, timer } from 'rxjs';
import { EngineError, shownMessage, toEngineError } from '../../errors.js';
import type { UiMessageChunk } from '../../ui-messages/protocol.js';
import type { TurnProjection } from '../../ui-messages/ui-message-stream.js';
import type { CancelRequest } from '../runner/live-inputs.js';
import type { Runner } from '../runner/runner.js';
import type { RunnerEvent } from '../runner/runner-events.js';
import type { UserInput } from '../sessions/session-store.js';
import { EventFeed } from './event-feed.js';

/** A session as a request means it. */
export interface AskedSession {
  /** As the caller names it. */
  readonly id: string;
  /** As the runner knows it. */
  readonly session: string;
}

/** A conversation at work, or one that ended a moment ago. */
export interface Talk {
  readonly feed: EventFeed;
  /** The same for a page of the AI SDK, when one began it. */
  readonly ui: { readonly feed: EventFeed; readonly chunks: TurnProjection } | undefined;
  readonly input$: Subject<UserInput>;
  readonly cancel$: Subject<CancelRequest>;
  readonly events$: Subject<RunnerEvent>;
  work: Subscription | undefined;
  expiry: Subscription | undefined;
}

/** Bounds of conversations. */
export interface TalksOptions {
  readonly runner: Runner;
  readonly maxTurns: number;
  readonly maxEvents: number;
  readonly keepMs: number;
}

/** An input as a client sends it. */
export type SaidInput = { readonly id?: string | undefined } & Omit<UserInput, 'id'>;

/** Characters of all events of one feed. */
const MAX_LENGTH = 16 * 1024 ** 2;

const ALIVE_MS = 15_000;

/** Starts conversations and keeps them, with readers or without. */
export class Talks {
  readonly #options: TalksOptions;
  readonly #talks = new Map<string, Talk>();
  #isClosed = false;

  constructor(options: TalksOptions) {
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The conversation of a session, also one that ended a moment ago. */
  get({ session }: AskedSession): Talk | undefined {
    return this.#talks.get(session);
  }

  /** @throws EngineError NOT_FOUND when none is at work */
  atWork(asked: AskedSession): Talk {
    const talk = this.#talks.get(asked.session);
    if (talk?.work !== undefined) return talk;
    throw new EngineError('NOT_FOUND', `No turn of session "${asked.id}" is at work here. Start one with turns.`);
  }

  /**
   * Starts a conversation; resolves once it has begun, so that what keeps it from it is no stream.
   *
   * @throws EngineError SESSION_BUSY, LIMIT_REACHED, and those of the runner
   */
  async start(
    { id, session }: AskedSession,
    start: (options: Pick<Talk, 'input$' | 'cancel$'>) => Observable<RunnerEvent>,
    chunks?: TurnProjection,
  ): Promise<Talk> {
    const { maxTurns, maxEvents } = this.#options;
    if (this.#isClosed) throw new EngineError('LIMIT_REACHED', 'The server is being closed.');
    const before = this.#talks.get(session);
    if (before?.work !== undefined)
      throw new EngineError('SESSION_BUSY', `A turn of session "${id}" is at work: say more with inputs.`);
    const atWork = [...this.#talks.values()].filter(({ work }) => work !== undefined).length;
    if (atWork >= maxTurns) throw new EngineError('LIMIT_REACHED', `${maxTurns} conversations are at work already.`);
    before?.expiry?.unsubscribe();
    const bounds = { maxEvents, maxLength: MAX_LENGTH, aliveMs: ALIVE_MS };
    const talk: Talk = {
      feed: new EventFeed(bounds),
      ui: chunks === undefined ? undefined : { feed: new EventFeed(bounds), chunks },
      input$: new Subject(),
      cancel$: new Subject(),
      events$: new Subject(),
      work: undefined,
      expiry: undefined,
    };
    this.#talks.set(session, talk);
    await new Promise<void>((begun, refused) => {
      let hasBegun = false;
      const { input$, cancel$ } = talk;
      talk.work = defer(() => start({ input$, cancel$ })).subscribe({
        next: (event) => {
          hasBegun = true;
          // Callers know their sessions by their own ids.
          talk.feed.push(event.type, 'session' in event ? { ...event, session: id } : event);
          tellPage(talk, talk.ui?.chunks.project(event));
          talk.events$.next(event);
          begun();
        },
        error: (error: unknown) => {
          const { code, message } = toEngineError(error, 'INTERNAL');
          const errorText = shownMessage({ code, message });
          if (hasBegun) talk.feed.push('error', { code, message: errorText });
          tellPage(talk, [{ type: 'error', errorText }]);
          this.#over(session, talk, hasBegun);
          refused(error);
        },
        complete: () => {
          this.#over(session, talk, hasBegun);
          begun();
        },
      });
      if (talk.feed.isOver) talk.work = undefined;
    });
    return talk;
  }

  /**
   * Says something to a conversation at work; resolves once it is stored.
   *
   * @throws EngineError NOT_FOUND, INPUT_OVERFLOW, SESSION_BUSY when the turn ended before it was stored
   */
  async say(
    asked: AskedSession,
    { id = randomUUID(), ...input }: SaidInput,
  ): Promise<{ readonly id: string; readonly status: 'accepted' | 'known' }> {
    const talk = this.atWork(asked);
    const { seenInputIds } = await this.#options.runner.session(asked.session);
    if (seenInputIds.has(id)) return { id, status: 'known' };
    const outcome$ = talk.events$.pipe(
      filter((event) => (event.type === 'input-accepted' || event.type === 'input-dropped') && event.id === id),
    );
    const told = firstValueFrom(outcome$, { defaultValue: undefined });
    talk.input$.next({ ...input, id });
    const outcome = await told;
    if (outcome?.type === 'input-accepted') return { id, status: 'accepted' };
    if (outcome?.type === 'input-dropped') throw new EngineError('INPUT_OVERFLOW', outcome.reason);
    throw new EngineError(
      'SESSION_BUSY',
      `The turn of session "${asked.id}" ended before the input was stored: say it in a new turn.`,
    );
  }

  /** Stops everything that is at work, and takes nothing new; resolves once the sessions say so. A turn that was stopped goes on with `resume`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const stopping = [...this.#talks.values()].map(async (talk) => {
      talk.expiry?.unsubscribe();
      if (talk.work === undefined) return;
      const over = lastValueFrom(talk.events$, { defaultValue: undefined });
      talk.cancel$.next({ mode: 'now' });
      await over;
    });
    await Promise.all(stopping);
    this.#talks.clear();
  }

  #over(session: string, talk: Talk, isKept: boolean): void {
    talk.work = undefined;
    talk.feed.end();
    tellPage(talk, talk.ui?.chunks.end());
    talk.ui?.feed.pushData('[DONE]');
    talk.ui?.feed.end();
    talk.events$.complete();
    const forget = (): void => {
      if (this.#talks.get(session) === talk) this.#talks.delete(session);
    };
    if (isKept && !this.#isClosed) talk.expiry = timer(this.#options.keepMs).subscribe(forget);
    else forget();
  }
}

/** Tells the page that began a conversation. */
function tellPage({ ui }: Talk, chunks: readonly UiMessageChunk[] = []): void {
  for (const chunk of chunks) ui?.feed.pushData(JSON.stringify(chunk));
}
