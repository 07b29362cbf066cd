/** Names of tools that middlewares and rules of an agent are for, compared with the tools that it has. */
import { EngineError } from '../../errors.js';
import { didYouMean, nearestName } from '../../nearest-name.js';
import { isHandoffTool } from './handoff-tool.js';
import type { AnyMiddleware } from './middleware.js';
import type { StopRule } from './stop-rules.js';

/** Names that no tool of an agent has, and what is for them. */
export interface UnknownToolNames {
  /** Such as `the middleware "approve"`. */
  readonly owner: string;
  readonly unknown: readonly string[];
  readonly all: readonly string[];
}

/**
 * The names that no tool has, of each middleware and rule that is for some. A tool that hands over is known to its team alone, so its name counts as
 * one that is there.
 */
export function unknownToolNames(
  use: readonly AnyMiddleware[],
  stopWhen: readonly StopRule[],
  tools: readonly string[],
): readonly UnknownToolNames[] {
  const named = [
    ...use.map(({ name, toolNames = [] }) => ({ owner: `the middleware "${name}"`, all: toolNames })),
    ...stopWhen.map(({ toolNames = [] }) => ({ owner: 'a rule in "stopWhen"', all: toolNames })),
  ];
  return named.flatMap(({ owner, all }) => {
    const unknown = all.filter((name) => !tools.includes(name) && !isHandoffTool(name));
    return unknown.length === 0 ? [] : [{ owner, unknown, all }];
  });
}

/**
 * Refuses names that are probably misspelt: one that resembles a tool which nothing names, and lists of which no tool has any. A list that several
 * agents share has names of others; `tools-unknown` tells of these when an agent begins.
 *
 * @throws EngineError OPTION_INVALID
 */
export function checkToolNames(agent: string, found: readonly UnknownToolNames[], tools: readonly string[]): void {
  for (const { owner, unknown, all } of found) {
    const unnamed = tools.filter((name) => !all.includes(name));
    const misspelt = unknown.find((name) => nearestName(name, unnamed) !== undefined);
    if (misspelt === undefined && unknown.length < all.length) continue;
    const name = misspelt ?? (unknown[0] as string);
    const known = tools.length === 0 ? 'It has no tools.' : `Its tools are: ${tools.join(', ')}.`;
    throw new EngineError(
      'OPTION_INVALID',
      `${agent}: ${owner} is for a tool "${name}", which the agent does not have. ${known}${didYouMean(name, unnamed)}`,
    );
  }
}
