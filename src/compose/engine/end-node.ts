/** The end of a scope to which several nodes lead. */
import type { NodeActivation, NodeResult } from '../../graph/activation.js';
import type { RunContext } from './context.js';
import { chunkInput, hasChunks, type Inlet, wholeInput } from './inputs.js';
import { settledValue, streamOut } from './stream-out.js';

/** Passes on what comes there: chunks while they come, a whole value as it is. */
export class EndNode {
  readonly #inlet: Inlet;

  constructor(inlet: Inlet) {
    this.#inlet = inlet;
  }

  activate(at: NodeActivation): NodeResult {
    const { chunks: rule } = at.services as RunContext;
    const inlet = this.#inlet;
    if (isOneValue(inlet, at)) return settledValue(wholeInput(inlet, at, rule));
    return streamOut(at, chunkInput(inlet, at, rule));
  }
}

/** Whether one value goes on. Several objects without a rule for them go on one by one, and are joined by those who read them. */
function isOneValue(inlet: Inlet, at: NodeActivation): boolean {
  const { input, merge } = inlet;
  if (input !== undefined && input.piece === undefined) return true;
  const isJoined = input !== undefined || merge !== undefined || at.arrival?.next === undefined;
  return isJoined && !hasChunks(inlet, at);
}
