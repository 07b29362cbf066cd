/** What a node needs before it can run, and whether it is there. */
import { EngineError } from '../errors.js';
import type { Node } from './plan.js';
import { liveProducer, type Token } from './tokens.js';

/** The nodes that this one needs and that have given nothing. */
export function missing(token: Token, node: Node): number[] {
  const { cells } = token.frame.values;
  return node.needs.filter((needed) => cells.get(needed) === undefined && liveProducer(token, needed) === undefined);
}

/** Whether all that is missing is on its way, from nodes that were reached before this one. */
export function isComing(token: Token, absent: readonly number[]): boolean {
  return absent.every((needed) => producerBefore(token, needed) !== undefined);
}

/** A token of `needed` beside this one that was given before it and is about to run or at work. */
export function producerBefore({ frame, id }: Token, needed: number): Token | undefined {
  for (let other = frame.first; other !== undefined; other = other.next) {
    if (other.node === needed && other.id < id && (other.status === 'ready' || other.status === 'running'))
      return other;
  }
  return undefined;
}

/** Why a node must not run; undefined when it may. */
export function problemOf(node: Node, step: number, maxSteps: number): EngineError | undefined {
  if (step >= maxSteps) {
    const message = `The run took ${maxSteps} steps without ending; node "${node.id}" was next. Raise maxSteps or check its loops.`;
    return new EngineError('RUN_STEPS_EXCEEDED', message, { node: node.id });
  }
  if (node.unknownNeeds.length > 0) {
    const unknown = node.unknownNeeds.map((id) => `"${id}"`).join(', ');
    const message = `Node "${node.id}" reads ${unknown}, but there is no such node in this canvas.`;
    return new EngineError('REFERENCE_UNRESOLVED', message, { node: node.id });
  }
  return undefined;
}
