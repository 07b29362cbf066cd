/** How the edges behind a node hold its chunks. */
import { EngineError } from '../errors.js';
import type { TypedEdge } from '../graph/typed.js';
import { concatValues } from './chunks/concat-values.js';
import type { ConcatRule, EdgeOptions } from './step.js';

/**
 * The edges of a node: full ones join neighbours by its rule.
 *
 * @param id of the node, for errors: LIMIT_REACHED when its chunks cannot be joined
 */
export function edgeOf(edge: EdgeOptions | undefined, rule: ConcatRule<unknown> | undefined, id: string): TypedEdge {
  return {
    ...edge,
    concat: (neighbours) => {
      try {
        return concatValues(neighbours, rule);
      } catch (cause) {
        const message = `The edge behind "${id}" is full and its chunks cannot be joined: ${(cause as Error).message} Let the node give its chunks from a generator, which waits; give it a larger edge, or a rule: step(…, { chunks }).`;
        throw new EngineError('LIMIT_REACHED', message, { node: id, cause });
      }
    },
  };
}
