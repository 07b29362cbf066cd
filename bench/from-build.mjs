/**
 * Lets benchmarks measure what is published: their imports of `src` give the built files of `dist`, and the queries of postgres.js are as the build makes them.
 * The loader that runs TypeScript keeps the names of functions by naming each one whenever it is made, which costs a round of an agent a quarter of its
 * processor time.
 */
import { register } from 'node:module';
import { passingQueries } from '../scripts/passing-queries.ts';

const hooks = `
const SOURCE = /^(?:\\.\\.\\/)+src\\//;
let queries;
export function initialize(data) {
  queries = data.queries;
}
export function resolve(specifier, context, next) {
  const isOwn = !(context.parentURL ?? '').includes('/node_modules/');
  return next(isOwn && SOURCE.test(specifier) ? specifier.replace('src/', 'dist/') : specifier, context);
}
export function load(url, context, next) {
  if (!url.endsWith('/postgres/src/query.js')) return next(url, context);
  return { format: 'module', source: queries, shortCircuit: true };
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`, { data: { queries: passingQueries() } });
