/** Which texts of a run's events may stand in an earlier event alone, and how an event without them is made whole. */
import type { RunEvent } from '../graph/events.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';

/** The way to a text in an event: names, and places in lists. */
export type TextPath = readonly (string | number)[];

/** A text that is left out: where it belongs, the event that has it, and where it stands there. */
export type Repeat = readonly [path: TextPath, seq: number, from: TextPath];

/** UTF-16 units of a text that is worth it. */
const MIN_TEXT = 256;
/** How deep an event is looked into, and values that are looked at. */
const MAX_DEPTH = 8;
const MAX_VALUES = 20_000;

/** Calls with each long text of an event and where it stands, in the order of the values; with none of an event that no later one repeats. */
export function forEachLongText(event: RunEvent, found: (text: string, path: TextPath) => void): void {
  const values = valuesOf(event);
  if (values === undefined) return;
  const [name, value] = values;
  new LongTexts(found, [name]).visit(value as Json);
}

/** Looks into the values of one event. Its path is one list, since most events have no long text, and long runs have many events. */
class LongTexts {
  readonly #found: (text: string, path: TextPath) => void;
  readonly #path: (string | number)[];
  #left = MAX_VALUES;

  constructor(found: (text: string, path: TextPath) => void, path: (string | number)[]) {
    this.#found = found;
    this.#path = path;
  }

  visit(value: Json): void {
    this.#left -= 1;
    if (this.#left < 0 || this.#path.length > MAX_DEPTH) return;
    if (typeof value === 'string') {
      if (value.length >= MIN_TEXT) this.#found(value, [...this.#path]);
    } else if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at += 1) this.#inside(at, value[at] as Json);
    } else if (isJsonObject(value)) {
      for (const name of Object.keys(value)) {
        // Setting it would not make a property.
        if (name !== '__proto__') this.#inside(name, value[name] as Json);
      }
    }
  }

  #inside(step: string | number, value: Json): void {
    this.#path.push(step);
    this.visit(value);
    this.#path.pop();
  }
}

/** What an event says of texts that it lacks; undefined when it says nothing. What is none, or does not name an earlier event, is left out. */
export function repeatsOf(event: JsonObject, seq: number): readonly Repeat[] | undefined {
  if (!Array.isArray(event.repeats)) return undefined;
  return event.repeats.filter((repeat): repeat is Repeat & Json => {
    if (!Array.isArray(repeat)) return false;
    const [path, earlier, from] = repeat;
    return isPath(path) && isPath(from) && typeof earlier === 'number' && earlier < seq;
  });
}

/** The text at a place of an event; undefined when none stands there. */
export function textAt(event: Json | undefined, path: TextPath): string | undefined {
  let value: Json | undefined = event;
  for (const step of path) value = stepInto(value, step);
  return typeof value === 'string' ? value : undefined;
}

/** Puts a text where one stands. */
export function setText(event: Json, path: TextPath, text: string): void {
  let holder: Json | undefined = event;
  for (const step of path.slice(0, -1)) holder = stepInto(holder, step);
  const last = path.at(-1);
  if (last === undefined || typeof stepInto(holder, last) !== 'string') return;
  (holder as Record<string | number, Json>)[last] = text;
}

/** What of an event is looked at, by its name. */
function valuesOf(event: RunEvent): readonly [name: string, value: unknown] | undefined {
  switch (event.type) {
    case 'node-notice':
      return ['data', event.data];
    case 'node-settled':
    case 'run-settled':
      return ['outputs', event.outputs];
    case 'node-call':
      // What a model is asked grows by a message a call.
      return event.call.type === 'started' ? ['call', event.call] : undefined;
  }
}

function isPath(path: Json | undefined): path is (string | number)[] {
  return Array.isArray(path) && path.every((step) => typeof step === 'string' || typeof step === 'number');
}

function stepInto(value: Json | undefined, step: string | number): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
  return (value as Record<string | number, Json>)[step];
}
