/** A runner for pages and programs elsewhere: turns as server-sent events, inputs while they work, stops, answers, history. */
import { randomUUID } from 'node:crypto';
import { defer, filter, firstValueFrom, type Observable, Subject, type Subscription, timer } from 'rxjs';
import { EngineError, type ErrorCode, errorCodeInfo, shownMessage, toEngineError } from '../../errors.js';
import { requireCallable, requireMethods, requireOptions, requireWhole } from '../../operators/invalid-option.js';
import { fromUiMessages } from '../../ui-messages/from-ui-messages.js';
import { UI_MESSAGE_HEADER, type UiMessage, type UiMessageChunk } from '../../ui-messages/protocol.js';
import type { CancelRequest } from '../runner/live-inputs.js';
import type { Runner } from '../runner/runner.js';
import type { RunnerEvent } from '../runner/runner-events.js';
import type { UserInput } from '../sessions/session-store.js';
import { EventFeed } from './event-feed.js';
import {
  cancelSchema,
  inputSchema,
  readBody,
  resumeSchema,
  rollbackSchema,
  turnSchema,
  uiSchema,
} from './read-request.js';
import { UiChunks } from './ui-chunks.js';

/** See {@link agentHandler}. */
export interface AgentHandlerOptions {
  readonly runner: Runner;
  /** What paths begin with, such as `/agents/guide`. @default '' */
  readonly basePath?: string;
  /**
   * Who asks: a name whose sessions no other name reaches, or undefined for a request that is refused with 401. @default all are one and the same, which
   * is for servers that only their own machine reaches
   */
  readonly authorise?: (request: Request) => string | undefined | PromiseLike<string | undefined>;
  /** Conversations at work at once; one more is 429. @default 100 */
  readonly maxTurns?: number;
  /** Bytes of a request's body. @default 1 MiB */
  readonly maxBodyBytes?: number;
  /** Events of a conversation that a reader who comes back finds. @default 10,000 */
  readonly maxEvents?: number;
  /** Milliseconds for which they are kept behind the end. @default 60,000 */
  readonly keepMs?: number;
}

/** Answers requests; for every server that knows `Request` and `Response`, and with `nodeListener` for those of Node. */
export interface AgentHandler {
  (request: Request): Promise<Response>;
  /** Stops everything that is at work, and takes nothing new. */
  close(): void;
}

/** A conversation at work, or one that ended a moment ago. */
interface Talk {
  readonly feed: EventFeed;
  /** The same for a page of the AI SDK, when one began it. */
  readonly ui: { readonly feed: EventFeed; readonly chunks: UiChunks } | undefined;
  readonly input$: Subject<UserInput>;
  readonly cancel$: Subject<CancelRequest>;
  readonly events$: Subject<RunnerEvent>;
  work: Subscription | undefined;
  expiry: Subscription | undefined;
}

/** A request on a session. */
interface Asked {
  readonly request: Request;
  /** As the caller names it. */
  readonly id: string;
  /** As the runner knows it. */
  readonly session: string;
}

const STATUS: Partial<Record<ErrorCode, number>> = {
  BAD_REQUEST: 400,
  INPUT_INVALID: 400,
  SESSION_INVALID: 400,
  ANSWER_UNKNOWN: 400,
  ANSWER_INVALID: 400,
  UNAUTHENTICATED: 401,
  NOT_FOUND: 404,
  SESSION_BUSY: 409,
  INPUT_OVERFLOW: 409,
  BODY_TOO_LARGE: 413,
  LIMIT_REACHED: 429,
};

const ROUTE = /^\/sessions\/([^/]+)(?:\/(turns|resume|events|inputs|cancel|rollback))?$/;

/** What `useChat` asks for with its default transport; the id of a chat is that of its session. */
const UI_ROUTE = /^\/ui-messages(?:\/([^/]+)\/(stream|stop))?$/;

/** Characters of all events of one feed. */
const MAX_LENGTH = 16 * 1024 ** 2;

const ALIVE_MS = 15_000;

/**
 * Serves a runner.
 *
 * | | |
 * |---|---|
 * | `POST /sessions/{id}/turns` | `{ input }`: a turn, as server-sent events |
 * | `GET /sessions/{id}/events` | the events of what is at work, from `Last-Event-ID` or `?after=` on; 204 when nothing is |
 * | `POST /sessions/{id}/inputs` | `{ content, id?, when?, to? }`: 202 once it is stored |
 * | `POST /sessions/{id}/cancel` | `{ mode?, withinMs?, deep? }` |
 * | `POST /sessions/{id}/resume` | `{ answers? }`: goes on, as server-sent events |
 * | `POST /sessions/{id}/rollback` | `{ turn }`: takes back the turns behind it |
 * | `GET /sessions/{id}` | history, values, turns, what waits |
 * | `POST /ui-messages`, `GET …/{chat}/stream`, `POST …/{chat}/stop` | the same for `useChat` of the AI SDK |
 *
 * A reader that leaves detaches: the turn goes on, and `events` attaches again. Errors are `{ error: { code, message } }`.
 *
 * @throws EngineError OPTION_INVALID
 */
