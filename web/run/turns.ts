/** Turns of a conversation, from what the server keeps of them. */
import type { Json, JsonObject } from '../../src/json.js';
import type { RunStore } from './run-store.js';
import type { SessionDetail } from './session.js';
import type { RunItem } from './start-turn.js';

/** One turn: what the user said, and what came of it. */
export interface Turn {
  /** Unique in its conversation. */
  readonly key: string;
  /** Empty when a form was answered. */
  readonly query: string;
  readonly files: readonly JsonObject[];
  /** The answer as the conversation keeps it; undefined where there is none. */
  readonly answer?: string;
  /** What the answer cites. */
  readonly reference?: Json;
  /** Id of its run, where that is known. */
  readonly run?: string;
  /** The run that it goes on with, when that is one of the same conversation. */
  readonly parent?: string;
  /** It was begun on this page, rather than read. */
  readonly isNew?: true;
  /** Its run was at work when it was looked up. */
  readonly isAtWork?: boolean;
  /** Its run, once it is followed. */
  readonly store?: RunStore;
}

/** Turns of a conversation in their order. What the agent said of itself before the first question is none. */
export function turnsOf({ message, reference }: SessionDetail, runs: readonly RunItem[]): readonly Turn[] {
  const byMessage = new Map(runs.map((run) => [run.message_id, run]));
  // What the agent said of itself answers no question, and cites nothing.
  const asked = new Set(message.flatMap(({ role, id }) => (role === 'user' && id !== undefined ? [id] : [])));
  const answers = message.filter(({ role, id }) => role === 'assistant' && asked.has(id ?? ''));
  const firstCited = answers.length - reference.length;
  const turns = new Map<string, Turn>();
  for (const { role, content, id = '', files = [] } of message) {
    if (role === 'user') turns.set(id, { key: id, query: content, files, ...runFields(byMessage.get(id)) });
    const turn = role === 'assistant' ? turns.get(id) : undefined;
    if (turn === undefined) continue;
    const cited = reference[answers.findIndex((answer) => answer.id === id) - firstCited];
    turns.set(id, { ...turn, answer: content, ...(cited !== undefined && { reference: cited }) });
  }
  return [...turns.values(), ...unsaidTurns(runs, turns)];
}

/** Runs that the conversation does not know yet, such as one that just began. */
function unsaidTurns(runs: readonly RunItem[], turns: ReadonlyMap<string, Turn>): readonly Turn[] {
  return runs
    .filter(({ message_id }) => !turns.has(message_id))
    .toSorted((a, b) => a.started_at - b.started_at)
    .map((run) => ({ key: run.message_id, query: '', files: [], ...runFields(run) }));
}

function runFields(run: RunItem | undefined): Partial<Turn> {
  if (run === undefined) return {};
  const { id, parent_run_id: parent, forked_at: forkedAt, status } = run;
  return {
    run: id,
    ...(parent !== null && forkedAt === null && { parent }),
    ...(status === 'running' && { isAtWork: true }),
  };
}

/** Runs that a run goes on with, of which the canvas shows what they did. */
const MAX_PARENTS = 20;

/** The turn of a run behind those that it goes on with. */
export function chainOf(turns: readonly Turn[], run: string): readonly Turn[] {
  const chain: Turn[] = [];
  let wanted: string | undefined = run;
  while (wanted !== undefined && chain.length < MAX_PARENTS) {
    const id: string = wanted;
    const turn = turns.find((one) => one.run === id);
    if (turn === undefined || chain.includes(turn)) break;
    chain.unshift(turn);
    wanted = turn.parent;
  }
  return chain;
}
