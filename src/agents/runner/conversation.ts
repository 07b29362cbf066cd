/** A session while it is worked on: turns one after the other, and inputs that arrive meanwhile. */
import { randomUUID } from 'node:crypto';
import { Observable, Subject, type Subscriber, type Subscription, takeUntil, timer } from 'rxjs';
import { type Resumption, recoverFrom, resumeFrom } from '../../compose/resume.js';
import { run as runStep } from '../../compose/run.js';
import type { StepRunOptions } from '../../compose/run-context.js';
import type { Step } from '../../compose/step.js';
import { EngineError, toEngineError } from '../../errors.js';
import { infoOf, isTerminal, type RunEvent, type TerminalEvent } from '../../graph/events.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { ChatMessage } from '../../models/messages.js';
import { LIVE } from '../loop/live-control.js';
import type { SessionState, SessionTurn } from '../sessions/fold-session.js';
import type { SessionFact, UserInput } from '../sessions/session-store.js';
import { type CancelRequest, LiveInputs } from './live-inputs.js';
import type { CancelMode, RunnerEvent, TurnEnded } from './runner-events.js';
import type { SessionWriter } from './session-writer.js';
import type { TurnResult, TurnStart } from './turn-graph.js';
import type { TurnLog, TurnLogs } from './turn-logs.js';

/** What a conversation is made of. */
export interface ConversationSetup {
  /** Name of the agent of the session. */
  readonly agent: string;
  /** Paths of the agents that hear inputs. */
  readonly speakers: readonly string[];
  readonly graph: Step<TurnStart, TurnResult>;
  readonly session: string;
  readonly writer: SessionWriter;
  readonly options: StepRunOptions;
  /** Where turns are kept while they are at work. @default they are not, and are lost with their process */
  readonly logs: TurnLogs | undefined;
  /** Inputs that may wait. */
  readonly maxWaiting: number;
  readonly input$: Observable<UserInput> | undefined;
  readonly cancel$: Observable<CancelRequest> | undefined;
  /** Whether it goes on without an open turn until its inputs end. */
  readonly isLive: boolean;
}

/** How a conversation begins. */
export type Opening =
  | { readonly type: 'turn'; readonly messages: readonly ChatMessage[] }
  | { readonly type: 'resume'; readonly answers: Readonly<Record<string, unknown>> }
  | { readonly type: 'none' };

/**
 * Works on a session until nothing is left to do.
 *
 * ```text
 * input$     ------x----------y|
 * turns      T--…--(x)--…--E
 * result     T--…--Ax-D-…--E--Ay-T--…--E|     (T, E: a turn begins and ends; A: accepted; D: delivered at a safe point)
 * ```
 *
 * Inputs are stored before they are told of. What has not joined a turn when it ends opens the next one. Unsubscribing stops at once; the turn
 * then is cancelled in the session.
 */
export function conversation(setup: ConversationSetup, opening: Opening): Observable<RunnerEvent> {
  return new Observable((subscriber) => {
    const talk = new Conversation(setup, subscriber);
    talk.begin(opening);
    return () => talk.stop();
  });
}

/** A turn under way. */
interface OpenTurn {
  readonly turn: string;
  readonly run: string;
  readonly live: LiveInputs;
  /** Stops the run; takes one value. */
  readonly stop$: Subject<{ readonly mode: 'now' | 'after-step'; readonly withinMs?: number }>;
  readonly delivered: SessionFact[];
  log: TurnLog | undefined;
  /** The turn as it was before it was resumed. */
  before: SessionTurn | undefined;
  mode: CancelMode;
  /** Emits when the run is to be given up; it may emit events before it is subscribed to. */
  readonly givenUp$: Subject<void>;
  expiry: Subscription | undefined;
  end: TerminalEvent | undefined;
}

