import { isDeepStrictEqual } from 'node:util';
import { concatMap, EMPTY, type OperatorFunction, of } from 'rxjs';
import { isJsonObject } from '../json.js';
import { invalidOption, requireList, requireObject } from '../operators/invalid-option.js';

/** Which events a letter stands for: a type, or a function. The first letter that fits counts; events without a letter do not. */
export type EventLetters<E extends { readonly type: string }> = {
  readonly [letter: string]: E['type'] | ((event: E) => boolean);
};

/**
 * Events in short: `eventsByLetter(await collectEvents(run(…)), { t: eventOf('node-chunk'), e: 'run-settled' })` gives `tte`.
 *
 * @throws EngineError OPTION_INVALID
 */
export function eventsByLetter<E extends { readonly type: string }>(
  events: readonly E[],
  letters: EventLetters<E>,
): string {
  requireList('eventsByLetter', 'events', events, 'a list of events');
  const letterOf = letterOfEvents('eventsByLetter', letters);
  return events.map((event) => letterOf(event) ?? '').join('');
}

/**
 * Events as their letters, as they come.
 *
 * ```text
 * events                    s-c-c-x-e|       (x has no letter)
 * toLetters({ t: isChunk }) --t-t-----|
 * ```
 *
 * @throws EngineError OPTION_INVALID
 */
export function toLetters<E extends { readonly type: string }>(letters: EventLetters<E>): OperatorFunction<E, string> {
  const letterOf = letterOfEvents('toLetters', letters);
  return concatMap((event) => {
    const letter = letterOf(event);
    return letter === undefined ? EMPTY : of(letter);
  });
}

/** Whether an event has that type, and the given fields, at any depth: `eventOf('node-call', { call: { kind: 'tool' } })`. */
export function eventOf(type: string, fields: object = {}): (event: { readonly type: string }) => boolean {
  requireObject('eventOf', 'fields', fields);
  return (event) => event.type === type && has(event, fields);
}

function letterOfEvents<E extends { readonly type: string }>(
  owner: string,
  letters: EventLetters<E>,
): (event: E) => string | undefined {
  requireObject(owner, 'letters', letters, 'an object of what letters stand for');
  const rules = Object.entries(letters);
  for (const [letter, rule] of rules) {
    if (!/^[\p{L}\p{N}]$/u.test(letter)) throw invalidOption(owner, 'letters', 'an object with single letters', letter);
    if (typeof rule !== 'string' && typeof rule !== 'function')
      throw invalidOption(owner, `letters.${letter}`, 'a type of events, or a function', rule);
  }
  return (event) => {
    requireObject(owner, 'events', event, 'events');
    return rules.find(([, rule]) => (typeof rule === 'function' ? rule(event) : rule === event.type))?.[0];
  };
}

function has(value: unknown, part: unknown): boolean {
  if (!isJsonObject(part as never)) return isDeepStrictEqual(value, part);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(part as object).every(([name, one]) => has((value as Record<string, unknown>)[name], one));
}
