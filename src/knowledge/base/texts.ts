/** Texts of documents as they were cut: stored once for equal bytes, and where they are. */
import { createHash } from 'node:crypto';
import { EngineError } from '../../errors.js';
import { isJsonObject, parseOwnJson } from '../../json.js';
import type { FileStore } from '../../records/files.js';
import type { DocumentRecord } from '../../records/knowledge.js';
import type { DocumentText } from './ports.js';

/** Changes when the same bytes are read as another text than before. */
const READER = 1;

/** The texts of documents, in the store of files. */
export interface DocumentTexts {
  /** Id of the text of bytes that are read by their name; the same for the same. */
  idOf(document: Pick<DocumentRecord, 'sha256' | 'suffix' | 'mimeType'>): string;
  /** Id of the text of one document, which is read in a way of its own. */
  ownIdOf(documentId: string): string;
  has(tenant: string, id: string): Promise<boolean>;
  /** @throws EngineError FILE_UNKNOWN when there is none. */
  read(tenant: string, id: string): Promise<DocumentText>;
  save(tenant: string, id: string, document: DocumentText, now: number): Promise<void>;
  delete(tenant: string, id: string): Promise<void>;
}

/** Texts of documents over a store of files. */
export function createDocumentTexts(files: FileStore): DocumentTexts {
  return {
    idOf({ sha256, suffix, mimeType }) {
      const how = createHash('sha256').update(`${READER}\0${suffix}\0${mimeType}\0${sha256}`).digest('hex');
      return `text-${how.slice(0, 32)}`;
    },
    ownIdOf: (documentId) => `text-of-${documentId}`,
    has: async (tenant, id) => (await files.open(tenant, id)) !== undefined,
    async read(tenant, id) {
      const file = await files.find(tenant, id);
      if (file === undefined)
        throw new EngineError('FILE_UNKNOWN', `The text "${id}" of a document is not stored any more.`);
      const value = parseOwnJson(new TextDecoder().decode(file.bytes));
      if (isJsonObject(value) && typeof value.text === 'string') return value as unknown as DocumentText;
      throw new EngineError('INTERNAL', `The text "${id}" of a document cannot be read; was it changed on disk?`);
    },
    async save(tenant, id, document, createdAt) {
      const bytes = new TextEncoder().encode(JSON.stringify(document));
      await files.save(tenant, {
        id,
        name: `${id}.json`,
        mimeType: 'application/json',
        bytes,
        createdAt,
        isKept: true,
      });
    },
    async delete(tenant, id) {
      await files.delete(tenant, id);
    },
  };
}