export function agentHandler(options: AgentHandlerOptions): AgentHandler {
  const owner = 'agentHandler';
  requireOptions(owner, options, NAMES, 'an object with "runner"');
  requireMethods(owner, 'runner', options.runner, ['run', 'resume', 'session', 'rollback'], 'what createRunner gives');
  requireCallable(owner, 'authorise', options.authorise);
  for (const name of ['maxTurns', 'maxBodyBytes', 'maxEvents', 'keepMs'] as const) {
    if (options[name] !== undefined) requireWhole(owner, name, options[name], 1);
  }
  const server = new AgentServer(options);
  return Object.assign((request: Request) => server.answer(request), { close: () => server.close() });
}

const NAMES = ['runner', 'basePath', 'authorise', 'maxTurns', 'maxBodyBytes', 'maxEvents', 'keepMs'];

class AgentServer {
  readonly #options: Required<Omit<AgentHandlerOptions, 'authorise'>> & Pick<AgentHandlerOptions, 'authorise'>;
  readonly #talks = new Map<string, Talk>();
  #isClosed = false;

  constructor(options: AgentHandlerOptions) {
    this.#options = {
      basePath: '',
      maxTurns: 100,
      maxBodyBytes: 1024 ** 2,
      maxEvents: 10_000,
      keepMs: 60_000,
      ...options,
    };
  }

  async answer(request: Request): Promise<Response> {
    try {
      return await this.#route(request);
    } catch (thrown) {
      const error = toEngineError(thrown, 'INTERNAL');
      const status = STATUS[error.code] ?? (errorCodeInfo(error.code).envelope >= 500 ? 500 : 400);
      return json({ error: { code: error.code, message: shownMessage(error) } }, status);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const talk of this.#talks.values()) {
      talk.work?.unsubscribe();
      talk.expiry?.unsubscribe();
      talk.feed.end();
      talk.ui?.feed.end();
    }
    this.#talks.clear();
  }

  async #route(request: Request): Promise<Response> {
    const { basePath, authorise, runner, maxBodyBytes } = this.#options;
    const { pathname } = new URL(request.url);
    const place = pathname.startsWith(basePath) ? pathname.slice(basePath.length) : '';
    const forPages = UI_ROUTE.exec(place);
    const found = ROUTE.exec(place);
    if (found === null && forPages === null)
      throw new EngineError('NOT_FOUND', `There is nothing at ${pathname.slice(0, 200)}.`);
    const who = authorise === undefined ? '' : await authorise(request);
    if (who === undefined)
      throw new EngineError('UNAUTHENTICATED', 'The request does not say who asks, or with a key that is not known.');
    const askedFor = (id: string): Asked => {
      // The name of the caller has no slash of its own, so no two callers share an id.
      return { request, id, session: authorise === undefined ? id : `${encodeURIComponent(who)}/${id}` };
    };
    const [, rawId = '', verb = ''] = found ?? forPages ?? [];
    const wanted =
      found !== null ? (verb === '' || verb === 'events' ? 'GET' : 'POST') : verb === 'stream' ? 'GET' : 'POST';
    if (request.method !== wanted) return json({ error: { code: 'BAD_REQUEST', message: `Use ${wanted}.` } }, 405);
    if (this.#isClosed) throw new EngineError('LIMIT_REACHED', 'The server is being closed.');
    const read = <T>(schema: Parameters<typeof readBody<T>>[1]): Promise<T> => readBody(request, schema, maxBodyBytes);
    if (found === null) return this.#pages(askedFor, decoded(rawId), verb, read);
    const asked = askedFor(decoded(rawId));
    switch (verb) {
      case 'turns': {
        const { input } = await read(turnSchema);
        return this.#talk(asked, (options) => runner.run(input as never, { session: asked.session, ...options }));
      }
      case 'resume': {
        const { answers } = await read(resumeSchema);
        return this.#talk(asked, (options) => runner.resume(asked.session, answers, options));
      }
      case 'events':
        return this.#events(asked);
      case 'inputs':
        return this.#say(asked, await read(inputSchema));
      case 'cancel': {
        const wish = await read(cancelSchema);
        this.#atWork(asked).cancel$.next(wish);
        return json({ cancelled: true }, 202);
      }
      case 'rollback': {
        const { turn } = await read(rollbackSchema);
        return json(stateOf(await runner.rollback(asked.session, turn)), 200);
      }
      default:
        return json(stateOf(await runner.session(asked.session)), 200);
    }
  }

  /** Starts a conversation, and answers once it has begun, so that what keeps it from it is no stream. */
  async #talk(
    { id, session }: Asked,
    start: (options: Pick<Talk, 'input$' | 'cancel$'>) => Observable<RunnerEvent>,
    chunks?: UiChunks,
  ): Promise<Response> {
    const { maxTurns, maxEvents } = this.#options;
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
    return streamOf(talk);
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

  /** What `useChat` asks for. */
  async #pages(
    askedFor: (id: string) => Asked,
    chat: string,
    verb: string,
    read: <T>(schema: Parameters<typeof readBody<T>>[1]) => Promise<T>,
  ): Promise<Response> {
    const { runner } = this.#options;
    if (verb === 'stop') {
      const talk = this.#talks.get(askedFor(chat).session);
      if (talk?.work !== undefined) talk.cancel$.next({ mode: 'now' });
      return json({ stopped: talk !== undefined }, 200);
    }
    if (verb === 'stream') {
      const talk = this.#talks.get(askedFor(chat).session);
      return talk?.work === undefined || talk.ui === undefined ? new Response(null, { status: 204 }) : streamOf(talk);
    }
    const { id, messages } = await read(uiSchema);
    const asked = askedFor(id);
    const { messages: said, answers, message } = fromUiMessages(messages as unknown as readonly UiMessage[]);
    const chunks = new UiChunks(id, message);
    if (message !== undefined) {
      return this.#talk(asked, (options) => runner.resume(asked.session, answers, options), chunks);
    }
    const question = said.at(-1);
    if (question?.role !== 'user')
      throw new EngineError('BAD_REQUEST', 'The last message must be one of the user, or have answers.');
    // The session has what was said before.
    return this.#talk(asked, (options) => runner.run(question, { session: asked.session, ...options }), chunks);
  }

  #events({ request, session }: Asked): Response {
    const talk = this.#talks.get(session);
    if (talk === undefined) return new Response(null, { status: 204 });
    const given = request.headers.get('last-event-id') ?? new URL(request.url).searchParams.get('after') ?? '0';
    const after = Number(given);
    if (!Number.isSafeInteger(after) || after < 0)
      throw new EngineError('BAD_REQUEST', '"after" must be the number of an event.');
    return stream(talk.feed.read(after));
  }

  async #say(
    asked: Asked,
    { id = randomUUID(), ...input }: { readonly id?: string | undefined } & Omit<UserInput, 'id'>,
  ): Promise<Response> {
    const talk = this.#atWork(asked);
    const { seenInputIds } = await this.#options.runner.session(asked.session);
    if (seenInputIds.has(id)) return json({ id, status: 'known' }, 200);
    const outcome$ = talk.events$.pipe(
      filter((event) => (event.type === 'input-accepted' || event.type === 'input-dropped') && event.id === id),
    );
    const told = firstValueFrom(outcome$, { defaultValue: undefined });
    talk.input$.next({ ...input, id });
    const outcome = await told;
    if (outcome?.type === 'input-accepted') return json({ id, status: 'accepted' }, 202);
    if (outcome?.type === 'input-dropped') throw new EngineError('INPUT_OVERFLOW', outcome.reason);
    throw new EngineError(
      'SESSION_BUSY',
      `The turn of session "${asked.id}" ended before the input was stored: say it in a new turn.`,
    );
  }

  #atWork({ id, session }: Asked): Talk {
    const talk = this.#talks.get(session);
    if (talk?.work !== undefined) return talk;
    throw new EngineError('NOT_FOUND', `No turn of session "${id}" is at work here. Start one with turns.`);
  }
}

function decoded(raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    throw new EngineError('BAD_REQUEST', 'The id of the session is not encoded as URLs are.');
  }
}

/** A session as JSON; ids of inputs are many, and of no use to a page. */
function stateOf({ seenInputIds: _, ...state }: Awaited<ReturnType<Runner['session']>>): object {
  return state;
}

function json(body: object, status: number): Response {
  return Response.json(body, { status, headers: { 'cache-control': 'no-store' } });
}

/** Tells the page that began a conversation. */
function tellPage({ ui }: Talk, chunks: readonly UiMessageChunk[] = []): void {
  for (const chunk of chunks) ui?.feed.pushData(JSON.stringify(chunk));
}

/** The events of a conversation for the one who began it, from the first one on. */
function streamOf({ feed, ui }: Talk): Response {
  return ui === undefined
    ? stream(feed.read(0))
    : stream(ui.feed.read(0), { [UI_MESSAGE_HEADER[0]]: UI_MESSAGE_HEADER[1] });
}

function stream(events: ReadableStream<Uint8Array>, more: Readonly<Record<string, string>> = {}): Response {
  const headers = {
    ...more,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  };
  return new Response(events, { status: 200, headers });
}
