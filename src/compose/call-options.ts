import type { CompiledStep } from './compile.js';
import type { RunOptionsByNode } from './engine/watch.js';
export function callOptionsFor(
  _compiled: CompiledStep,
  _given: readonly unknown[] | undefined,
): RunOptionsByNode | undefined {
  return undefined;
}
