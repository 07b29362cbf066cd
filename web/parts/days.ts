/** Days of a calendar, as fields for dates and addresses have them: `2026-11-28`, in the time zone of the browser. */

/** The text when it is a day. */
export function readDay(text: string | null): string | undefined {
  return text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) && startOfDay(text) !== undefined ? text : undefined;
}

/** Its first millisecond, since 1970. */
export function startOfDay(day: string | undefined): number | undefined {
  return timeOf(day, '00:00:00.000');
}

/** Its last millisecond, since 1970. */
export function endOfDay(day: string | undefined): number | undefined {
  return timeOf(day, '23:59:59.999');
}

function timeOf(day: string | undefined, clock: string): number | undefined {
  const ms = day === undefined ? Number.NaN : Date.parse(`${day}T${clock}`);
  return Number.isNaN(ms) ? undefined : ms;
}
