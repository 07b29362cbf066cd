/** What is changed of postgres.js where the build bundles it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** The functions of a query; those of its cursors are indented further. */
const WRITTEN = /^ {4}this\.(resolve|reject) = (x => \(this\.active = false, (?:resolve|reject)\(x\)\))$/gm;

/** The module of postgres.js that makes queries. */
function queryModule(): string {
  return path.join(path.dirname(createRequire(import.meta.url).resolve('postgres')), '../../src/query.js');
}

/**
 * The text of the module that makes queries, so that they go with the next minor collection.
 *
 * Of postgres.js 3.4.9 each query has two functions that are written where they are assigned to a property. V8 takes those for methods and allocates them in
 * old space, from where they keep the query, its parameters and its rows until the next full collection (decision 142). Functions that are
 * named first are like any other.
 *
 * @throws Error when queries are made in another way
 */
export function passingQueries(text = readFileSync(queryModule(), 'utf8')): string {
  let found = 0;
  const changed = text.replaceAll(WRITTEN, (_, name: string, written: string) => {
    found += 1;
    return `    const ${name}Once = ${written}\n    this.${name} = ${name}Once`;
  });
  if (found !== 2) throw new Error('postgres.js makes queries in another way than scripts/passing-queries.ts knows.');
  return changed;
}
