/** What a number format shows a number as. */
export type DateKind = 'date' | 'date-time' | 'time' | 'duration';

const DAY_MS = 86_400_000;
/** Days between 1899-12-30, where numbers of the 1900 calendar count from, and 1970-01-01. */
const EPOCH_1900 = 25_569;
/** The 1904 calendar of old Macs begins so many days later. */
const SHIFT_1904 = 1462;
/** Serial number of 1900-02-29, a day that only spreadsheets have; those before it stand one day off. */
const PHANTOM_DAY = 60;
/** Serial number after 9999-12-31. */
const MAX_SERIAL = 2_958_466;

/** Built-in formats by id (ECMA-376, 18.8.30), the East Asian ones included. */
const BUILT_IN: ReadonlyMap<number, DateKind> = new Map([
  ...[14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58].map((id) => [id, 'date'] as const),
  ...[18, 19, 20, 21, 32, 33, 34, 35, 45, 47, 55, 56].map((id) => [id, 'time'] as const),
  [22, 'date-time'],
  [46, 'duration'],
]);

/** Parts of a format that show no number: quoted and escaped text, fillers, colours, conditions, currencies. */
const LITERALS = /"[^"]*"|\\.|[_*].|\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi;

/** Longest format of Excel, in characters. */
const MAX_CODE = 255;

/** What a number format shows; undefined for plain numbers. `code` is the format's text, absent for a built-in one. */
export function dateKind(id: number, code: string | undefined): DateKind | undefined {
  if (code === undefined) return BUILT_IN.get(id);
  const [format = ''] = code.slice(0, MAX_CODE).replace(LITERALS, '').split(';', 1);
  if (/^general$/i.test(format.trim())) return undefined;
  if (/\[(?:h+|m+|s+)\]/i.test(format)) return 'duration';
  const hasTime = /[hs]|a\/p|am\/pm/i.test(format);
  const letters = format.replace(/am\/pm|a\/p/gi, '');
  const hasDate = /[yd]/i.test(letters) || (!hasTime && /m/i.test(letters));
  if (hasDate) return hasTime ? 'date-time' : 'date';
  return hasTime ? 'time' : undefined;
}

/**
 * A date of a spreadsheet as ISO 8601 text without a zone, as spreadsheets know none: `2024-01-31`, `2024-01-31T10:20:30`,
 * `10:20:30`; a duration may have more than 24 hours. A number that is no date of the calendar stays a number.
 */
export function dateText(serial: number, kind: DateKind, is1904: boolean): string | number {
  const days = is1904 ? serial + SHIFT_1904 : serial;
  if (serial < 0 || days >= MAX_SERIAL) return serial;
  if (kind === 'duration' || (kind !== 'date-time' && serial < 1 && (kind === 'time' || serial > 0))) {
    return timeText(serial);
  }
  const shifted = days < PHANTOM_DAY ? days + 1 : days;
  // Fractions of a day are not exact in binary; a spreadsheet keeps milliseconds.
  const text = new Date(Math.round((shifted - EPOCH_1900) * DAY_MS)).toISOString();
  if (kind === 'date' && text.endsWith('T00:00:00.000Z')) return text.slice(0, 10);
  return text.replace(/(?:\.000)?Z$/, '');
}

function timeText(serial: number): string {
  const total = Math.round(serial * DAY_MS);
  const [hours, minutes, seconds] = [total / 3_600_000, (total / 60_000) % 60, (total / 1000) % 60].map((part) =>
    String(Math.floor(part)).padStart(2, '0'),
  );
  const fraction = total % 1000 === 0 ? '' : `.${String(total % 1000).padStart(3, '0')}`;
  return `${hours}:${minutes}:${seconds}${fraction}`;
}
