/** Agents in conversations: turns with a history, inputs while they work, stops at safe points. */
import { randomUUID } from 'node:crypto';
import { map, type Observable } from 'rxjs';
import type { StepRunOptions } from '../../compose/run-context.js';
import { EngineError } from '../../errors.js';
import type { CheckpointStore } from '../../graph/run-options.js';
import type { Checkpoint } from '../../graph/state.js';
import { Newest } from '../../newest.js';
import {
  hasMethods,
  invalidOption,
  receivedOf,
  requireCallable,
  requireMethods,
  requireObject,
  requireOptions,
  requireWhole,
} from '../../operators/invalid-option.js';
import { AGENT, type AnyAgent, isAgent } from '../loop/agent-end.js';
import { type AgentInput, messagesOf } from '../loop/agent-input.js';
import type { SessionValues } from '../loop/session-values.js';
import { loadSession, type SessionState } from '../sessions/fold-session.js';
import { memorySessions } from '../sessions/memory-sessions.js';
import type { SessionLog, UserInput } from '../sessions/session-store.js';
import { type ConversationSetup, conversation, type Opening } from './conversation.js';
import type { CancelRequest } from './live-inputs.js';
import type { LiveStop, NextTurn } from './live-options.js';
import type { RunnerEvent } from './runner-events.js';
import { SessionWriter } from './session-writer.js';
import { turnGraph } from './turn-graph.js';
import type { TurnLogs } from './turn-logs.js';

/** What a runner is made of. */
export interface RunnerOptions {
  readonly agent: AnyAgent;
  /** Where conversations are kept. @default memorySessions(), gone with the process */
  readonly sessions?: SessionLog;
  /** Where turns are kept that wait or were stopped. @default the newest 1,000, in memory */
  readonly checkpoints?: CheckpointStore;
  /**
   * Where turns are kept while they are at work, such as `fileTurnLogs`: when a process is lost, `resume` of another one goes on from the last step that
   * had ended. @default they are not, and a turn whose process was lost can be taken back alone
   */
  readonly logs?: TurnLogs;
  /** Handed to every step. @default nothing */
  readonly services?: object;
  /** Inputs of a session that may wait; more are dropped. @default 100 */
  readonly maxWaiting?: number;
}

/** An input without an id gets one; the same id counts once. */
export type SaidInput = Omit<UserInput, 'id'> & Partial<Pick<UserInput, 'id'>>;

/** What a turn may be given. */
export interface TurnOptions
  extends Pick<StepRunOptions, 'signal' | 'observe' | 'with' | 'timeoutMs' | 'maxSteps' | 'log' | 'values'> {
  /** Id of the conversation. @default a new one */
  readonly session?: string;
  /** What people say while the agent works: text, or an input. @default nothing */
  readonly input$?: Observable<string | SaidInput>;
  /** Values of the session that the turn begins with, over those that it has. They stay when the turn succeeds. @default none */
  readonly sessionValues?: SessionValues;
  /** Stops the turn; see `CancelRequest`. @default it is not stopped */
  readonly cancel$?: Observable<CancelRequest>;
}

/** What a long conversation may be given. */
export interface LiveOptions extends Omit<TurnOptions, 'input$'> {
  /** @default all that wait open it together */
  readonly nextTurn?: NextTurn;
  /** Ends the conversation; an error of it does at once. A later value counts as well. @default it ends with its inputs */
  readonly stop$?: Observable<LiveStop>;
}

