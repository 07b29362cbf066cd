/** A session while it is worked on: turns one after the other, and inputs that arrive meanwhile. */
import { randomUUID } from 'node:crypto';
import { Observable, Subject, type Subscriber, type Subscription, takeUntil, timer } from 'rxjs';
import { type Resumption, resumeFrom } from '../../compose/resume.js';
import { run as runStep } from '../../compose/run.js';
import type { StepRunOptions } from '../../compose/run-context.js';
import type { Step } from '../../compose/step.js';
import { EngineError, toEngineError } from '../../errors.js';
import { infoOf, isTerminal, type RunEvent, type TerminalEvent } from '../../graph/events.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { ChatMessage } from '../../models/messages.js';
import { LIVE } from '../loop/live-control.js';
import type { SessionState } from '../sessions/fold-session.js';
import type { SessionFact, UserInput } from '../sessions/session-store.js';
import { type CancelRequest, LiveInputs } from './live-inputs.js';
import type { CancelMode, RunnerEvent, TurnEnded } from './runner-events.js';
import type { SessionWriter } from './session-writer.js';
import type { TurnResult, TurnStart } from './turn-graph.js';

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
    const { turn, delivered } = open;
    // There is no reader left to tell of a failure; the session then shows the turn as running.
    this.#setup.writer
      .append(() => [...delivered, { type: 'turn-ended', turn, status: 'cancelled', messages: [] }])
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
    if (this.#open === undefined) await this.#next();
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
    const { waitingInputs } = this.#setup.writer.state;
    const { agent, session, writer } = this.#setup;
    const lost = waitingInputs.filter(({ to }) => to !== undefined && to !== agent);
    if (lost.length > 0) {
      const reasonOf = ({ to }: UserInput): string => `No agent "${to}" was at work that could have it.`;
      await writer.append(() =>
        lost.map((input) => ({ type: 'input-dropped', id: input.id, reason: reasonOf(input) })),
      );
      for (const input of lost) this.#tell({ type: 'input-dropped', session, id: input.id, reason: reasonOf(input) });
    }
    const inputs = waitingInputs.filter((input) => !lost.includes(input));
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
    this.#work(open, { messages: [...before.messages, ...messages], values: before.values });
  }

  async #resume(state: SessionState, answers: Readonly<Record<string, unknown>>): Promise<void> {
    const { session, writer } = this.#setup;
    const last = state.turns.at(-1);
    if (last?.checkpoint === undefined || last.status === 'succeeded') {
      throw new EngineError(
        'NOT_FOUND',
        `Session "${session}" has no turn that waits or was stopped. Start one with run.`,
      );
    }
    const open = this.#opened(last.turn, randomUUID(), []);
    await writer.append(() => [{ type: 'turn-resumed', turn: last.turn, run: open.run }]);
    this.#tell({ type: 'turn-started', session, turn: last.turn, run: open.run });
    this.#work(open, resumeFrom(last.checkpoint, answers));
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
    const given = { ...options, run: open.run, services: { ...services, [LIVE]: open.live }, cancel$: open.stop$ };
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
    const outcome = outcomeOf(open, error);
    const messages = outcome.result?.end.messages ?? [];
    const ids = new Set(messages.flatMap(({ id }) => (id === undefined ? [] : [id])));
    await writer.append((state) => {
      const known = new Set(open.delivered.map((fact) => (fact as { readonly id: string }).id));
      // Of a turn that began in another process only its messages say what was delivered there.
      const earlier = state.waitingInputs.filter(({ id }) => ids.has(id) && !known.has(id));
      const values = changedValues(state, outcome.result?.values);
      return [
        ...open.delivered,
        ...earlier.map(
          ({ id }): SessionFact => ({ type: 'input-delivered', id, turn, round: 0, agent: this.#setup.agent }),
        ),
        {
          type: 'turn-ended',
          turn,
          status: outcome.status,
          messages,
          ...(values !== undefined && { values }),
          ...(outcome.mayGoOn && { checkpoint: run }),
        },
      ];
    });
    this.#open = undefined;
    this.#tell({ type: 'turn-ended', session, turn, run, ...outcome.told } as TurnEnded);
    if (outcome.status === 'succeeded') await this.#next();
    else this.#finish();
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

function busy(session: string, { open }: SessionState): EngineError {
  const what =
    open?.status === 'waiting'
      ? 'waits for answers: give them with resume, or roll it back'
      : 'is at work: say more with input$, or wait for its end';
  return new EngineError('SESSION_BUSY', `A turn of session "${session}" ${what}.`, { details: { session, ...open } });
}
