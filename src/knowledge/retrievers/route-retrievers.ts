import { EngineError } from '../../errors.js';
import type { ChatMessage } from '../../models/messages.js';
import { invalidOption, requireObject, requireOptions, requireWhole } from '../../operators/invalid-option.js';
import { componentFunction } from '../component-function.js';
import type { DocumentRetriever, RetrieveFunction, WaitOptions } from '../ports.js';
import { requireText } from '../require-input.js';
import { sideBySide } from '../side-by-side.js';
import { type AskedModel, askText, linesOfAnswer } from './ask-lines.js';
import { type FuseFunction, reciprocalRank } from './fuse.js';

/** Names the retrievers that a query is for; an empty list for none. */
export type RouteFunction = (
  query: string,
  options: WaitOptions & { readonly names: readonly string[] },
) => readonly string[] | Promise<readonly string[]>;

/** Choosing by a model. */
export interface RouteByModel extends AskedModel {
  /** What each retriever is for, by name; the model reads it. */
  readonly about: Readonly<Record<string, string>>;
}

/** Which retrievers are asked, and how their answers are joined. */
export interface RouteRetrieversOptions {
  /** By name; at least one. */
  readonly retrievers: Readonly<Record<string, RetrieveFunction>>;
  /** A function, or a model. @default all are asked */
  readonly route?: RouteFunction | RouteByModel;
  /** Joins what was found. @default reciprocal rank fusion with k = 60 */
  readonly fuse?: FuseFunction;
  /** Searches at once. @default all */
  readonly concurrency?: number;
  /** Documents at most after joining. @default all that were found */
  readonly limit?: number;
  /** @default 'routeRetrievers' */
  readonly name?: string;
}

const OPTIONS = ['retrievers', 'route', 'fuse', 'concurrency', 'limit', 'name'];

/**
 * A retriever that asks some of several retrievers side by side and joins what they find.
 *
 * Without a rule all are asked. A function that names none finds nothing. A model that names none of them is no reason to find nothing: then
 * all are asked. Options of the call (`topK`, `filter` …) are those of every search. The first failure is that of the call, and ends the other
 * searches.
 *
 * Errors of a call: `NOT_FOUND` for a name that the function made up, and those of the rule and the retrievers.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function routeRetrievers(options: RouteRetrieversOptions): DocumentRetriever {
  requireOptions('routeRetrievers', options, OPTIONS);
  requireObject('routeRetrievers', 'retrievers', options.retrievers, 'an object of retrievers by name');
  const { fuse = reciprocalRank(), limit, name = 'routeRetrievers' } = options;
  const retrievers = new Map(Object.entries(options.retrievers));
  const names = [...retrievers.keys()];
  if (names.length === 0) throw invalidOption('routeRetrievers', 'retrievers', 'at least one retriever by name', '{}');
  const { concurrency = names.length } = options;
  requireWhole('routeRetrievers', 'concurrency', concurrency, 1);
  if (limit !== undefined) requireWhole('routeRetrievers', 'limit', limit, 1);
  const route = router(options.route, names);
  const retrieve: RetrieveFunction = async (query, call = {}) => {
    requireText(name, 'query', query);
    const { signal } = call;
    signal?.throwIfAborted();
    const chosen = [...new Set(await route(query, { signal, names }))];
    const asked = chosen.map((one): readonly [string, RetrieveFunction] => {
      const retriever = retrievers.get(one);
      if (retriever === undefined) throw unknownRetriever(name, one, names);
      return [one, retriever];
    });
    const lists = await sideBySide(
      asked,
      async ([one, retriever], own) => ({ name: one, documents: await retriever(query, { ...call, signal: own }) }),
      { concurrency, signal },
    );
    if (lists.length === 0) return [];
    const fused = await fuse(lists, query);
    return fused.slice(0, limit);
  };
  return componentFunction(name, 'retriever', retrieve);
}

function router(route: RouteRetrieversOptions['route'], names: readonly string[]): RouteFunction {
  if (route === undefined) return () => names;
  if (typeof route === 'function') return route;
  if (typeof route?.model?.chat !== 'function') {
    throw invalidOption('routeRetrievers', 'route', 'a function, or an object with model, name and about', route);
  }
  for (const name of Object.keys(route.about ?? {})) {
    if (!names.includes(name)) throw invalidOption('routeRetrievers', 'route.about', names.join(', '), name);
  }
  return async (query, { signal }) => {
    const lines = linesOfAnswer(await askText(route, routePrompt(query, names, route.about), signal));
    const chosen = names.filter((name) => lines.some((line) => line.toLowerCase() === name.toLowerCase()));
    return chosen.length === 0 ? names : chosen;
  };
}

function routePrompt(
  query: string,
  names: readonly string[],
  about: Readonly<Record<string, string>> = {},
): readonly ChatMessage[] {
  const sources = names.map((name) => `- ${name}: ${Object.hasOwn(about, name) ? about[name] : 'no description'}`);
  const content = [
    'You choose where to search. There are these sources:',
    ...sources,
    'Answer with the names of the sources that may hold an answer to the search you are given, one per line, and nothing else.',
  ].join('\n');
  return [
    { role: 'system', content },
    { role: 'user', content: query },
  ];
}

function unknownRetriever(name: string, wanted: string, names: readonly string[]): EngineError {
  return new EngineError('NOT_FOUND', `"${name}" has no retriever "${wanted}". There are: ${names.join(', ')}.`);
}