/** Runs an agent in conversations. */
export interface Runner {
  /**
   * One turn, and those that inputs open behind it. Cold; unsubscribing stops at once. The last event is a `turn-ended`.
   *
   * Errors: SESSION_BUSY while another turn is at work or waits; INPUT_INVALID; those of the session's store. What fails in the agent is an
   * event.
   */
  run(input: AgentInput, options?: TurnOptions): Observable<RunnerEvent>;
  /**
   * Goes on with the turn of a session that waits for answers, was cancelled, or, with `logs`, whose process was lost; answers are by address. Without
   * such a turn it is that of inputs which still wait.
   *
   * Errors: NOT_FOUND without either; SESSION_BUSY while its process counts as alive; ANSWER_UNKNOWN, ANSWER_INVALID, and the
   * turn stands where it stood.
   */
  resume(
    session: string,
    answers?: Readonly<Record<string, unknown>>,
    options?: Omit<TurnOptions, 'session' | 'sessionValues'>,
  ): Observable<RunnerEvent>;
  /**
   * A long conversation: every input joins the turn at work, or opens one. Completes when the inputs have or `stop$` says so, and nothing is left to do;
   * also behind a turn that waits for answers, failed or was cancelled. What waits stays in the session.
   *
   * Errors: those of `run`; OPTION_INVALID when `nextTurn` gives what does not wait.
   */
  live(input$: Observable<string | SaidInput>, options?: LiveOptions): Observable<RunnerEvent>;
  /** History, values and turns of a session. */
  session(session: string): Promise<SessionState>;
  /**
   * Takes back the turns behind one; '' takes back all. A turn among them that is still at work, here or elsewhere, fails with SESSION_BUSY; one whose
   * process was lost is taken back so, too.
   *
   * @throws EngineError NOT_FOUND
   */
  rollback(session: string, turn: string): Promise<SessionState>;
}

/**
 * Makes a runner of an agent.
 *
 * ```ts
 * import { createScriptedModel } from 'runnel';
 * import { agent, createRunner } from 'runnel/agents';
 * import { lastValueFrom } from 'rxjs';
 *
 * const model = createScriptedModel({ rules: [{ when: { user: 'name' }, reply: 'You are Ada.' }], default: { reply: 'Hello.' } });
 * const runner = createRunner({ agent: agent({ name: 'guide', model }) });
 * await lastValueFrom(runner.run('I am Ada.', { session: 's1' }));
 * const end = await lastValueFrom(runner.run('What is my name?', { session: 's1' }));
 * if (end.type === 'turn-ended' && end.status === 'succeeded') console.log(end.text);
 * // => You are Ada.
 * console.log((await runner.session('s1')).messages.length);
 * // => 4
 * ```
 *
 * @throws EngineError OPTION_INVALID
 */
export function createRunner(options: RunnerOptions): Runner {
  const owner = 'createRunner';
  requireOptions(owner, options, ['agent', 'sessions', 'checkpoints', 'logs', 'services', 'maxWaiting']);
  const {
    agent,
    sessions = memorySessions(),
    checkpoints = memoryCheckpoints(),
    logs,
    services = {},
    maxWaiting = 100,
  } = options;
  if (!isAgent(agent)) throw invalidOption(owner, 'agent', 'what agent(…) or a team gives', agent);
  requireMethods(owner, 'sessions', sessions, ['append', 'read'], 'sessions, such as memorySessions() gives');
  requireMethods(owner, 'checkpoints', checkpoints, ['save', 'load'], 'a store of checkpoints');
  if (logs !== undefined)
    requireMethods(owner, 'logs', logs, ['open', 'heldFor', 'delete'], 'logs, such as fileTurnLogs gives');
  requireWhole(owner, 'maxWaiting', maxWaiting, 1);
  const graph = turnGraph(agent);
  const talk = (
    session: string,
    opening: Opening,
    given: TurnOptions,
    live?: ConversationSetup['live'],
  ): Observable<RunnerEvent> => {
    const { input$, cancel$, sessionValues = {}, session: _, ...more } = given;
    requireObject('The options of a runner', 'sessionValues', sessionValues, 'an object of values by name');
    if (logs !== undefined && more.log !== undefined) {
      throw invalidOption('A runner with "logs"', 'log', 'absent: it writes its own', more.log);
    }
    return conversation(
      {
        agent: agent.name,
        speakers: agent[AGENT].speakers,
        graph,
        session,
        writer: new SessionWriter(sessions, session),
        options: { ...more, checkpoints, services },
        logs,
        maxWaiting,
        values: sessionValues,
        input$: input$?.pipe(map(inputOf)),
        cancel$,
        live,
      },
      opening,
    );
  };
  return Object.freeze<Runner>({
    run: (input, given = {}) => {
      requireTurn('run', given, [...TURN, 'sessionValues']);
      const messages = messagesOf(input, agent.name);
      return talk(given.session ?? randomUUID(), { type: 'turn', messages }, given);
    },
    resume: (session, answers = {}, given = {}) => {
      requireTurn('resume', given, TURN);
      return talk(session, { type: 'resume', answers }, given);
    },
    live: (input$, given = {}) => {
      requireTurn('live', given, [...TURN, 'sessionValues', 'nextTurn', 'stop$']);
      const { nextTurn, stop$, ...more } = given;
      requireCallable('runner.live', 'nextTurn', nextTurn);
      if (!hasMethods(input$, ['subscribe'])) throw invalidOption('runner.live', 'input$', 'an Observable', input$);
      return talk(given.session ?? randomUUID(), { type: 'none' }, { ...more, input$ }, { nextTurn, stop$ });
    },
    session: (session) => loadSession(sessions, session),
    rollback: (session, turn) => rolledBack(sessions, logs, session, turn),
  });
}

