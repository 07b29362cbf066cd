/** Schemas of fields as editors and models write them: numbers may come as texts, and an empty text counts as nothing given. */
import { z } from 'zod';

const entered = (value: unknown): unknown => (value === '' || value === null ? undefined : value);

/** A whole number from `min` on. */
export function wholeNumber(fallback: number, description: string, bounds: { min?: number; max?: number } = {}) {
  const { min = 1, max = Number.MAX_SAFE_INTEGER } = bounds;
  return z.preprocess(entered, z.coerce.number().int().min(min).max(max).default(fallback)).describe(description);
}

/** A whole number from `min` on, or null where none is given. */
export function optionalWholeNumber(description: string, bounds: { min?: number; max?: number } = {}) {
  const { min = 1, max = Number.MAX_SAFE_INTEGER } = bounds;
  const schema = z.coerce.number().int().min(min).max(max).nullable().default(null);
  return z.preprocess(entered, schema).describe(description);
}

/** Any number within bounds. */
export function anyNumber(fallback: number, description: string, bounds: { min: number; max: number }) {
  const { min, max } = bounds;
  return z.preprocess(entered, z.coerce.number().min(min).max(max).default(fallback)).describe(description);
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

/** A switch. */
export function flag(fallback: boolean, description: string) {
  return z.preprocess(entered, z.boolean().default(fallback)).describe(description);
}

/**
 * The argument that every search has; required of models, and taken from the question of the user by a node that sets none. Where it
 * is missing all the same it is empty, for which searches find nothing.
 */
export const queryArgument = (description: string) =>
  z.preprocess((value) => value ?? '', z.string()).describe(description);
