/** What an answer cites, whether a chat or a canvas with retrieval gave it. */

import type { EvidencePicture, RunPicture } from '../../src/canvas/picture/picture.js';
import { isJsonObject, type Json, type JsonObject } from '../../src/json.js';

/** A source as a screen shows it. */
export interface CitedSource {
  /** Name of the document or tool. */
  readonly source: string;
  readonly text: string;
  readonly kind: string;
  readonly score?: number;
  readonly url?: string;
  /** Page of the document, from 1, that says it. */
  readonly page?: number;
  /** All pages that the text stands on. */
  readonly pages?: readonly number[];
  /** Each of several pages, and where it begins in the text. */
  readonly pageStarts?: readonly (readonly [page: number, start: number])[];
  /** What the score is made of, by name. */
  readonly scores?: Readonly<Record<string, number>>;
  /** Ranges of the text that were found; what is beside them are the passages next to them. */
  readonly found?: readonly (readonly [from: number, to: number])[];
  /** Address of the chunks in their document, where that is in a dataset. */
  readonly chunks?: string;
  /** Where it stands there. */
  readonly place?: PassagePlace;
  /** What a tool was called with. */
  readonly args?: JsonObject;
}

/** Chunks of a document, and the range of its text that a source has, in UTF-16 units. */
export interface PassagePlace {
  readonly dataset: string;
  readonly document: string;
  readonly chunks: readonly string[];
  readonly start: number;
  readonly end: number;
}

/** Sources by the number with which the answer of a run cites them. */
export function citedOf(picture: RunPicture): ReadonlyMap<string, CitedSource> {
  const cited = new Map<string, CitedSource>();
  for (const part of picture.answer.parts) {
    for (const [n, source] of chunksOf(part.ending?.reference)) cited.set(n, source);
  }
  for (const node of picture.nodes.values()) {
    for (const { chat } of node.activations) {
      for (const evidence of chat?.evidence ?? []) cited.set(String(evidence.n), citedSource(evidence));
    }
  }
  return cited;
}

/** A source of a chat's answer. */
function citedSource(evidence: EvidencePicture): CitedSource {
  const { source, text, type, score, url, page, scores, args } = evidence;
  const pages = numbersOf(evidence.pages ?? []);
  const pageStarts = pageStartsOf(evidence);
  const chunks = chunksAddress(evidence);
  const place = placeOf(evidence);
  const found = foundRanges(evidence);
  const parts = isJsonObject(scores)
    ? Object.fromEntries(
        Object.entries(scores).flatMap(([name, one]) => (typeof one === 'number' ? [[name, one]] : [])),
      )
    : {};
  return {
    source,
    text,
    kind: type,
    ...(typeof score === 'number' && { score }),
    ...(typeof url === 'string' && { url }),
    ...(typeof page === 'number' && { page }),
    ...(pages.length > 0 && { pages }),
    ...(pageStarts.length > 0 && { pageStarts }),
    ...(Object.keys(parts).length > 0 && { scores: parts }),
    ...(found.length > 0 && { found }),
    ...(chunks !== undefined && { chunks }),
    ...(place !== undefined && { place }),
    ...(isJsonObject(args) && { args }),
  };
}

function chunksAddress({ dataset_id: dataset, document_id: document, chunk_ids: ids }: EvidencePicture) {
  if (typeof dataset !== 'string' || typeof document !== 'string') return undefined;
  const chunks = idsOf(ids).join(',');
  const query = new URLSearchParams(chunks === '' ? {} : { chunk: chunks });
  return `/datasets/${encodeURIComponent(dataset)}/documents/${encodeURIComponent(document)}?${query}`;
}

function placeOf(evidence: EvidencePicture): PassagePlace | undefined {
  const { dataset_id: dataset, document_id: document, chunk_ids, start, end } = evidence;
  const chunks = idsOf(chunk_ids);
  if (typeof dataset !== 'string' || typeof document !== 'string' || chunks.length === 0) return undefined;
  if (typeof start !== 'number' || typeof end !== 'number') return undefined;
  return { dataset, document, chunks, start, end };
}

const idsOf = (ids: Json | undefined): readonly string[] =>
  Array.isArray(ids) ? ids.filter((id: Json) => typeof id === 'string') : [];

/** Places in the document become places in the text, where they lie in it. */
function foundRanges({ start, matches, text }: EvidencePicture): (readonly [number, number])[] {
  if (typeof start !== 'number' || !Array.isArray(matches)) return [];
  const ranges = matches.flatMap((match: Json): (readonly [number, number])[] => {
    if (!isJsonObject(match) || typeof match.start !== 'number' || typeof match.end !== 'number') return [];
    const [from, to] = [match.start - start, match.end - start];
    return from >= 0 && from < to && to <= text.length ? [[from, to]] : [];
  });
  return ranges.toSorted(([a], [b]) => a - b);
}

function pageStartsOf({ page_starts: starts, text }: EvidencePicture): (readonly [number, number])[] {
  return (Array.isArray(starts) ? starts : []).flatMap((one: Json): (readonly [number, number])[] => {
    const [page, start] = Array.isArray(one) ? one : [];
    return typeof page === 'number' && typeof start === 'number' && start <= text.length ? [[page, start]] : [];
  });
}

function numbersOf(value: Json): readonly number[] {
  return Array.isArray(value) ? value.filter((one: Json) => typeof one === 'number') : [];
}

/** Sources of a `reference` in RAGFlow's form: chunks as a list, cited by place, or by the name under which they are cited. */
export function chunksOf(reference: Json | undefined): readonly (readonly [string, CitedSource])[] {
  const chunks = isJsonObject(reference) ? reference.chunks : undefined;
  if (typeof chunks !== 'object' || chunks === null) return [];
  return Object.entries(chunks).flatMap(([name, chunk]) => {
    const source = sourceOf(chunk as Json);
    return source === undefined ? [] : [[name, source] as const];
  });
}

function sourceOf(chunk: Json): CitedSource | undefined {
  if (!isJsonObject(chunk)) return undefined;
  const { content, content_with_weight: weighted, document_name: named, docnm_kwd: document, similarity, url } = chunk;
  const text = textOf(content) ?? textOf(weighted);
  if (text === undefined) return undefined;
  return {
    source: textOf(named) ?? textOf(document) ?? '',
    text,
    kind: 'kb',
    ...(typeof similarity === 'number' && { score: similarity }),
    ...(typeof url === 'string' && url !== '' && { url }),
  };
}

const textOf = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);