class Conversation {
  readonly #setup: ConversationSetup;
  readonly #subscriber: Subscriber<RunnerEvent>;
  #open: OpenTurn | undefined;
  #inputs: Subscription | undefined;
  #cancels: Subscription | undefined;
  #areInputsOver: boolean;
  /** Inputs that are being stored. */
  #storing = 0;
  #isBusy = true;
  #isStopped = false;

  constructor(setup: ConversationSetup, subscriber: Subscriber<RunnerEvent>) {
    this.#setup = setup;
    this.#subscriber = subscriber;
    this.#areInputsOver = setup.input$ === undefined;
  }

  begin(opening: Opening): void {
    this.#guarded(async () => {
      const state = await this.#setup.writer.load();
      if (this.#isStopped) return;
      if (opening.type !== 'resume' && state.open !== undefined) throw busy(this.#setup.session, state);
      // Before the turn: a run may do all its work at once.
      this.#listen();
      if (opening.type === 'resume') await this.#resume(state, opening.answers);
      else if (opening.type === 'turn') await this.#start(opening.messages, []);
      if (this.#open === undefined) await this.#next();
    });
  }

  /** Its reader has gone. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#inputs?.unsubscribe();
    this.#cancels?.unsubscribe();
    const open = this.#open;
    if (open === undefined) return;
    this.#close(open);
    const { turn, delivered, log } = open;
    // There is no reader left to tell of a failure; the session then shows the turn as running.
    this.#setup.writer
      .append(() => [...delivered, { type: 'turn-ended', turn, status: 'cancelled', messages: [] }])
      .then(() => this.#forget(turn))
      .catch(() => undefined)
      .then(() => log?.close())
      .catch(() => undefined);
  }

  #listen(): void {
    const { input$, cancel$ } = this.#setup;
    this.#cancels = cancel$?.subscribe({
      next: (request) => this.#cancel(request),
      error: () => this.#cancel({ mode: 'now' }),
    });
    this.#inputs = input$?.subscribe({
      next: (input) => this.#guarded(() => this.#accept(input)),
      error: (error: unknown) => this.#fail(error),
      complete: () => {
        this.#areInputsOver = true;
        this.#endWhenIdle();
      },
    });
  }

  async #accept(input: UserInput): Promise<void> {
    const { writer, maxWaiting } = this.#setup;
    const { id } = input;
    this.#storing += 1;
    let outcome: 'known' | 'accepted' | 'dropped' = 'known';
    try {
      await writer.append((state) => {
        if (state.seenInputIds.has(id)) return [];
        const accepted: SessionFact = { type: 'input-accepted', input };
        outcome = state.waitingInputs.length < maxWaiting ? 'accepted' : 'dropped';
        if (outcome === 'accepted') return [accepted];
        return [accepted, { type: 'input-dropped', id, reason: full(maxWaiting) }];
      });
    } finally {
      this.#storing -= 1;
    }
    this.#told(input, outcome);
    // While a turn is about to begin or has just ended, what comes next is decided there.
    if (!this.#isBusy) await this.#next();
  }

  /** An id that is known is no news. */
  #told(input: UserInput, outcome: 'known' | 'accepted' | 'dropped'): void {
    const { session, maxWaiting } = this.#setup;
    const { id } = input;
    if (outcome === 'dropped') this.#tell({ type: 'input-dropped', session, id, reason: full(maxWaiting) });
    if (outcome !== 'accepted') return;
    // Before it is told: what is told may bring the agent to its next safe point.
    this.#open?.live.add(input);
    this.#tell({ type: 'input-accepted', session, id });
    this.#open?.live.interrupt(input);
  }

