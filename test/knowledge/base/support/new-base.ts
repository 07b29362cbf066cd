/** A knowledge base in memory whose documents are parsed in this process. */
import { firstValueFrom, type Subscription } from 'rxjs';
import { onTestFinished } from 'vitest';
import { type IngestionOptions, runIngestions } from '../../../../src/ingestion/run-ingestions.js';
import {
  createKnowledgeBase,
  type KnowledgeBase,
  type KnowledgeBaseOptions,
} from '../../../../src/knowledge/base/knowledge-base.js';
import type { DocumentRecord } from '../../../../src/records/knowledge.js';
import { createMemoryFiles } from '../../../../src/stores/memory-files.js';
import { createMemoryKnowledge } from '../../../../src/stores/memory-knowledge.js';
import { createFakeIndexes, type FakeIndexes } from './fake-indexes.js';

export const TENANT = 'tenant';

export interface TestBase {
  readonly base: KnowledgeBase;
  readonly indexes: FakeIndexes;
  /** Begins to parse what waits; ends with the test. */
  start(options?: Partial<IngestionOptions>): Subscription;
  /** A new dataset; gives its id. */
  dataset(name?: string, change?: object): Promise<string>;
  /** Adds a text or bytes and puts it in line. */
  add(datasetId: string, name: string, content: string | Uint8Array): Promise<DocumentRecord>;
  /** Adds, and resolves when it is parsed or has failed. */
  ingest(datasetId: string, name: string, content: string | Uint8Array): Promise<DocumentRecord>;
  /** Resolves with the document when it does not run any more. */
  ended(id: string): Promise<DocumentRecord>;
  /** All chunks of a document, in order. */
  texts(documentId: string): Promise<readonly string[]>;
  /** Names and texts of what is found. */
  found(datasetId: string, question: string): Promise<readonly string[]>;
}

export function newBase(options: Partial<KnowledgeBaseOptions> = {}): TestBase {
  const indexes = (options.indexes as FakeIndexes | undefined) ?? createFakeIndexes();
  const base = createKnowledgeBase({
    store: createMemoryKnowledge(),
    files: createMemoryFiles(),
    ...options,
    indexes,
  });
  const { store, hub } = base.parts;
  const bytesOf = (content: string | Uint8Array) =>
    typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const ended = async (id: string): Promise<DocumentRecord> => {
    for (;;) {
      const next = firstValueFrom(hub.progressOf(TENANT));
      const document = await store.findDocument(TENANT, id);
      if (document === undefined) throw new Error(`Document ${id} is gone.`);
      if (document.run !== 'RUNNING') {
        next.catch(() => {});
        return document;
      }
      await next;
    }
  };
  const add = async (datasetId: string, name: string, content: string | Uint8Array): Promise<DocumentRecord> => {
    const { document } = await base.documents.add(TENANT, datasetId, { name, content: [bytesOf(content)] });
    await base.documents.parse(TENANT, datasetId, [document.id]);
    return document;
  };
  return {
    base,
    indexes,
    add,
    ended,
    start(more = {}) {
      const errors: unknown[] = [];
      const subscription = runIngestions({
        parts: base.parts,
        onError: (error) => errors.push(error),
        ...more,
      }).subscribe();
      onTestFinished(() => {
        subscription.unsubscribe();
        if (errors.length > 0) throw errors[0];
      });
      return subscription;
    },
    async dataset(name = 'docs', change = {}) {
      return (await base.datasets.create(TENANT, { name, ...change })).dataset.id;
    },
    ingest: async (datasetId, name, content) => ended((await add(datasetId, name, content)).id),
    async texts(documentId) {
      const { items } = await base.chunks.list(TENANT, { documentId, offset: 0, limit: 1_000 });
      return items.map(({ text }) => text);
    },
    async found(datasetId, question) {
      const query = { question, datasetIds: [datasetId], similarityThreshold: 0 };
      const { hits } = await base.search(TENANT, query, new AbortController().signal);
      return hits.map(({ document, chunk }) => `${document.name}: ${chunk.text}`);
    },
  };
}
