/** Where a stored run stands: read from a checkpoint or a log, brought to this version of the graph, with its states changed. */
import { EngineError } from '../errors.js';
import type { RunEvent } from '../graph/events.js';
import { foldState, undisturbed } from '../graph/fold.js';
import { changesState, readEvent } from '../graph/log.js';
import { nameInPath, type Plan } from '../graph/plan.js';
import type { Recovery } from '../graph/run-options.js';
import { readCheckpoint, stateFromJson, stateToJson } from '../graph/snapshot.js';
import type { Checkpoint, FrameState, State } from '../graph/state.js';
import { StateCell, type StatePatch } from '../graph/state-cell.js';
import type { JsonObject } from '../json.js';
import type { StateToken } from './state.js';

/** A change of a state of the graph before it goes on. */
export interface StateEdit {
  readonly state: StateToken<unknown>;
  readonly patch: StatePatch;
  /** Path of the graph that owns it. @default the only one that has it, or the top */
  readonly at?: string | undefined;
}

/** Gives the value that a stored state has in this version; `path` is that of the graph that owns it, empty at the top. */
export type StateMigration = (name: string, value: unknown, path: string) => unknown;

/** What a log has of a run: its newest snapshot, and events, each as the log got it or as JSON text. */
export interface LoggedRun {
  readonly snapshot: Checkpoint | string;
  /** In order; those before the snapshot are passed over. */
  readonly events: Iterable<RunEvent | string>;
}

/** A stored run, ready to go on. */
export interface StoredRun {
  readonly checkpoint: Checkpoint;
  /** Of a run whose process was lost. */
  readonly lost?: Recovery;
}

/** @throws EngineError PLAN_CHANGED; CHECKPOINT_INVALID for something that is no checkpoint. */
export function readStored(
  plan: Plan,
  value: unknown,
  migrate: ((state: JsonObject, planHash: string) => JsonObject) | undefined,
): Checkpoint {
  const read = readCheckpoint(typeof value === 'string' ? parsed(value) : value);
  if (read.planHash === plan.hash) return read;
  if (migrate !== undefined) return { ...read, planHash: plan.hash, state: migrate(read.state, read.planHash) };
  const message = `The checkpoint of run "${read.run}" belongs to another version of the graph; resume it with the version it was started with, or give resumeFrom a "migrate" function.`;
  throw new EngineError('PLAN_CHANGED', message);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new EngineError('CHECKPOINT_INVALID', 'The checkpoint is not JSON.', { cause });
  }
}

/**
 * The state after the last event of a log. What an activation that had not ended changed in states is taken back: it runs again, and changes
 * them again.
 *
 * @throws EngineError PLAN_CHANGED, CHECKPOINT_INVALID.
 */
export function foldLog(plan: Plan, { snapshot, events }: LoggedRun): StoredRun {
  const checkpoint = readStored(plan, snapshot, undefined);
  const all: RunEvent[] = [];
  for (const event of events) all.push(typeof event === 'string' ? readEvent(event) : event);
  const later = undisturbed(all.filter(({ seq }) => seq > checkpoint.seq));
  const state = foldState(plan, stateFromJson(plan, checkpoint.state), withoutLoosePatches(later));
  const seq = Math.max(checkpoint.seq, all.at(-1)?.seq ?? 0);
  return { checkpoint: { ...checkpoint, seq, state: stateToJson(plan, state) }, lost: { seq, starts: startsOf(all) } };
}

function withoutLoosePatches(events: readonly RunEvent[]): readonly RunEvent[] {
  const chosen: RunEvent[] = [];
  /** Tokens that come to an end, keep something or open a body later. */
  const held = new Set<number>();
  for (let at = events.length - 1; at >= 0; at -= 1) {
    const event = events[at] as Extract<RunEvent, { token: number }>;
    if (event.type === 'node-patched' && !held.has(event.token)) continue;
    if (event.type !== 'node-usage' && event.type !== 'node-streaming' && changesState(event)) held.add(event.token);
    chosen.push(event);
  }
  return chosen.reverse();
}

function startsOf(events: readonly RunEvent[]): ReadonlyMap<number, number> {
  const starts = new Map<number, number>();
  for (const event of events) {
    if (event.type === 'node-started') starts.set(event.token, event.seq);
    else if (event.type === 'node-settled' || event.type === 'node-failed' || event.type === 'node-skipped')
      starts.delete(event.token);
  }
  return starts;
}

/**
 * A checkpoint with other states.
 *
 * @throws EngineError STATE_MISSING for an edit of a state that the run does not have where the edit says.
 */
export function withStates(
  plan: Plan,
  checkpoint: Checkpoint,
  edits: readonly StateEdit[],
  migrateState: StateMigration | undefined,
): Checkpoint {
  if (edits.length === 0 && migrateState === undefined) return checkpoint;
  const state = stateFromJson(plan, checkpoint.state);
  const migrated = migrateState === undefined ? state : changed(plan, state, migrateState);
  const edited = edits.reduce((before, edit) => withEdit(plan, before, edit), migrated);
  return { ...checkpoint, state: stateToJson(plan, edited) };
}

function withEdit(plan: Plan, state: State, { state: { name }, patch, at }: StateEdit): State {
  const places: string[] = [];
  changed(plan, state, (found, value, path) => {
    if (found === name) places.push(path);
    return value;
  });
  const [only = ''] = places;
  const place = at ?? (places.length === 1 ? only : '');
  if (!places.includes(place)) {
    const list = places.length === 0 ? 'it has none of that name' : `it has one at ${places.map(quoted).join(', ')}`;
    const message = `The state "${name}" cannot be edited at ${quoted(place)} of the run: ${list}; name the place in editState(…, { at }).`;
    throw new EngineError('STATE_MISSING', message);
  }
  return changed(plan, state, (found, value, path) => {
    if (found !== name || path !== place) return value;
    const cell = new StateCell(value);
    cell.change(patch);
    return cell.value;
  });
}

function quoted(path: string): string {
  return path === '' ? 'the top' : `"${path}"`;
}

/** Every state of a run through a function. */
function changed(plan: Plan, state: State, change: StateMigration): State {
  const frame = (given: FrameState, path: string): FrameState => ({
    ...given,
    tokens: given.tokens.map((token) => {
      const around = `${path === '' ? '' : `${path}/`}${nameInPath(plan, token.node)}`;
      const frames = token.frames?.map((inner) => frame(inner, `${around}${inner.key}`));
      return frames === undefined ? token : { ...token, frames };
    }),
    ...(given.typed && {
      typed: {
        ...given.typed,
        states: Object.fromEntries(
          Object.entries(given.typed.states).map(([name, value]) => [name, change(name, value, path)]),
        ),
      },
    }),
  });
  return { ...state, root: frame(state.root, '') };
}
