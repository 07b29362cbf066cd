/** What the actions of `runnel graph` are made of. */
import { EngineError } from '../../errors.js';
import type { CommandKnowledge } from '../open-knowledge.js';
import type { Screen } from '../screen.js';
import type { Terminal } from '../terminal.js';

/** Options of all actions. */
export const GRAPH_OPTIONS = {
  layers: { type: 'string' },
  types: { type: 'string' },
  reports: { type: 'string' },
  sample: { type: 'boolean' },
  model: { type: 'string' },
  tokens: { type: 'string' },
  calls: { type: 'string' },
  money: { type: 'string' },
  ms: { type: 'string' },
  kind: { type: 'string' },
  level: { type: 'string' },
  'max-tokens': { type: 'string' },
  top: { type: 'string' },
  format: { type: 'string' },
  out: { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** Name of an option. */
export type GraphOption = keyof typeof GRAPH_OPTIONS;

/** What an action works with. */
export interface GraphWork {
  readonly knowledge: CommandKnowledge;
  readonly datasetId: string;
  /** Arguments behind the dataset. */
  readonly given: readonly string[];
  readonly values: {
    readonly [K in GraphOption]?: (K extends 'json' | 'sample' ? boolean : string) | undefined;
  };
  readonly screen: Screen;
  readonly terminal: Terminal;
}

/** One of the things that `runnel graph` does. */
export interface GraphAction {
  /** Its arguments and what it does, as in the help. */
  readonly help: readonly [args: string, does: string];
  /** How many arguments it takes behind the dataset. */
  readonly takes: readonly [least: number, most: number];
  /** Options that mean something to it, beside `json`. @default none */
  readonly options?: readonly GraphOption[];
  /** Gives the exit code. */
  run(work: GraphWork): Promise<number>;
}

/** @throws EngineError USAGE for what is no whole number, or is not within the bounds. @param most default: no bound */
export function wholeOf(option: string, given: string, least = 0, most = Number.MAX_SAFE_INTEGER): number {
  const value = Number(given);
  if (given.trim() !== '' && Number.isSafeInteger(value) && value >= least && value <= most) return value;
  const bounds = most < Number.MAX_SAFE_INTEGER ? ` from ${least} to ${most}` : least > 0 ? ` from ${least}` : '';
  throw new EngineError('USAGE', `${option} takes a whole number${bounds}; received "${given}".`);
}

/** Names with commas between them. @throws EngineError USAGE where there is none */
export function namesOf(option: string, given: string): string[] {
  const names = given.split(',').flatMap((name) => name.trim() || []);
  if (names.length > 0) return names;
  throw new EngineError('USAGE', `${option} takes names with commas between them; received "${given}".`);
}

/** The name of a model as it is given; that there is such a model is found out by who asks it. @throws EngineError USAGE for an empty one */
export function modelOf(given: string): string {
  if (given.trim() !== '') return given.trim();
  throw new EngineError('USAGE', `--model takes the id of a chat model; received "${given}".`);
}
