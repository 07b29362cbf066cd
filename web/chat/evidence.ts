/** What an answer cites, whether a chat or a canvas with retrieval gave it. */

import type { RunPicture } from '../../src/canvas/picture/picture.js';
import { isJsonObject, type Json } from '../../src/json.js';

/** A source as a screen shows it. */
export interface CitedSource {
  /** Name of the document or tool. */
  readonly source: string;
  readonly text: string;
  readonly kind: string;
  readonly score?: number;
  readonly url?: string;
  readonly page?: number;
}

/** Sources by the number with which the answer of a run cites them. */
export function citedOf(picture: RunPicture): ReadonlyMap<string, CitedSource> {
  const cited = new Map<string, CitedSource>();
  for (const part of picture.answer.parts) {
    for (const [n, source] of chunksOf(part.ending?.reference)) cited.set(n, source);
  }
  for (const node of picture.nodes.values()) {
    for (const { chat } of node.activations) {
      for (const { n, source, text, type, score, url, page } of chat?.evidence ?? []) {
        cited.set(String(n), {
          source,
          text,
          kind: type,
          ...(typeof score === 'number' && { score }),
          ...(typeof url === 'string' && { url }),
          ...(typeof page === 'number' && { page }),
        });
      }
    }
  }
  return cited;
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
