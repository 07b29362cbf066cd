import type { ChatMessage } from '../../models/messages.js';
import { invalidOption, requireOptions, requireWhole } from '../../operators/invalid-option.js';
import { componentFunction } from '../component-function.js';
import type { DocumentRetriever, RetrieveFunction, WaitOptions } from '../ports.js';
import { requireText } from '../require-input.js';
import { sideBySide } from '../side-by-side.js';
import { type AskedModel, askText, linesOfAnswer } from './ask-lines.js';
import { type FuseFunction, firstPlaces } from './fuse.js';

/** Gives other wordings of a query. */
export type RewriteFunction = (query: string, options: WaitOptions) => readonly string[] | Promise<readonly string[]>;

/** Rewriting by a model. */
export interface RewriteByModel extends AskedModel {
  /** What the model is asked. @default asks for three wordings, one a line */
  readonly prompt?: (query: string) => readonly ChatMessage[];
  /** Reads the answer. @default its lines, without the marks of a list */
  readonly parse?: (answer: string) => readonly string[];
}

/** How a query is rewritten and its answers are joined. */
export interface MultiQueryOptions {
  readonly retriever: RetrieveFunction;
  /** A function, or a model. */
  readonly rewrite: RewriteFunction | RewriteByModel;
  /** Whether the query itself is asked, too, and first. @default true */
  readonly includeOriginal?: boolean;
  /** Queries at most, the original one counted in; further rewrites are left out. @default 5 */
  readonly maxQueries?: number;
  /** Searches at once. @default all */
  readonly concurrency?: number;
  /** Joins what was found. @default each document once, in the order of the queries */
  readonly fuse?: FuseFunction;
  /** Documents at most after joining. @default all that were found */
  readonly limit?: number;
  /** @default 'multiQuery' */
  readonly name?: string;
}

const OPTIONS = ['retriever', 'rewrite', 'includeOriginal', 'maxQueries', 'concurrency', 'fuse', 'limit', 'name'];

/**
 * A retriever that asks several wordings of a query side by side and joins what they find.
 *
 * Wordings are trimmed; empty and equal ones are asked once. Where rewriting gives none, the query itself is asked. Options of the call
 * (`topK`, `filter` …) are those of every search. The first failure is that of the call, and ends the other searches.
 *
 * Errors of a call: those of the model, the function and the retriever.
 *
 * @throws EngineError OPTION_INVALID.
 */
export function multiQuery(options: MultiQueryOptions): DocumentRetriever {
  requireOptions('multiQuery', options, OPTIONS);
  if (typeof options.retriever !== 'function')
    throw invalidOption('multiQuery', 'retriever', 'a function', options.retriever);
  const {
    retriever,
    includeOriginal = true,
    maxQueries = 5,
    fuse = firstPlaces(),
    limit,
    name = 'multiQuery',
  } = options;
  const { concurrency = maxQueries } = options;
  requireWhole('multiQuery', 'maxQueries', maxQueries, 1);
  requireWhole('multiQuery', 'concurrency', concurrency, 1);
  if (limit !== undefined) requireWhole('multiQuery', 'limit', limit, 1);
  if (typeof retriever !== 'function') throw invalidOption('multiQuery', 'retriever', 'a retriever', retriever);
  const rewrite = rewriter(options.rewrite);
  const retrieve: RetrieveFunction = async (query, call = {}) => {
    requireText(name, 'query', query);
    const { signal } = call;
    signal?.throwIfAborted();
    const rewritten = await rewrite(query, { signal });
    const queries = distinctQueries(includeOriginal ? [query, ...rewritten] : rewritten, query).slice(0, maxQueries);
    const lists = await sideBySide(
      queries,
      async (asked, own) => ({ name: asked, documents: await retriever(asked, { ...call, signal: own }) }),
      { concurrency, signal },
    );
    const fused = await fuse(lists, query);
    return fused.slice(0, limit);
  };
  return componentFunction(name, 'retriever', retrieve);
}

function rewriter(rewrite: MultiQueryOptions['rewrite']): RewriteFunction {
  if (typeof rewrite === 'function') return rewrite;
  if (typeof rewrite?.model?.chat !== 'function') {
    throw invalidOption('multiQuery', 'rewrite', 'a function, or an object with model and name', rewrite);
  }
  const { prompt = rewritePrompt, parse = linesOfAnswer } = rewrite;
  return async (query, { signal }) => parse(await askText(rewrite, prompt(query), signal));
}

function distinctQueries(written: readonly string[], query: string): string[] {
  const queries = [...new Set(written.map((one) => one.trim()).filter((one) => one !== ''))];
  return queries.length === 0 ? [query] : queries;
}

function rewritePrompt(query: string): readonly ChatMessage[] {
  const content =
    'You prepare searches in a collection of documents. Write three other wordings of the search you are given: with synonyms, more general, ' +
    'more specific. Keep its language and its names. Answer with the three wordings alone, one per line.';
  return [
    { role: 'system', content },
    { role: 'user', content: query },
  ];
}
