import type { CompiledStep } from './compile.js';
import type { RunObservers } from './engine/watch.js';
export function observersFor(
  _compiled: CompiledStep,
  _observe: readonly unknown[] | undefined,
): RunObservers | undefined {
  return undefined;
}
