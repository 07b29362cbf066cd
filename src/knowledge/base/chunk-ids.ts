/** Ids of chunks, and passages that chunks are in an index. */
import { createHash } from 'node:crypto';
import type { ChunkRecord, DocumentRecord } from '../../records/knowledge.js';
import type { Passage } from '../search/passage.js';

/** Digits of an id: 128 bits. */
const ID_DIGITS = 32;

/**
 * Gives ids to the chunks of a document, in their order: made of the document, the text, and how many of the same text came before. So a text
 * that did not change has its id again, and an ingestion that is done twice makes no chunk twice.
 */
export function chunkIds(documentId: string): (text: string) => string {
  const counts = new Map<string, number>();
  return (text) => {
    const digest = createHash('sha256').update(`${documentId}\0${text}`).digest('hex').slice(0, ID_DIGITS);
    const count = counts.get(digest) ?? 0;
    counts.set(digest, count + 1);
    return count === 0 ? digest : createHash('sha256').update(`${digest}\0${count}`).digest('hex').slice(0, ID_DIGITS);
  };
}

/** What is searched of a chunk. */
export function passageOf(
  { id: documentId, name, isEnabled, metadata }: Pick<DocumentRecord, 'id' | 'name' | 'isEnabled' | 'metadata'>,
  chunk: ChunkRecord,
): Passage {
  const { id, text, context, headings, keywords, questions, isAvailable } = chunk;
  return {
    id,
    documentId,
    title: [name.replace(/\.[a-z0-9]{1,10}$/i, ''), ...headings].join(' > '),
    text: context === '' ? text : `${context}\n${text}`,
    keywords,
    questions,
    metadata,
    available: isAvailable && isEnabled,
  };
}
