/** What a run that goes on from an event will not do again, and what it will. */
import type { NodePicture, RunPicture } from '../../src/canvas/picture/picture.js';

/** A node, as far as a fork is concerned. */
export interface ForkNode {
  readonly node: NodePicture;
  /** How often it had finished by then. */
  readonly finished: number;
  /** Tokens of models that it had used by then. */
  readonly tokens: number;
}

export interface ForkPlan {
  /** Had finished, and is not at work: what it gave is taken over. */
  readonly kept: readonly ForkNode[];
  /** Was at work, waited, or failed: runs again. */
  readonly again: readonly ForkNode[];
  /** Has not begun. Whether it runs depends on what is chosen on the way. */
  readonly later: readonly ForkNode[];
  /** Tokens of models that are not paid for again. */
  readonly savedTokens: number;
  readonly savedCalls: number;
}

/** `picture` is the run after the event. */
export function planFork(picture: RunPicture): ForkPlan {
  const kept: ForkNode[] = [];
  const again: ForkNode[] = [];
  const later: ForkNode[] = [];
  let [savedTokens, savedCalls] = [0, 0];
  for (const node of picture.nodes.values()) {
    const settled = node.activations.filter(({ status }) => status === 'settled' || status === 'skipped');
    const last = node.activations.at(-1);
    const tokens = settled.reduce((sum, { usage }) => sum + usage.totalTokens, 0);
    const one = { node, finished: settled.length, tokens };
    if (last === undefined) later.push(one);
    else if (last.status === 'settled' || last.status === 'skipped') kept.push(one);
    else again.push(one);
    savedTokens += tokens;
    for (const { usage } of settled) savedCalls += usage.calls;
  }
  return { kept, again, later, savedTokens, savedCalls };
}
