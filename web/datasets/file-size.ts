/** Sizes of files as people read them. */

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** `86 bytes`, `12 kB`, `3.4 MB`. */
export function fileSize(bytes: number, language: string): string {
  let value = bytes;
  let at = 0;
  while (value >= 1_000 && at < UNITS.length - 1) {
    value /= 1_000;
    at += 1;
  }
  const maximumFractionDigits = at > 0 && value < 10 ? 1 : 0;
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit: UNITS[at] as string,
    unitDisplay: at === 0 ? 'long' : 'short',
    maximumFractionDigits,
  }).format(value);
}