const TURN = ['session', 'input$', 'cancel$', 'signal', 'observe', 'with', 'timeoutMs', 'maxSteps', 'log', 'values'];

function requireTurn(verb: string, given: TurnOptions, names: readonly string[]): void {
  const owner = `runner.${verb}`;
  requireOptions(owner, given, names);
  for (const name of ['input$', 'cancel$', 'stop$'] as const) {
    const value = (given as LiveOptions & TurnOptions)[name];
    if (value !== undefined && !hasMethods(value, ['subscribe'])) {
      throw invalidOption(owner, name, 'an Observable', value);
    }
  }
}

/** @throws EngineError INPUT_INVALID */
function inputOf(given: string | SaidInput): UserInput {
  if (typeof given === 'string') return { id: randomUUID(), content: given };
  const { when = 'safe-point', content } = (given ?? {}) as Partial<UserInput>;
  const problem =
    typeof content !== 'string' && !Array.isArray(content)
      ? receivedOf(given)
      : WHEN.has(when)
        ? undefined
        : `one with "when": ${receivedOf(when)}`;
  if (problem === undefined) return { ...given, id: given.id ?? randomUUID() };
  const kinds = [...WHEN].map((one) => `"${one}"`).join(', ');
  throw new EngineError(
    'INPUT_INVALID',
    `An input of "input$" must be text, or { content, id?, when?, to? } with a "when" of ${kinds}; received ${problem}.`,
  );
}

const WHEN: ReadonlySet<string> = new Set(['safe-point', 'next-turn', 'preempt', 'now'] satisfies UserInput['when'][]);

/** Turns that wait, as long as the process lives. */
function memoryCheckpoints(): CheckpointStore {
  const newest = new Newest<Checkpoint>({ maxCount: MAX_CHECKPOINTS });
  return {
    save: (checkpoint) => newest.put(checkpoint.run, checkpoint),
    load: async (run) => newest.get(run),
    delete: async (run) => {
      newest.delete(run);
    },
  };
}

const MAX_CHECKPOINTS = 1_000;

async function rolledBack(
  sessions: SessionLog,
  logs: TurnLogs | undefined,
  session: string,
  turn: string,
): Promise<SessionState> {
  const writer = new SessionWriter(sessions, session);
  const state = await writer.load();
  if (turn !== '' && !state.turns.some((one) => one.turn === turn)) {
    throw new EngineError('NOT_FOUND', `Session "${session}" has no turn "${turn}" to go back to.`);
  }
  const after = await writer.append(() => [{ type: 'rolled-back', turn }]);
  const kept = new Set(after.turns.map((one) => one.turn));
  for (const one of state.turns) if (!kept.has(one.turn)) await logs?.delete(session, one.turn);
  return after;
}
