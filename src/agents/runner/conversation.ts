/** A session while it is worked on: turns one after the other, and inputs that arrive meanwhile. */
import { randomUUID } from 'node:crypto';
import { Observable, Subject, type Subscriber, Subscription, takeUntil } from 'rxjs';
import { type Resumption, recoverFrom, resumeFrom } from '../../compose/resume.js';
import { run as runStep } from '../../compose/run.js';
import type { StepRunOptions } from '../../compose/run-context.js';
import type { Step } from '../../compose/step.js';
import { EngineError } from '../../errors.js';
import { isTerminal, type RunEvent, type TerminalEvent } from '../../graph/events.js';
import { isJsonObject } from '../../json.js';
import type { ChatMessage } from '../../models/messages.js';
import { invalidOption } from '../../operators/invalid-option.js';
import { LIVE } from '../loop/live-control.js';
import type { SessionValues } from '../loop/session-values.js';
import type { SessionState, SessionTurn } from '../sessions/fold-session.js';
import type { SessionFact, UserInput } from '../sessions/session-store.js';
import { type CancelRequest, LiveInputs, type SafePointRequest } from './live-inputs.js';
import type { LiveStop, NextTurn } from './live-options.js';
import type { CancelMode, RunnerEvent, TurnEnded } from './runner-events.js';
import type { SessionWriter } from './session-writer.js';
import { wrongCancel, wrongStop } from './stop-checks.js';
import type { TurnResult, TurnStart } from './turn-graph.js';
import type { TurnLog, TurnLogs } from './turn-logs.js';
import { busy, changedValues, full, outcomeOf, refusedAnswer, requireLost } from './turn-outcome.js';

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
  /** Of the session, for every turn that begins. */
  readonly values: SessionValues;
  readonly input$: Observable<UserInput> | undefined;
  readonly cancel$: Observable<CancelRequest> | undefined;
  /** What makes it go on without an open turn until its inputs end, or it is stopped. @default it ends when nothing is left to do */
  readonly live:
    | { readonly nextTurn: NextTurn | undefined; readonly stop$: Observable<LiveStop> | undefined }
    | undefined;
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
  /** Stops the run. */
  readonly stop$: Subject<{ readonly mode: 'now' | 'after-step' }>;
  readonly delivered: SessionFact[];
  log: TurnLog | undefined;
  /** The turn as it was before it was resumed. */
  before: SessionTurn | undefined;
  mode: CancelMode;
  /** Emits when the run is to be given up; it may emit events before it is subscribed to. */
  readonly givenUp$: Subject<void>;
  end: TerminalEvent | undefined;
}

