/** What answers have in common: shapes that describe them, and times as RAGFlow writes them. */
import { z } from 'zod';
import type { Json, JsonObject } from '../json.js';

export const string = z.string();
export const anyObject = z.looseObject({});
export const whole = z.number().int();
export const milliseconds = z.number().int().describe('Milliseconds since 1970.');
export const date = string.describe('A time as text, in UTC.');

/** A record as the API gives it: each field with its description and where it comes from. */
export interface View<R, A extends readonly unknown[], F extends Fields<R, A>> {
  readonly fields: F;
  readonly shape: z.ZodObject<{ -readonly [K in keyof F]: F[K][0] }, z.core.$loose>;
  readonly of: (record: R, ...about: A) => JsonObject;
  /** The properties of a record that its fields name, read from what `of` gave. */
  readonly read: (given: object) => Partial<R>;
}

/** A property of the record, or what is computed from it. A property without a value is null where the shape allows that. */
type Source<R, A extends readonly unknown[]> = (keyof R & string) | ((record: R, ...about: A) => unknown);

type Fields<R, A extends readonly unknown[]> = Readonly<
  Record<string, readonly [shape: z.ZodType, source: Source<R, A>]>
>;

/** Declares how records `R` are given; `A` is what a view needs beside the record. A field that is undefined is left out. */
export function defineView<R, A extends readonly unknown[] = []>() {
  return <F extends Fields<R, A>>(fields: F): View<R, A, F> => {
    const entries = Object.entries(fields).map(([name, [shape, source]]) => {
      const absent = shape.safeParse(null).success ? null : undefined;
      return { name, shape, source, absent };
    });
    return {
      fields,
      shape: z.looseObject(Object.fromEntries(entries.map(({ name, shape }) => [name, shape]))) as unknown as View<
        R,
        A,
        F
      >['shape'],
      of: (record, ...about) =>
        Object.fromEntries(
          entries.map(({ name, source, absent }) => {
            const value = typeof source === 'function' ? source(record, ...about) : (record[source] ?? absent);
            return [name, value as Json];
          }),
        ),
      read: (values) => {
        const own = entries.map(({ name, source }) => [source, (values as Record<string, unknown>)[name] ?? undefined]);
        return Object.fromEntries(own.filter(([source, value]) => typeof source === 'string' && value !== undefined));
      },
    };
  };
}

/** Fields for when a record was created and changed, in both of RAGFlow's forms. */
export function timeFields<C extends string, U extends string>(created: C, updated: U) {
  return {
    create_time: [milliseconds, created],
    create_date: [date, (record: Readonly<Record<C, number>>) => formatTime(record[created])],
    update_time: [milliseconds, updated],
    update_date: [date, (record: Readonly<Record<U, number>>) => formatTime(record[updated])],
  } as const;
}

/** Reads a field that RAGFlow has and this server has not. */
export const none = (): null => null;

/** A time as RAGFlow writes it, in UTC: `2026-11-21T09:30:00`. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}
