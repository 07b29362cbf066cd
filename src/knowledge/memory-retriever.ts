/** An index in the memory of this process, for a few thousand passages: built with the first search, then reused. */
import { createHash } from 'node:crypto';
import { EngineError } from '../errors.js';
import { estimateTokens } from '../models/estimate-tokens.js';
import { createKeywordIndex, type KeywordIndex } from './keyword-index.js';
import type { RetrievalRequest, RetrievedPassage, Retriever } from './retriever.js';

/** Estimated tokens that a passage aims at; RAGFlow's default chunk size. */
const PASSAGE_TOKENS = 512;

/** Longest piece without a break that is not cut, in UTF-16 units. */
const MAX_PIECE = 2_000;

/** A document to be found. */
export interface IndexedDocument {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** Documents that are searched together. */
export interface IndexedDataset {
  readonly id: string;
  readonly name: string;
  /** Changes with its documents, which are then read again. */
  readonly version: string;
  /** Read when the dataset is first searched. */
  documents(): Promise<readonly IndexedDocument[]>;
}

interface Entry {
  readonly id: string;
  readonly content: string;
  readonly document: IndexedDocument;
}

interface Index {
  readonly words: KeywordIndex;
  readonly entries: ReadonlyMap<string, Entry>;
}

/**
 * Makes a retriever over datasets. Ranks by BM25; `similarity` is the share of the question's words that a passage holds, rare
 * words counting more. Graphs and filters need a knowledge base and are refused; what only orders or widens a search (reranking,
 * other languages, tables of contents) is left out.
 *
 * Errors of `search`: `NOT_FOUND` for a dataset, with `advice` (default none) on what to do about it, `CONFIG_INVALID` for what it cannot do.
 */
export function createMemoryRetriever(list: () => Promise<readonly IndexedDataset[]>, advice = ''): Retriever {
  /** By dataset; only its newest version is stored. */
  const indexes = new Map<string, { readonly version: string; readonly index: Promise<Index> }>();
  const indexOf = (dataset: IndexedDataset): Promise<Index> => {
    const { id, version } = dataset;
    const known = indexes.get(id);
    if (known?.version === version) return known.index;
    const index = build(dataset);
    indexes.set(id, { version, index });
    // The next search tries again.
    index.catch(() => indexes.delete(id));
    return index;
  };
  return {
    async datasets() {
      return (await list()).map(({ name }) => name);
    },
    async search(request, signal) {
      refuseUnsupported(request);
      const datasets = await list();
      for (const id of indexes.keys()) if (!datasets.some((dataset) => dataset.id === id)) indexes.delete(id);
      const found: RetrievedPassage[] = [];
      for (const wanted of request.datasets) {
        const dataset = datasets.find(({ id, name }) => id === wanted || name === wanted);
        if (dataset === undefined) throw unknownDataset(wanted, datasets, advice);
        const index = await indexOf(dataset);
        signal.throwIfAborted();
        const terms = await index.words.termsOf(request.question);
        signal.throwIfAborted();
        found.push(...lookUp(index, dataset, { ...request, terms }));
      }
      return found.sort((a, b) => b.similarity - a.similarity).slice(0, request.topN);
    },
  };
}

/** The error for an unknown dataset, as RAGFlow phrases it. */
function unknownDataset(
  wanted: string,
  datasets: readonly Pick<IndexedDataset, 'name'>[],
  advice: string,
): EngineError {
  const names = datasets.map(({ name }) => name).join(', ') || 'none';
  return new EngineError(
    'NOT_FOUND',
    `Dataset(${wanted}) does not exist. There are: ${names}.${advice && ` ${advice}`}`,
  );
}

function refuseUnsupported({ useGraph, filter }: RetrievalRequest): void {
  const { method = 'disabled' } = filter;
  const isFiltered = method !== 'disabled' && method !== '';
  if (!useGraph && !isFiltered) return;
  const what = useGraph ? 'graph of knowledge ("use_kg")' : 'metadata to filter by ("meta_data_filter")';
  throw new EngineError(
    'CONFIG_INVALID',
    `The index of this process has no ${what}; switch it off, or set RAGFLOW_BASE_URL to a RAGFlow server that has.`,
  );
}

async function build(dataset: IndexedDataset): Promise<Index> {
  const words = createKeywordIndex();
  const documents = await dataset.documents();
  const entries = new Map<string, Entry>();
  for (const document of documents) {
    for (const [position, content] of passagesOf(document.text).entries()) {
      const id = createHash('sha1').update(`${dataset.id}/${document.id}/${position}/${content}`).digest('hex');
      entries.set(id, { id, content, document });
    }
  }
  await words.add([...entries.values()].map(({ id, content, document: { name } }) => ({ id, content, name })));
  return { words, entries };
}

function lookUp(
  { words, entries }: Index,
  dataset: IndexedDataset,
  request: RetrievalRequest & { readonly terms: readonly string[] },
): RetrievedPassage[] {
  return words.search(request).flatMap(({ id, similarity }): RetrievedPassage[] => {
    const entry = entries.get(id);
    if (entry === undefined || similarity < request.similarityThreshold) return [];
    const { content, document } = entry;
    const record = { dataset_id: dataset.id, vector_similarity: 0, term_similarity: similarity };
    const from = { documentId: document.id, documentName: document.name, datasetId: dataset.id };
    return [{ id: entry.id, content, ...from, similarity, record }];
  });
}

/** Cuts a text into passages of about 512 tokens, between paragraphs where it can, else between sentences or words. */
export function passagesOf(text: string): string[] {
  const passages: string[] = [];
  let current = '';
  let tokens = 0;
  const close = (): void => {
    if (current.trim() !== '') passages.push(current.trim());
    current = '';
    tokens = 0;
  };
  for (const piece of piecesOf(text)) {
    const cost = estimateTokens(piece);
    if (tokens > 0 && tokens + cost > PASSAGE_TOKENS) close();
    current += piece;
    tokens += cost;
  }
  close();
  return passages;
}

/** Paragraphs with the space behind them; long ones cut at the last sentence end or space before the limit. */
function* piecesOf(text: string): Generator<string> {
  let from = 0;
  while (from < text.length) {
    const end = text.indexOf('\n\n', from);
    const to = end === -1 ? text.length : end + 2;
    if (to - from <= MAX_PIECE) {
      yield text.slice(from, to);
      from = to;
      continue;
    }
    const part = text.slice(from, from + MAX_PIECE);
    const cut = Math.max(part.lastIndexOf('. '), part.lastIndexOf('。'), part.lastIndexOf('\n'), part.lastIndexOf(' '));
    const length = cut > MAX_PIECE / 2 ? cut + 1 : MAX_PIECE;
    yield text.slice(from, from + length);
    from += length;
  }
}
