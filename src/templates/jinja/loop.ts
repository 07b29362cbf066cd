import type { Budget } from '../template-budget.js';
import { readArguments } from './arguments.js';
import { type Arguments, isEqual, type Special, special, type Value } from './values.js';

/** The `loop` of one loop, and the way to its next round. */
export interface LoopState {
  readonly value: Special;
  advance(): void;
}

/**
 * Builds Jinja's `loop`: `index index0 revindex revindex0 first last length depth depth0 previtem nextitem`, `cycle(…)`,
 * `changed(…)`, and in recursive loops `loop(items)`, which is `again`.
 */
export function createLoop(
  items: readonly Value[],
  depth: number,
  again: (items: Value) => Value,
  budget: Budget,
): LoopState {
  let index = 0;
  let seen: readonly Value[] | undefined;
  const changed = ({ positional }: Arguments): boolean => {
    const same = seen !== undefined && isEqual(seen, positional, budget);
    seen = positional;
    return !same;
  };
  const cycle = ({ positional }: Arguments): Value =>
    positional.length === 0 ? budget.fail('"loop.cycle" needs values') : positional[index % positional.length];
  const get = (name: string): Value => {
    switch (name) {
      case 'index':
        return index + 1;
      case 'index0':
        return index;
      case 'revindex':
        return items.length - index;
      case 'revindex0':
        return items.length - index - 1;
      case 'first':
        return index === 0;
      case 'last':
        return index === items.length - 1;
      case 'length':
        return items.length;
      case 'depth':
        return depth + 1;
      case 'depth0':
        return depth;
      case 'previtem':
        return index === 0 ? undefined : items[index - 1];
      case 'nextitem':
        return items[index + 1];
      case 'cycle':
        return special('method cycle', { call: cycle });
      case 'changed':
        return special('method changed', { call: changed });
    }
    return undefined;
  };
  const call = (args: Arguments): Value => again(readArguments('loop', args, ['items'], budget)[0]);
  const advance = (): void => {
    index++;
  };
  return { value: special('loop', { get, call }), advance };
}
