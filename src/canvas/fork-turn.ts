import { type ForkChange, waitingNodes, withChange } from '../graph/fork.js';
import type { Plan, Variables } from '../graph/plan.js';
import type { Start } from '../graph/run-options.js';
import { stateFromJson } from '../graph/snapshot.js';
import type { Checkpoint } from '../graph/state.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { readTurnInput } from './conversation.js';
import type { Turn } from './turn.js';

/**
 * How a turn continues from a checkpoint (see `forkAt`).
 *
 * `inputs` answer the forms that wait there, if any do; otherwise they are what Begin is given, and stand in for what it was given
 * when it has run. A query, files and variables are those of the whole turn from then on.
 *
 * @throws EngineError as `withChange`.
 */
export function forkStart(plan: Plan, checkpoint: Checkpoint, turn: Turn): Start {
  const { query = '', inputs = {}, files = [], userId, variables = {} } = turn;
  const hasInputs = Object.keys(inputs).length > 0;
  const answersForms = hasInputs && waitingNodes(plan, checkpoint).length > 0;
  const before = readTurnInput(checkpoint.input ?? {});
  const state = stateFromJson(plan, checkpoint.state);
  const change: ForkChange = {
    input: {
      ...before,
      ...(query === '' ? {} : { query }),
      inputs: answersForms ? before.inputs : { ...before.inputs, ...inputs },
      ...(files.length === 0 ? {} : { files }),
      ...(userId === undefined ? {} : { user_id: userId }),
      variables: { ...before.variables, ...variables },
    },
    variables: {
      ...(query === '' ? {} : askedInstead(state.variables, query)),
      ...(files.length === 0 ? {} : { 'sys.files': files }),
      ...(userId === undefined ? {} : { 'sys.user_id': userId }),
      ...variables,
    },
    outputs: answersForms ? {} : entryOutputs(plan, state.cells, inputs),
  };
  const changed = withChange(plan, checkpoint, change);
  if (!answersForms) return { checkpoint: changed, recovery: { starts: new Map() } };
  return { checkpoint: changed, answers: { query: '', inputs, files: [] } };
}

/** The question of this turn, in the history too, where it is the last one of the user. */
function askedInstead(variables: Variables, query: Json): Variables {
  const { history, 'sys.history': lines } = variables;
  const isQuestion = (entry: Json) => Array.isArray(entry) && entry[0] === 'user';
  const isLine = (entry: Json) => typeof entry === 'string' && entry.startsWith('user: ');
  const text = typeof query === 'string' ? query : JSON.stringify(query);
  return {
    'sys.query': query,
    ...(Array.isArray(history) ? { history: withLast(history as readonly Json[], isQuestion, ['user', query]) } : {}),
    ...(Array.isArray(lines) ? { 'sys.history': withLast(lines as readonly Json[], isLine, `user: ${text}`) } : {}),
  };
}

function withLast(list: readonly Json[], fits: (entry: Json) => boolean, replacement: Json): Json[] {
  const at = list.findLastIndex(fits);
  return at < 0 ? [...list] : list.with(at, replacement);
}

/** What entry nodes that have run would have given. */
function entryOutputs(
  plan: Plan,
  cells: { get(index: number): JsonObject | undefined },
  inputs: JsonObject,
): NonNullable<ForkChange['outputs']> {
  const changed: Record<string, JsonObject> = {};
  for (const entry of plan.scopes[0]?.entries ?? []) {
    const outputs = cells.get(entry);
    if (outputs === undefined) continue;
    const known = Object.entries(inputs).filter(([name]) => Object.hasOwn(outputs, name));
    if (known.length === 0) continue;
    const id = plan.nodes[entry]?.id ?? '';
    changed[id] = Object.fromEntries(known.map(([name, given]) => [name, plainValue(given)]));
  }
  return changed;
}

/** A field is given as `{type, value}` or as the value itself. */
function plainValue(given: Json): Json {
  return isJsonObject(given) && Object.hasOwn(given, 'value') ? (given.value ?? null) : given;
}
