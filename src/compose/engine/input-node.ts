/** The beginning of a scope whose input comes in chunks. */
import { EngineError } from '../../errors.js';
import type { NodeActivation, NodeResult } from '../../graph/activation.js';
import { streamOut } from './stream-out.js';

/** Passes the chunks of a graph's input on to the nodes at its start; a whole input goes to them without this node. */
export class InputNode {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  activate(at: NodeActivation): NodeResult {
    const { source } = at.frame;
    if (source !== undefined)
      return streamOut(
        at,
        source.toObservable(() => at.room()),
      );
    const message = `The input of "${this.#path}" came in chunks, and not all of them had come when the run was stored; start it again with its whole input.`;
    throw new EngineError('CHECKPOINT_INVALID', message, { node: this.#path });
  }
}
