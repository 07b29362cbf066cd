import { defer, type Observable, of } from 'rxjs';
import { toolFailed } from '../../adapters/failures.js';
import { text } from '../fields.js';
import { pairsTable } from '../results.js';
import { defineTool, type ToolEvent, toolResult } from '../tool.js';

/** Hours east of Greenwich, as people write them. */
const OFFSET = /^(?:UTC|GMT)?\s*([+-])(\d{1,2})(?::?(00|15|30|45))?$/i;
const MAX_OFFSET_HOURS = 14;

/** Tells the time, by Intl. Errors: `TOOL_FAILED` for a time zone that does not exist. */
export const datetime = defineTool({
  component: 'Datetime',
  name: 'datetime',
  summary: 'Tells the date, the weekday and the time in a time zone, now.',
  arguments: {
    timezone: text(
      'Name of the zone in the IANA list, such as Asia/Shanghai, or a distance such as UTC+8; default UTC.',
      'UTC',
    ),
  },
  params: {},
  outputs: {
    formalized_content: { type: 'string', description: 'Date, weekday, time and zone, as a table in Markdown.' },
    json: { type: 'object', description: '`timezone`, `date`, `weekday`, `time`, `utc_offset` and `iso`.' },
  },
  timeoutSeconds: 5,
  call({ timezone }, { now }): Observable<ToolEvent> {
    return defer(() => {
      const json = momentIn(timezone.trim() || 'UTC', now());
      const table = pairsTable(json);
      return of(toolResult(table, { formalized_content: table, json }));
    });
  },
});

/** A moment as clocks and calendars of a zone show it. @throws EngineError TOOL_FAILED for a zone that does not exist */
function momentIn(timezone: string, now: number) {
  const offset = OFFSET.exec(timezone);
  const minutes = offset === null ? undefined : offsetMinutes(offset);
  const { zone, clock } = minutes === undefined ? zoneClock(timezone, now) : shiftedClock(minutes, now);
  const { year, month, day, hour, minute, second, weekday } = clock;
  const shift = Math.round((Date.UTC(+year, +month - 1, +day, +hour, +minute, +second) - now) / 60_000);
  const date = `${year}-${month}-${day}`;
  const time = `${hour}:${minute}:${second}`;
  return {
    timezone: zone,
    date,
    weekday,
    time,
    utc_offset: offsetText(shift),
    iso: `${date}T${time}${offsetText(shift)}`,
  };
}

interface Clock {
  readonly year: string;
  readonly month: string;
  readonly day: string;
  readonly hour: string;
  readonly minute: string;
  readonly second: string;
  readonly weekday: string;
}

function zoneClock(timezone: string, now: number): { readonly zone: string; readonly clock: Clock } {
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      weekday: 'long',
    });
    const parts = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]));
    return { zone: timezone, clock: parts as unknown as Clock };
  } catch (cause) {
    const shown = JSON.stringify(timezone.slice(0, 60));
    throw toolFailed(`there is no time zone ${shown}; write one such as Asia/Shanghai, Europe/London or UTC+8`, {
      cause,
    });
  }
}

function shiftedClock(minutes: number, now: number): { readonly zone: string; readonly clock: Clock } {
  const { clock } = zoneClock('UTC', now + minutes * 60_000);
  return { zone: `UTC${offsetText(minutes)}`, clock };
}

function offsetMinutes([, sign, hours = '', minutes = '0']: RegExpExecArray): number | undefined {
  const total = Number(hours) * 60 + Number(minutes);
  if (total > MAX_OFFSET_HOURS * 60) return undefined;
  return sign === '-' ? -total : total;
}

function offsetText(minutes: number): string {
  const size = Math.abs(minutes);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
