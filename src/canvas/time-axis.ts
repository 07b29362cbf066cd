/** Times of a drawing for people. */

/** Milliseconds between two marks of an axis, from which the smallest that fits is taken; beyond them whole hours. */
const STEPS_MS: readonly number[] = [
  ...[1, 10, 100, 1_000].flatMap((unit) => [unit, 2 * unit, 5 * unit]),
  ...[10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600].map((seconds) => seconds * 1_000),
];
const HOUR_MS = 3_600_000;

/** Round times from 0 to before `spanMs`, `most` of them at most, at least one. */
export function ticksOf(spanMs: number, most: number): readonly number[] {
  const room = spanMs / Math.max(1, most);
  const step = STEPS_MS.find((one) => one >= room) ?? Math.ceil(room / HOUR_MS) * HOUR_MS;
  return Array.from({ length: Math.max(1, Math.ceil(spanMs / step)) }, (_, at) => at * step);
}

/** A time on an axis, no longer than it has to be. */
export function formatTick(ms: number): string {
  if (ms === 0) return '0';
  if (ms < 1_000) return `${ms} ms`;
  return ms < 60_000 ? `${ms / 1_000} s` : formatMs(ms).replace(/ 0 (?:s|min)$/, '');
}

/** Milliseconds for people. */
export function formatMs(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_995) return `${(ms / 1_000).toFixed(2)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
