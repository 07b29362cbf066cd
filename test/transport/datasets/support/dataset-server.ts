/** A server with a knowledge base in memory, whose documents are parsed in this process. */
import { onTestFinished } from 'vitest';
import { graphModelOf } from '../../../../src/ingestion/graph/graph-model-of.js';
import { createGraphBuilds } from '../../../../src/ingestion/graph/run-builds.js';
import { runIngestions } from '../../../../src/ingestion/run-ingestions.js';
import type { FindChat } from '../../../../src/ingestion/work.js';
import { createKnowledgeBase, type KnowledgeBase } from '../../../../src/knowledge/base/knowledge-base.js';
import { createSearchIndexes } from '../../../../src/knowledge/base/search-indexes.js';
import { createMemoryIndexStorage } from '../../../../src/knowledge/search/memory-index-storage.js';
import { createMemoryStores } from '../../../../src/stores/memory-stores.js';
import { type Answer, startServer, type TestServer, type TestServerOptions } from '../../support/server.js';

export const ACME = { authorization: 'Bearer one-of-acme-long-key' };
export const OTHER = { authorization: 'Bearer one-of-other-long-key' };

const ENV = { RUNNEL_API_KEYS: 'acme=one-of-acme-long-key,other=one-of-other-long-key' };

export interface DatasetServer extends TestServer {
  readonly base: KnowledgeBase;
  /** Calls a path below the prefix of the API, as acme. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer['body']>;
  /** A new dataset; gives its id. */
  dataset(name?: string, given?: object): Promise<string>;
  /** Uploads files, by their names; gives the answer. */
  upload(datasetId: string, files: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>): Promise<Answer['body']>;
  /** Uploads and parses one text; gives the id of its document. */
  ingest(datasetId: string, name: string, text: string): Promise<string>;
}

export interface DatasetServerOptions extends TestServerOptions {
  /** Whether documents are parsed. @default true */
  readonly parses?: boolean;
  /** Models that graphs are built and searched with. @default none */
  readonly chat?: FindChat;
}

export async function startDatasets({
  parses = true,
  env = {},
  chat,
  ...options
}: DatasetServerOptions = {}): Promise<DatasetServer> {
  const memory = createMemoryStores();
  const base = createKnowledgeBase({
    store: await memory.openKnowledge(),
    files: memory.files,
    indexes: createSearchIndexes({ storage: createMemoryIndexStorage() }),
    graphs: 'here',
    graphModels: (tenant, id) => {
      const choice = chat?.(tenant, id);
      return choice && graphModelOf(choice);
    },
  });
  const builds = createGraphBuilds({ parts: base.parts, graphs: base.graphs, chat });
  if (parses) {
    const work = runIngestions({ parts: base.parts }).subscribe();
    work.add(builds.run().subscribe());
    onTestFinished(() => work.unsubscribe());
  }
  const server = await startServer({
    env: { ...ENV, ...env },
    stores: memory,
    openKnowledge: async () => base,
    openGraphBuilds: async () => builds,
    ...options,
  });
  const ask: DatasetServer['ask'] = async (method, path, body, headers = ACME) =>
    (await server.call(method, `/api/v1${path}`, body, headers)).body;
  const upload: DatasetServer['upload'] = async (datasetId, files) => {
    const form = new FormData();
    for (const [name, content] of Object.entries(files)) form.append('file', new Blob([content]), name);
    const init = { method: 'POST', headers: ACME, body: form };
    return (await fetch(`${server.url}/api/v1/datasets/${datasetId}/documents`, init)).json();
  };
  return {
    ...server,
    base,
    ask,
    upload,
    dataset: async (name = 'one', given = {}) => (await ask('POST', '/datasets', { name, ...given })).data.id,
    async ingest(datasetId, name, text) {
      const { data } = await upload(datasetId, { [name]: text });
      const { id } = data[0];
      const ended = whenEnded(base, id);
      await ask('POST', `/datasets/${datasetId}/chunks`, { document_ids: [id] });
      await ended;
      return id;
    },
  };
}

/** Resolves when a document is told of as searchable or failed. */
export function whenEnded({ parts }: KnowledgeBase, id: string): Promise<void> {
  return new Promise((resolve) => {
    const told = parts.hub.progressOf('acme').subscribe(({ documentId, run }) => {
      if (documentId !== id || run === 'RUNNING') return;
      told.unsubscribe();
      resolve();
    });
  });
}
