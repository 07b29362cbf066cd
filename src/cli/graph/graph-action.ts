/** What the actions of `runnel graph` are made of. */
import { EngineError } from '../../errors.js';
import type { CommandKnowledge } from '../open-knowledge.js';
import type { Screen } from '../screen.js';
import type { Terminal } from '../terminal.js';

/** Options of all actions; each takes those that mean something to it. */
export const GRAPH_OPTIONS = {
  layers: { type: 'string' },
  tokens: { type: 'string' },
  calls: { type: 'string' },
  kind: { type: 'string' },
  top: { type: 'string' },
  format: { type: 'string' },
  out: { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** What an action works with. */
export interface GraphWork {
  readonly knowledge: CommandKnowledge;
  readonly datasetId: string;
  /** Arguments behind the dataset. */
  readonly given: readonly string[];
  readonly values: {
    readonly [K in keyof typeof GRAPH_OPTIONS]?: (K extends 'json' ? boolean : string) | undefined;
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
  /** Gives the exit code. */
  run(work: GraphWork): Promise<number>;
}

/** @throws EngineError USAGE for what is no whole number of at least 0 */
export function wholeOf(option: string, given: string): number {
  const value = Number(given);
  if (given.trim() !== '' && Number.isInteger(value) && value >= 0) return value;
  throw new EngineError('USAGE', `${option} takes a whole number; received "${given}".`);
}