  #cancel(request: CancelRequest): void {
    const open = this.#open;
    if (open === undefined) return;
    const now = (): void => {
      open.mode = 'now';
      open.stop$.next({ mode: 'now' });
    };
    if (request.mode === 'now') {
      now();
      return;
    }
    open.live.cancelAt(request);
    open.expiry?.unsubscribe();
    if (request.withinMs !== undefined) open.expiry = timer(request.withinMs).subscribe(now);
  }

  /** Begins the turn that what waits asks for, or ends. */
  async #next(): Promise<void> {
    const { agent, session, writer } = this.#setup;
    this.#isBusy = true;
    const isFor = ({ to }: UserInput): boolean => to === undefined || to === agent;
    const lost = writer.state.waitingInputs.filter((input) => !isFor(input));
    if (lost.length > 0) {
      const reasonOf = ({ to }: UserInput): string => `No agent "${to}" was at work that could have it.`;
      await writer.append(() =>
        lost.map((input) => ({ type: 'input-dropped', id: input.id, reason: reasonOf(input) })),
      );
      for (const input of lost) this.#tell({ type: 'input-dropped', session, id: input.id, reason: reasonOf(input) });
    }
    // Read behind the append: inputs may have come meanwhile.
    const inputs = writer.state.waitingInputs.filter(isFor);
    if (inputs.length > 0 && this.#open === undefined) {
      await this.#start(
        inputs.map(({ id, content }): ChatMessage => ({ role: 'user', content, id })),
        inputs,
      );
      return;
    }
    this.#isBusy = this.#open !== undefined;
    this.#endWhenIdle();
  }

  async #start(messages: readonly ChatMessage[], inputs: readonly UserInput[]): Promise<void> {
    const { agent, session, writer } = this.#setup;
    const turn = randomUUID();
    const run = randomUUID();
    const before = writer.state;
    this.#isBusy = true;
    const open = this.#opened(turn, run, inputs);
    await writer.append(() => [
      ...inputs.map(({ id }): SessionFact => ({ type: 'input-delivered', id, turn, round: 0, agent })),
      { type: 'turn-started', turn, run, input: messages },
    ]);
    this.#tell({ type: 'turn-started', session, turn, run });
    for (const { id } of inputs) this.#tell({ type: 'input-delivered', session, id, turn, round: 0, agent });
    const last = before.turns.at(-1);
    // Nothing goes on with the turn before any more.
    if (last?.checkpoint !== undefined) await this.#forget(last.turn);
    const { logs } = this.#setup;
    if (logs !== undefined) open.log = (await logs.open(session, turn)).log;
    this.#work(open, { messages: [...before.context, ...messages], values: before.values });
  }

  async #resume(state: SessionState, answers: Readonly<Record<string, unknown>>): Promise<void> {
    const { session, writer } = this.#setup;
    const { logs } = this.#setup;
    const last = state.turns.at(-1);
    const isLost = logs !== undefined && last?.status === 'running';
    if (last === undefined || (!isLost && last.checkpoint === undefined) || last.status === 'succeeded') {
      throw new EngineError(
        'NOT_FOUND',
        `Session "${session}" has no turn that waits or was stopped. Start one with run.`,
      );
    }
    const { turn, run, checkpoint } = last;
    if (isLost) requireLost(session, turn, await logs.heldFor(session, turn));
    // Of several that go on with a turn, one is first in the session; it takes the log.
    const open = this.#opened(turn, logs === undefined ? randomUUID() : run, []);
    open.before = last;
    await writer.append(() => [{ type: 'turn-resumed', turn, run: open.run }]);
    const opened = await logs?.open(session, turn);
    open.log = opened?.log;
    this.#tell({ type: 'turn-started', session, turn, run: open.run });
    if (opened?.stored !== undefined) this.#work(open, recoverFrom(opened.stored, answers));
    else if (checkpoint !== undefined) this.#work(open, resumeFrom(checkpoint, answers));
    else this.#work(open, { messages: state.context, values: state.values });
  }

  /** @param taken inputs that the turn begins with */
  #opened(turn: string, run: string, taken: readonly UserInput[]): OpenTurn {
    const { speakers, session } = this.#setup;
    const delivered: SessionFact[] = [];
    const live = new LiveInputs(speakers, {
      delivered: ({ id }, { path }, round) => {
        delivered.push({ type: 'input-delivered', id, turn, round, agent: path });
        this.#tell({ type: 'input-delivered', session, id, turn, round, agent: path });
      },
      stopped: (mode) => {
        open.mode = mode;
        open.stop$.next({ mode: 'after-step' });
      },
    });
    for (const input of this.#setup.writer.state.waitingInputs) if (!taken.includes(input)) live.add(input);
    const open: OpenTurn = {
      turn,
      run,
      live,
      stop$: new Subject(),
      delivered,
      log: undefined,
      before: undefined,
      mode: 'now',
      givenUp$: new Subject(),
      expiry: undefined,
      end: undefined,
    };
    this.#open = open;
    return open;
  }

  #work(open: OpenTurn, input: TurnStart | Resumption): void {
    if (this.#isStopped) return;
    const { graph, options } = this.#setup;
    const services = isJsonObject(options.services) ? options.services : {};
    const { log } = open;
    const given: StepRunOptions = {
      ...options,
      run: open.run,
      services: { ...services, [LIVE]: open.live },
      cancel$: open.stop$,
      ...(log !== undefined && { log, durability: 'sync' }),
    };
    const events$ = runStep(graph, { input }, given).pipe(takeUntil(open.givenUp$));
    events$.subscribe({
      next: (event) => this.#heard(open, event),
      error: (error: unknown) => this.#guarded(() => this.#ended(open, { error })),
      complete: () => this.#guarded(() => this.#ended(open, {})),
    });
  }

  #heard(open: OpenTurn, event: RunEvent): void {
    if (isTerminal(event)) open.end = event;
    this.#tell(event);
  }

  async #ended(open: OpenTurn, { error }: { readonly error?: unknown }): Promise<void> {
    if (this.#isStopped) return;
    this.#close(open);
    const { turn, run } = open;
    const { session, writer } = this.#setup;
    const refused = refusedAnswer(open, error);
    if (refused !== undefined) {
      await this.#waitOn(open);
      throw refused;
    }
    const outcome = outcomeOf(open, error);
    const { end, heard = [] } = outcome.result ?? {};
    const messages = end?.messages ?? [];
    await writer.append((state) => {
      const known = new Set(open.delivered.map((fact) => (fact as { readonly id: string }).id));
      // Of a turn that began in another process, its state says what was delivered there.
      const waiting = new Set(state.waitingInputs.map(({ id }) => id));
      const earlier = heard.filter(({ id }) => waiting.has(id) && !known.has(id));
      const values = changedValues(state, outcome.result?.values);
      return [
        ...open.delivered,
        ...earlier.map((input): SessionFact => ({ type: 'input-delivered', turn, ...input })),
        {
          type: 'turn-ended',
          turn,
          status: outcome.status,
          messages,
          ...(end?.context !== undefined && { context: end.context }),
          ...(values !== undefined && { values }),
          ...(outcome.mayGoOn && { checkpoint: run }),
        },
      ];
    });
    await open.log?.close();
    if (!outcome.mayGoOn) await this.#forget(turn);
    this.#open = undefined;
    this.#tell({ type: 'turn-ended', session, turn, run, ...outcome.told } as TurnEnded);
    if (outcome.status === 'succeeded') await this.#next();
    else this.#finish();
  }

  /** An answer was refused before anything was done with it: the turn stands where it stood. */
  async #waitOn({ turn, run, before, log }: OpenTurn): Promise<void> {
    const { status, messages = [], checkpoint = run } = before ?? {};
    const stands = status === 'waiting' ? 'waiting' : 'cancelled';
    await this.#setup.writer.append(() => [{ type: 'turn-ended', turn, status: stands, messages, checkpoint }]);
    this.#open = undefined;
    await log?.close();
  }

  /** Deletes the log of a turn that nothing goes on with. */
  async #forget(turn: string): Promise<void> {
    await this.#setup.logs?.delete(this.#setup.session, turn);
  }

  #close(open: OpenTurn): void {
    open.givenUp$.next();
    open.expiry?.unsubscribe();
  }

  #endWhenIdle(): void {
    const { isLive } = this.#setup;
    if (this.#isBusy || this.#storing > 0 || this.#open !== undefined) return;
    if (!isLive || this.#areInputsOver) this.#finish();
  }

  #finish(): void {
    this.#isStopped = true;
    this.#inputs?.unsubscribe();
    this.#cancels?.unsubscribe();
    this.#subscriber.complete();
  }

  #tell(event: RunnerEvent): void {
    if (!this.#isStopped) this.#subscriber.next(event);
  }

  #guarded(work: () => Promise<void>): void {
    work().catch((error: unknown) => this.#fail(error));
  }

  #fail(error: unknown): void {
    if (this.#isStopped) return;
    this.stop();
    this.#subscriber.error(error);
  }
}

