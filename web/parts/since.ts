/** How long ago something was, in words of the user's language. */
import type { Language } from '../shell/preferences.js';

const STEPS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** `5 minutes ago`, `yesterday`; more than a month ago the date. Times in milliseconds since 1970. */
export function sinceText(atMs: number, nowMs: number, language: Language): string {
  const passed = Math.max(0, nowMs - atMs);
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  for (const [unit, ms] of STEPS) {
    if (passed < ms) continue;
    const count = Math.floor(passed / ms);
    if (unit === 'day' && count > 30) return new Date(atMs).toLocaleDateString(language);
    return format.format(-count, unit);
  }
  return format.format(0, 'second');
}
