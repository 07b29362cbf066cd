/** Wishes to stop, checked when they come: one that is none must not be taken for another. */
import { EngineError } from '../../errors.js';
import { receivedOf } from '../../operators/invalid-option.js';
import type { SafePointRequest } from './live-inputs.js';
import type { LiveStop } from './live-options.js';

const CANCEL_MODES: readonly string[] = [
  'now',
  'after-model',
  'after-tools',
  'after-round',
] satisfies SafePointRequest['mode'][];

const LIVE_MODES: readonly string[] = ['after-turn', 'at-safe-point', 'now', 'when-idle'] satisfies LiveStop['mode'][];

/** What is wrong with a value of `cancel$`: OPTION_INVALID; undefined when nothing is. */
export function wrongCancel(wish: unknown): EngineError | undefined {
  return wrongWish(wish, CANCEL_MODES, 'cancel$');
}

/** The same of a value of `stop$`. */
export function wrongStop(wish: unknown): EngineError | undefined {
  return wrongWish(wish, LIVE_MODES, 'stop$');
}

function wrongWish(wish: unknown, modes: readonly string[], source: string): EngineError | undefined {
  const { mode, withinMs } = (wish ?? {}) as Partial<LiveStop>;
  const isTime = withinMs === undefined || (typeof withinMs === 'number' && withinMs >= 0);
  if (modes.includes(String(mode)) && isTime) return undefined;
  const known = modes.map((one) => `"${one}"`).join(', ');
  const received = isTime ? receivedOf(mode ?? wish) : `"withinMs": ${receivedOf(withinMs)}`;
  const message = `A value of "${source}" must be { mode, withinMs? } with a mode of ${known}; received ${received}.`;
  return new EngineError('OPTION_INVALID', message);
}
