/** What answers have in common: shapes that describe them, and times as RAGFlow writes them. */
import { z } from 'zod';

export const string = z.string();
export const anyObject = z.looseObject({});
export const milliseconds = z.number().int().describe('Milliseconds since 1970.');
export const date = string.describe('A time as text, in UTC.');

/** Shape of {@link timesOf}. */
export const timesShape = {
  create_time: milliseconds,
  create_date: date,
  update_time: milliseconds,
  update_date: date,
};

/** When a record was created and changed, in both of RAGFlow's forms. */
export function timesOf(createdAt: number, updatedAt: number) {
  return {
    create_time: createdAt,
    create_date: formatTime(createdAt),
    update_time: updatedAt,
    update_date: formatTime(updatedAt),
  };
}

/** A time as RAGFlow writes it, in UTC: `2026-11-21T09:30:00`. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}
