/** Events as lines of a text: what a row says already is no part of its lines. */
import type { LoggedEvent } from '../../records/run-log.js';

/** Stand for the id of the run, the number of the event and its name; no JSON text has a control character. */
const RUN = '\u0001';
const SEQ = '\u0002';
const TYPE = '\u0003';

/** The line of an event, from which {@link eventOf} gives its JSON back to the letter: its name, a space, its JSON. */
export function lineOf(run: string, { seq, event, json }: LoggedEvent): string {
  const text = json.replace(`"run":"${run}"`, RUN).replace(`"seq":${seq},`, SEQ).replace(`"type":"${event}"`, TYPE);
  return `${event} ${text}`;
}

/** The event of a line. */
export function eventOf(run: string, seq: number, line: string): LoggedEvent {
  const space = line.indexOf(' ');
  const event = line.slice(0, space);
  // As functions: in a text, a dollar sign would mean something.
  const json = line
    .slice(space + 1)
    .replace(RUN, () => `"run":"${run}"`)
    .replace(SEQ, () => `"seq":${seq},`)
    .replace(TYPE, () => `"type":"${event}"`);
  return { seq, event, json };
}
