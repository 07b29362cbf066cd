import type { Fragment, Statements } from './database.js';

/** Half of a pair of UTF-16 units, which no text of Postgres can be. */
const HALF = /\p{Surrogate}/u;

/** A list of texts as the values that a column may have: lists travel as JSON. Texts that Postgres cannot hold are left out, as no row has them. */
export function anyOf(sql: Statements, values: readonly string[]): Fragment {
  const stored = values.filter((value) => !value.includes('\0') && !HALF.test(value));
  return sql`(select json_array_elements_text(${JSON.stringify(stored)}::json))`;
}