class Conversation {
  readonly #setup: ConversationSetup;
  readonly #subscriber: Subscriber<RunnerEvent>;
  #open: OpenTurn | undefined;
  /** Inputs, cancels and stops. */
  readonly #heardOf = new Subscription();
  #areInputsOver: boolean;
  /** Inputs that came before the session was read; undefined once it is. */
  #early: UserInput[] | undefined = [];
  /** A wish to stop that came before the turn began. */
  #wish: SafePointRequest | undefined;
  /** Whether what waits is left for another conversation. */
  #isLastTurn = false;
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
    this.#listen();
    this.#guarded(async () => {
      const state = await this.#setup.writer.load();
      if (this.#isStopped) return;
      if (opening.type !== 'resume' && state.open !== undefined) throw busy(this.#setup.session, state);
      const early = this.#early ?? [];
      this.#early = undefined;
      // Before the turn: a run may do all its work at once. Without a turn, what came together is there when one is picked.
      if (opening.type === 'none') await Promise.all(early.map((input) => this.#accept(input)));
      else for (const input of early) this.#guarded(() => this.#accept(input));
      if (opening.type === 'resume') await this.#resume(state, opening.answers);
      else if (opening.type === 'turn') await this.#start(opening.messages, []);
      if (this.#open === undefined) await this.#next();
    });
  }

  /** Its reader has gone. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#heardOf.unsubscribe();
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
    const { input$, cancel$, live } = this.#setup;
    const end = (): void => this.#stopLive({ mode: 'now' });
    this.#heardOf.add(
      live?.stop$?.subscribe({
        next: (stop) => this.#checked(wrongStop(stop), () => this.#stopLive(stop)),
        error: end,
      }),
    );
    this.#heardOf.add(
      cancel$?.subscribe({
        next: (request) => this.#checked(wrongCancel(request), () => this.#cancel(request)),
        error: () => this.#cancel({ mode: 'now' }),
      }),
    );
    this.#heardOf.add(
      input$?.subscribe({
        next: (input) => {
          if (this.#early === undefined) this.#guarded(() => this.#accept(input));
          else if (this.#early.length < this.#setup.maxWaiting) this.#early.push(input);
          else this.#told(input, 'dropped');
        },
        error: (error: unknown) => this.#fail(error),
        complete: () => {
          this.#areInputsOver = true;
          this.#endWhenIdle();
        },
      }),
    );
  }

  #checked(problem: EngineError | undefined, act: () => void): void {
    if (problem === undefined) act();
    else this.#fail(problem);
  }

  #stopLive({ mode, withinMs }: LiveStop): void {
    if (this.#isStopped) return;
    this.#areInputsOver = true;
    if (mode !== 'when-idle') this.#isLastTurn = true;
    const within = withinMs === undefined ? {} : { withinMs };
    if (mode === 'now') this.#cancel({ mode: 'now' });
    if (mode === 'at-safe-point') this.#cancel({ mode: 'any', ...within });
    this.#endWhenIdle();
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

  #cancel(request: SafePointRequest): void {
    if (this.#open !== undefined) this.#open.live.cancelAt(request);
    else if (this.#isBusy) this.#wish = request;
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
    const waiting = writer.state.waitingInputs.filter(isFor);
    if (waiting.length > 0 && this.#open === undefined && !this.#isLastTurn) {
      const inputs = pickedOf(waiting, this.#setup.live?.nextTurn);
      await this.#start(
        inputs.map(({ id, content }): ChatMessage => ({ role: 'user', content, id })),
        inputs,
      );
      return;
    }
    this.#isBusy = this.#open !== undefined;
    if (!this.#isBusy) this.#wish = undefined;
    this.#endWhenIdle();
  }

  async #start(messages: readonly ChatMessage[], inputs: readonly UserInput[]): Promise<void> {
    const { agent, session, writer, values } = this.#setup;
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
    this.#work(open, { messages: [...before.context, ...messages], values: { ...before.values, ...values } });
  }

  async #resume(state: SessionState, answers: Readonly<Record<string, unknown>>): Promise<void> {
    const { session, writer } = this.#setup;
    const { logs } = this.#setup;
    const last = state.turns.at(-1);
    const isLost = logs !== undefined && last?.status === 'running';
    if (last === undefined || (!isLost && last.checkpoint === undefined) || last.status === 'succeeded') {
      // A process that was lost between two turns left inputs for the next one.
      if (state.waitingInputs.length > 0 && Object.keys(answers).length === 0) return;
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
        open.stop$.next({ mode: mode === 'now' ? 'now' : 'after-step' });
      },
    });
    // What was not picked for this turn waits for another one.
    const isPicked = taken.length > 0 && this.#setup.live?.nextTurn !== undefined;
    for (const input of this.#setup.writer.state.waitingInputs) {
      if (!taken.includes(input)) live.add(isPicked ? { ...input, when: 'next-turn' } : input);
    }
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
    const wish = this.#wish;
    this.#wish = undefined;
    if (wish !== undefined && wish.mode !== 'now') this.#cancel(wish);
    const events$ = runStep(graph, { input }, given).pipe(takeUntil(open.givenUp$));
    events$.subscribe({
      next: (event) => this.#heard(open, event),
      error: (error: unknown) => this.#guarded(() => this.#ended(open, { error })),
      complete: () => this.#guarded(() => this.#ended(open, {})),
    });
    // A run that has not begun cannot be stopped.
    if (wish?.mode === 'now') this.#cancel(wish);
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
    open.live.close();
  }

  #endWhenIdle(): void {
    if (this.#isBusy || this.#storing > 0 || this.#open !== undefined) return;
    if (this.#setup.live === undefined || this.#areInputsOver) this.#finish();
  }

  #finish(): void {
    this.#isStopped = true;
    this.#heardOf.unsubscribe();
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

/** The inputs that open a turn. @throws EngineError OPTION_INVALID for inputs that do not wait, and for none */
function pickedOf(waiting: readonly UserInput[], nextTurn: NextTurn | undefined): readonly UserInput[] {
  if (nextTurn === undefined) return waiting;
  const picked: unknown = nextTurn(waiting);
  const isOf = Array.isArray(picked) && picked.length > 0 && picked.every((one) => waiting.includes(one));
  if (isOf && new Set(picked).size === picked.length) return picked;
  throw invalidOption('runner.live', 'nextTurn', 'a function that gives some of the inputs that wait', picked);
}
