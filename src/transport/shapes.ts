/** What answers have in common: shapes that describe them, and times as RAGFlow writes them. */
import { z } from 'zod';
import type { Json, JsonObject } from '../json.js';

export const string = z.string();
export const anyObject = z.looseObject({});
export const whole = z.number().int();
export const milliseconds = z.number().int().describe('Milliseconds since 1970.');
export const date = string.describe('A time as text, in UTC.');

/** A record as the API gives it: each field with its description and how it is read. */
export interface View<R, A extends readonly unknown[], F extends Fields<R, A>> {
  readonly fields: F;
  readonly shape: z.ZodObject<{ -readonly [K in keyof F]: F[K][0] }, z.core.$loose>;
  readonly of: (record: R, ...about: A) => JsonObject;
}

type Fields<R, A extends readonly unknown[]> = Readonly<
  Record<string, readonly [shape: z.ZodType, read: (record: R, ...about: A) => unknown]>
>;

/** Declares how records `R` are given; `A` is what a view needs beside the record. A field that is undefined is left out. */
export function defineView<R, A extends readonly unknown[] = []>() {
  return <F extends Fields<R, A>>(fields: F): View<R, A, F> => {
    const entries = Object.entries(fields);
    const shapes = Object.fromEntries(entries.map(([name, [shape]]) => [name, shape]));
    return {
      fields,
      shape: z.looseObject(shapes) as unknown as View<R, A, F>['shape'],
      of: (record, ...about) =>
        Object.fromEntries(entries.map(([name, [, read]]) => [name, read(record, ...about) as Json])),
    };
  };
}

/** Fields for when a record was created and changed, in both of RAGFlow's forms. */
export function timeFields<R>(created: (record: R) => number, updated: (record: R) => number) {
  return {
    create_time: [milliseconds, created],
    create_date: [date, (record: R) => formatTime(created(record))],
    update_time: [milliseconds, updated],
    update_date: [date, (record: R) => formatTime(updated(record))],
  } as const;
}

/** Reads a field that RAGFlow has and this server has not. */
export const none = (): null => null;

/** A time as RAGFlow writes it, in UTC: `2026-11-21T09:30:00`. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}
