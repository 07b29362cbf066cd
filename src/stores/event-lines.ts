/** Events as they are stored: what their place says already is no part of their text. */
import type { LoggedEvent } from '../records/run-log.js';

/** Stand for the id of the run, the number of the event and its name; no JSON text has a control character. */
const RUN = '\u0001';
const SEQ = '\u0002';
const TYPE = '\u0003';

/** The line of an event, from which {@link eventOf} gives its JSON back to the letter: its name, a space, its JSON. */
export function lineOf(run: string, event: LoggedEvent): string {
  return `${event.event} ${shorten(run, event)}`;
}

/** What the JSON of an event begins with, before and behind its name. */
const [BEFORE_NAME, BEFORE_RUN, BEHIND_RUN, BEFORE_SEQ] = ['{"type":"', '","run":"', '",', '"seq":'];

/** Where the rest of the JSON of an event begins that has its name and its run in front, as nearly all have; -1 otherwise. */
function endOfHead(run: string, { event, json }: LoggedEvent): number {
  let at = BEFORE_NAME.length;
  if (!json.startsWith(BEFORE_NAME) || !json.startsWith(event, at)) return -1;
  at += event.length;
  if (!json.startsWith(BEFORE_RUN, at) || !json.startsWith(run, at + BEFORE_RUN.length)) return -1;
  at += BEFORE_RUN.length + run.length;
  return json.startsWith(BEHIND_RUN, at) ? at + BEHIND_RUN.length : -1;
}

/** The event of a line. */
export function eventOf(run: string, seq: number, line: string): LoggedEvent {
  const space = line.indexOf(' ');
  const event = line.slice(0, space);
  return { seq, event, json: lengthen(run, { seq, event, json: line.slice(space + 1) }) };
}

/** The JSON of an event without what its place says, from which {@link lengthen} gives it back. */
export function shorten(run: string, logged: LoggedEvent): string {
  const { seq, event, json } = logged;
  const head = endOfHead(run, logged);
  if (head > 0 && json.startsWith(BEFORE_SEQ, head)) {
    const number = String(seq);
    const end = head + BEFORE_SEQ.length + number.length;
    if (json.startsWith(number, head + BEFORE_SEQ.length) && json.startsWith(',', end)) {
      return `{${TYPE},${RUN},${SEQ}${json.slice(end + 1)}`;
    }
  }
  return json.replace(`"run":"${run}"`, RUN).replace(`"seq":${seq},`, SEQ).replace(`"type":"${event}"`, TYPE);
}

/** The JSON of an event whose JSON was shortened. */
export function lengthen(run: string, { seq, event, json }: LoggedEvent): string {
  // As functions: in a text, a dollar sign would mean something.
  return json
    .replace(RUN, () => `"run":"${run}"`)
    .replace(SEQ, () => `"seq":${seq},`)
    .replace(TYPE, () => `"type":"${event}"`);
}
