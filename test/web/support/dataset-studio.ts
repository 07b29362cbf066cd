/** The studio of a server with datasets in memory, whose documents are parsed in this process. */
import { readFile } from 'node:fs/promises';
import PdfDocument from 'pdfkit';
import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { createGraphBuilds } from '../../../src/ingestion/graph/run-builds.js';
import { runIngestions } from '../../../src/ingestion/run-ingestions.js';
import type { FindChat } from '../../../src/ingestion/work.js';
import { createKnowledgeBase, type KnowledgeBase } from '../../../src/knowledge/base/knowledge-base.js';
import { createKnowledgeSearch } from '../../../src/knowledge/base/search-datasets.js';
import { createSearchIndexes } from '../../../src/knowledge/base/search-indexes.js';
import { createMemoryIndexStorage } from '../../../src/knowledge/search/memory-index-storage.js';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import { type OpenedStudio, openStudio, type StudioOptions } from './studio.js';

export interface DatasetStudio extends OpenedStudio {
  readonly base: KnowledgeBase;
  /** Calls the API; gives its data. */
  ask(method: string, path: string, body?: unknown): Promise<Answer>;
  /** A new dataset; gives its id. */
  dataset(name: string, given?: object): Promise<string>;
  /** Uploads and parses a file; gives the id of its document. */
  ingest(dataset: string, name: string, content: string | Uint8Array<ArrayBuffer>): Promise<string>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
type Answer = any;

export interface DatasetStudioOptions extends StudioOptions {
  /** Whether documents are parsed. @default true */
  readonly parses?: boolean;
  /** The model that reads chunks for graphs. @default none is configured */
  readonly chat?: FindChat;
}

export async function openDatasets({
  parses = true,
  chat,
  services,
  ...options
}: DatasetStudioOptions = {}): Promise<DatasetStudio> {
  const memory = createMemoryStores();
  const base = createKnowledgeBase({
    store: await memory.openKnowledge(),
    files: memory.files,
    indexes: createSearchIndexes({ storage: createMemoryIndexStorage() }),
    graphs: 'here',
  });
  const builds = createGraphBuilds({ parts: base.parts, graphs: base.graphs, ...(chat && { chat }) });
  if (parses) {
    const work = runIngestions({ parts: base.parts }).subscribe();
    work.add(builds.run().subscribe());
    onTestFinished(() => work.unsubscribe());
  }
  const studio = await openStudio({
    stores: memory,
    openKnowledge: async () => base,
    openGraphBuilds: async () => builds,
    services: { knowledge: createKnowledgeSearch(async () => base, 'default'), ...services },
    ...options,
  });
  const ask: DatasetStudio['ask'] = async (method, path, body) => {
    const { body: answer } = await studio.server.call(method, `/api/v1${path}`, body);
    if (answer.code !== 0) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.data;
  };
  return {
    ...studio,
    base,
    ask,
    dataset: async (name, given = {}) => (await ask('POST', '/datasets', { name, ...given })).id,
    async ingest(dataset, name, content) {
      const form = new FormData();
      form.append('file', new Blob([content]), name);
      const address = `${studio.server.url}/api/v1/datasets/${dataset}/documents`;
      const { data } = (await (await fetch(address, { method: 'POST', body: form })).json()) as Answer;
      const { id } = data[0];
      const ended = new Promise<void>((resolve) => {
        const told = base.parts.hub.progress$.subscribe(({ documentId, run }) => {
          if (documentId !== id || run === 'RUNNING') return;
          told.unsubscribe();
          resolve();
        });
      });
      await ask('POST', `/datasets/${dataset}/documents/parse`, { document_ids: [id] });
      await ended;
      return id;
    },
  };
}

const FONT = '../../../node_modules/@expo-google-fonts/noto-sans-sc/400Regular/NotoSansSC_400Regular.ttf';

/** A PDF with a page for each text, also a Chinese one. */
export async function pdfOf(...pages: readonly string[]): Promise<Uint8Array<ArrayBuffer>> {
  const document = new PdfDocument({ autoFirstPage: false });
  document.font(await readFile(new URL(FONT, import.meta.url)));
  for (const page of pages) document.addPage().text(page);
  document.end();
  const chunks: Uint8Array[] = [];
  for await (const chunk of document) chunks.push(chunk as Uint8Array);
  return new Uint8Array(Buffer.concat(chunks));
}

/** Chooses files behind a button. */
export async function chooseFiles(
  page: Page,
  button: string,
  files: readonly { readonly name: string; readonly content: string | Uint8Array }[],
): Promise<void> {
  const choice = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: button }).click();
  await (await choice).setFiles(
    files.map(({ name, content }) => ({ name, mimeType: '', buffer: Buffer.from(content as Uint8Array) })),
  );
}