/** What was wrong with the answers that a turn was resumed with. */
function refusedAnswer({ before, end }: OpenTurn, error: unknown): EngineError | undefined {
  if (before === undefined || end !== undefined || !EngineError.is(error)) return undefined;
  return error.code === 'ANSWER_UNKNOWN' || error.code === 'ANSWER_INVALID' ? error : undefined;
}

/** How a turn ended, for the session and for its reader. */
interface TurnOutcome {
  readonly status: TurnEnded['status'];
  readonly told: object;
  readonly result?: TurnResult;
  /** Whether its checkpoint is of use. */
  readonly mayGoOn: boolean;
}

function outcomeOf({ end, mode }: OpenTurn, error: unknown): TurnOutcome {
  const failed = (told: unknown): TurnOutcome => {
    const info = infoOf(toEngineError(told, 'INTERNAL'));
    return { status: 'failed', told: { status: 'failed', error: info }, mayGoOn: false };
  };
  switch (end?.type) {
    case 'run-settled': {
      const result = end.value as TurnResult;
      const { end: ended } = result;
      if (ended.type !== 'answered')
        return failed(new EngineError('NODE_PROTOCOL', `The agent ended without an answer (${ended.type}).`));
      const { text, value, reason } = ended;
      return { status: 'succeeded', told: { status: 'succeeded', text, value, reason }, result, mayGoOn: false };
    }
    case 'run-interrupted':
      return { status: 'waiting', told: { status: 'waiting', questions: end.questions ?? [] }, mayGoOn: true };
    case 'run-cancelled':
      return { status: 'cancelled', told: { status: 'cancelled', mode }, mayGoOn: true };
    case 'run-failed':
      return { status: 'failed', told: { status: 'failed', error: end.error }, mayGoOn: false };
    case undefined:
      return failed(error ?? new EngineError('INTERNAL', 'The run ended without a last event.'));
  }
}

function changedValues(
  { values: before }: SessionState,
  values: TurnResult['values'] | undefined,
): JsonObject | undefined {
  const changed = Object.entries(values ?? {}).filter(([name, value]) => before[name] !== value);
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

function full(maxWaiting: number): string {
  return `${maxWaiting} inputs wait already.`;
}

/** @throws EngineError SESSION_BUSY while the process of a turn counts as alive */
function requireLost(session: string, turn: string, heldFor: number): void {
  if (heldFor <= 0) return;
  const until = Number.isFinite(heldFor) ? ` It may be taken over in ${heldFor} ms unless it tells of itself.` : '';
  throw new EngineError('SESSION_BUSY', `Turn "${turn}" of session "${session}" is at work.${until}`, {
    details: { session, turn },
  });
}

function busy(session: string, { open }: SessionState): EngineError {
  const what =
    open?.status === 'waiting'
      ? 'waits for answers: give them with resume, or roll it back'
      : 'is at work: say more with input$, or wait for its end; when its process was lost, go on with resume, or roll it back';
  return new EngineError('SESSION_BUSY', `A turn of session "${session}" ${what}.`, { details: { session, ...open } });
}
