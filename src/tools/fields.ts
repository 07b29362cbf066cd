/** Schemas of fields and arguments that tools share. */
import { z } from 'zod';
import { toolFailed } from '../adapters/failures.js';

/** For `z.preprocess`: an empty text or null means that nothing was entered in the editor. */
export const entered = (value: unknown): unknown => (value === '' || value === null ? undefined : value);

const whole = ({ min = 1, max = Number.MAX_SAFE_INTEGER }: { min?: number; max?: number } = {}) =>
  z.coerce.number().int().min(min).max(max);

/** A whole number within bounds, from 1 on by default. */
export function wholeNumber(fallback: number, description: string, bounds: { min?: number; max?: number } = {}) {
  return z.preprocess(entered, whole(bounds).default(fallback)).describe(description);
}

/** A whole number from 1 on, or null where none is given. */
export function optionalWholeNumber(description: string) {
  return z.preprocess(entered, whole().nullable().default(null)).describe(description);
}

/** Any number within bounds. */
export function anyNumber(fallback: number, description: string, bounds: { min: number; max: number }) {
  const number = z.coerce.number().min(bounds.min).max(bounds.max);
  return z.preprocess(entered, number.default(fallback)).describe(description);
}

/** A text; null and nothing read as the fallback. */
export function text(description: string, fallback = '') {
  return z.preprocess((value) => value ?? undefined, z.string().default(fallback)).describe(description);
}

/** One of several words. */
export function oneOf<const T extends readonly [string, ...string[]]>(
  words: T,
  fallback: T[number],
  description: string,
) {
  return z.preprocess(entered, z.enum(words).default(fallback as never)).describe(description);
}

/** The words of a text, for {@link oneOf} of many. */
export function words(list: string): readonly [string, ...string[]] {
  return list.trim().split(/\s+/) as unknown as readonly [string, ...string[]];
}

/** A switch. */
export function flag(fallback: boolean, description: string) {
  return z.preprocess(entered, z.boolean().default(fallback)).describe(description);
}

/**
 * The argument that every search has; required of models, and taken from the question of the user by a node that sets none.
 * Where it is missing all the same it is empty, for which searches find nothing.
 */
export const queryArgument = (description: string) =>
  z.preprocess((value) => value ?? '', z.string()).describe(description);

// URLs as models and documents write them.

/** The argument: a list, or one text with commas between the URLs. */
export function urlsArgument(most: number) {
  return z
    .union([z.array(z.string()), z.string()])
    .describe(`URLs of the pages, 1 to ${most}, each with http:// or https:// in front.`);
}

/**
 * The URLs of such an argument, in their order, each once.
 *
 * @throws EngineError TOOL_FAILED when there is none, there are too many, or one is no absolute http or https URL.
 */
export function checkUrls(given: string | readonly string[], most: number): readonly string[] {
  const parts = typeof given === 'string' ? given.split(',') : given;
  const urls = [...new Set(parts.map((part) => part.trim()).filter((part) => part !== ''))];
  if (urls.length === 0) throw toolFailed('there is no URL; give at least one in "urls"');
  if (urls.length > most) throw toolFailed(`there are ${urls.length} URLs; at most ${most} can be read at once`);
  const bad = urls.find((url) => !isWebUrl(url));
  if (bad !== undefined) {
    throw toolFailed(`${JSON.stringify(bad.slice(0, 100))} is no URL; it must begin with http:// or https://`);
  }
  return urls;
}

/** A base URL without slashes at its end; a loop, for a pattern would take long over a million of them elsewhere. */
export function withoutEndSlashes(url: string): string {
  let end = url.length;
  while (end > 0 && url[end - 1] === '/') end -= 1;
  return url.slice(0, end);
}

function isWebUrl(url: string): boolean {
  return /^https?:\/\/[^/\\]/i.test(url) && URL.canParse(url);
}
