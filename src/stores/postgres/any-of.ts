import type { Fragment, Statements } from './database.js';
import { isStorable } from './well-formed.js';

/** A list of texts as the values that a column may have: lists travel as JSON. Texts that Postgres cannot hold are left out, as no row has them. */
export function anyOf(sql: Statements, values: readonly string[]): Fragment {
  return sql`(select json_array_elements_text(${JSON.stringify(values.filter(isStorable))}::json))`;
}
