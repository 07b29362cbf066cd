import type { Fragment, Statements } from './database.js';
import { isStorable } from './well-formed.js';

/**
 * What a column is compared with that may have any of these values: `id = ${anyOf(sql, ids)}`. Lists travel as JSON. Texts that Postgres cannot hold are left out, as no
 * row has them.
 *
 * An array, which an index is asked for value by value; of a set, Postgres would read the whole table as long as it takes that to be small.
 */
export function anyOf(sql: Statements, values: readonly string[]): Fragment {
  return sql`any (array (select json_array_elements_text(${JSON.stringify(values.filter(isStorable))}::json)))`;
}
