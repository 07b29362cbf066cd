/** One turn of a conversation: a question, or the answers to the forms that the run before stopped at. */
import { concatMap, from, Observable } from 'rxjs';
import type { RunEvent, RunUsage } from '../graph/events.js';
import { foldState } from '../graph/fold.js';
import type { RunHistory } from '../graph/fork.js';
import type { Plan, Variables } from '../graph/plan.js';
import { checkpointOf, run } from '../graph/run.js';
import type { RunOptions, RunOutcome, Start } from '../graph/run-options.js';
import { stateFromJson, stateToJson } from '../graph/snapshot.js';
import type { Checkpoint } from '../graph/state.js';
import type { Json, JsonObject } from '../json.js';
import { requireList, requireObject } from '../operators/invalid-option.js';
import type { Canvas } from './load-canvas.js';

/** What the user says. */
export interface Turn {
  readonly query?: Json;
  /** Values for Begin's fields, or answers to the waiting forms: `{field: {type, value}}`, plain values, or by component id. */
  readonly inputs?: JsonObject;
  /** Values for `sys.files`: texts and data URIs (see `readFiles`). */
  readonly files?: readonly Json[];
  readonly userId?: string;
  /** Variables set for this run, such as `{ "env.KEY": "x" }`. */
  readonly variables?: JsonObject;
}

/** A conversation between two turns, as JSON. */
export interface Session {
  readonly version: 1;
  /** What the last run left. */
  readonly variables: Variables;
  /** Where the last run waits for answers; absent when it ended. */
  readonly waiting?: Checkpoint;
}

/** Options of one turn, beside those of the engine. */
export interface TurnOptions extends RunOptions {
  /** The conversation so far. @default a new one */
  readonly session?: Session;
  /** Given the conversation after this turn, right before the last event. */
  readonly onSession?: (session: Session, outcome: RunOutcome) => void;
}

/**
 * Runs one turn. A session that waits is resumed when the turn carries answers (or a text for its form); any other turn
 * starts at Begin.
 *
 * @throws EngineError as `run`.
 */
export function runTurn(canvas: Canvas, turn: Turn, options: TurnOptions = {}): Observable<RunEvent> {
  requireObject('runTurn', 'canvas', canvas?.plan, 'what loadCanvas(…) gives');
  requireObject('runTurn', 'turn', turn, 'an object with "query" or "inputs"');
  requireObject('runTurn', 'options', options, 'an object');
  return runFrom(canvas, () => startOf(turn, options.session), options);
}

/** Runs a turn from a start, which is made anew for each subscription. @throws EngineError as `run`. */
export function runFrom(
  canvas: Canvas,
  start: () => Start,
  options: Omit<TurnOptions, 'session'> = {},
): Observable<RunEvent> {
  const { run: id = '', now = Date.now, onSession } = options;
  const whenEnded = (outcome: RunOutcome): void => {
    onSession?.(sessionAfter(outcome, id, now()), outcome);
    options.whenEnded?.(outcome);
  };
  return new Observable((subscriber) => run(canvas.plan, start(), { ...options, whenEnded }).subscribe(subscriber));
}

/** What the log of a run holds of its lost process. */
export interface LostRun {
  /** Tokens of models that were used until then. */
  readonly usage: RunUsage;
  /** Numbers of the events with which tokens started that had not ended. */
  readonly starts: ReadonlyMap<number, number>;
}

/**
 * Recovers a turn whose process was lost, from where its log ends; finished nodes are not run again.
 *
 * @throws EngineError as `run`.
 */
export function continueTurn(
  canvas: Canvas,
  history: RunHistory,
  { usage, starts }: LostRun,
  options: Omit<TurnOptions, 'session'> = {},
): Observable<RunEvent> {
  const start = (): Start => {
    const { state, ...checkpoint } = lastCheckpoint(canvas.plan, history);
    return { checkpoint: { ...checkpoint, state: { ...state, usage: { ...usage } } }, recovery: { starts } };
  };
  return runFrom(canvas, start, options);
}

/** @throws EngineError PLAN_CHANGED, CHECKPOINT_INVALID. */
function lastCheckpoint(plan: Plan, { checkpoint, events }: RunHistory): Checkpoint {
  // Another graph is refused by its hash; its events would only fail to fit.
  if (checkpoint.planHash !== plan.hash || events.length === 0) return checkpoint;
  const state = foldState(plan, stateFromJson(plan, checkpoint.state), events);
  // As it would be read from a store.
  return { ...checkpoint, state: JSON.parse(JSON.stringify(stateToJson(plan, state))) as JsonObject };
}

/** The conversation that an ended run leaves. */
export function sessionAfter(outcome: RunOutcome, runId: string, now: number): Session {
  requireObject('sessionAfter', 'outcome', outcome?.state, 'the outcome of a run');
  const { plan, state, status } = outcome;
  return {
    version: 1,
    variables: state.variables,
    ...(status === 'waiting' ? { waiting: checkpointOf(plan, state, runId, now, 0) } : {}),
  };
}

function startOf(turn: Turn, session: Session | undefined): Start {
  const input: Json = {
    query: turn.query ?? '',
    inputs: turn.inputs ?? {},
    files: turn.files ?? [],
    ...(turn.userId === undefined ? {} : { user_id: turn.userId }),
    ...(turn.variables === undefined ? {} : { variables: turn.variables }),
  };
  if (session?.waiting !== undefined) return { checkpoint: session.waiting, answers: input };
  return { input, ...(session === undefined ? {} : { variables: session.variables }) };
}

/** Runs several turns of one conversation after the other; for tests and examples. */
export function converse(canvas: Canvas, turns: readonly Turn[], options: TurnOptions = {}): Observable<RunEvent> {
  requireObject('converse', 'canvas', canvas?.plan, 'what loadCanvas(…) gives');
  requireList('converse', 'turns', turns, 'a list of turns');
  requireObject('converse', 'options', options, 'an object');
  let { session } = options;
  return from(turns).pipe(
    concatMap((turn) =>
      runTurn(canvas, turn, {
        ...options,
        ...(session === undefined ? {} : { session }),
        onSession: (next, outcome) => {
          session = next;
          options.onSession?.(next, outcome);
        },
      }),
    ),
  );
}
