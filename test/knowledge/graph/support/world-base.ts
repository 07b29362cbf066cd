/** The invented world that the package ships, in a knowledge base with its graph built by links and rules. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { filter, firstValueFrom } from 'rxjs';
import { createGraphBuilds } from '../../../../src/ingestion/graph/run-builds.js';
import { runIngestions } from '../../../../src/ingestion/run-ingestions.js';
import { createKnowledgeBase, type KnowledgeBase } from '../../../../src/knowledge/base/knowledge-base.js';
import { createSearchIndexes } from '../../../../src/knowledge/base/search-indexes.js';
import { type Collection, readCollection } from '../../../../src/knowledge/evaluation/read-collection.js';
import { buildRequestSchema } from '../../../../src/knowledge/graph/build/build-options.js';
import { createMemoryIndexStorage } from '../../../../src/knowledge/search/memory-index-storage.js';
import { createMemoryFiles } from '../../../../src/stores/memory-files.js';
import { createMemoryKnowledge } from '../../../../src/stores/memory-knowledge.js';

export const WORLD_TENANT = 'tenant';
const WORLD = path.resolve(import.meta.dirname, '../../../../examples/research');

export interface WorldBase {
  readonly base: KnowledgeBase;
  readonly datasetId: string;
  readonly collection: Collection;
  /** Id in the collection of a document in the base. */
  readonly idOf: ReadonlyMap<string, string>;
  close(): Promise<void>;
}

/** Each document is named after its title and is one passage. */
export async function openWorldBase(): Promise<WorldBase> {
  const collection = await readCollection(WORLD);
  const base = createKnowledgeBase({
    store: createMemoryKnowledge(),
    files: createMemoryFiles(),
    indexes: createSearchIndexes({ storage: createMemoryIndexStorage() }),
    graphs: 'here',
  });
  const builds = createGraphBuilds({ parts: base.parts });
  const { id: datasetId } = (await base.datasets.create(WORLD_TENANT, { name: 'world' })).dataset;
  const idOf = new Map<string, string>();
  for (const { id, title, text } of collection.documents) {
    const name = `${title.replaceAll('/', ' ')}.md`;
    const content = [new TextEncoder().encode(text)];
    idOf.set((await base.documents.add(WORLD_TENANT, datasetId, { name, content })).document.id, id);
  }
  const left = new Set(idOf.keys());
  const all = firstValueFrom(
    base.parts.hub.progressOf(WORLD_TENANT).pipe(
      filter(({ documentId, run }) => {
        if (run !== 'RUNNING') left.delete(documentId);
        return left.size === 0;
      }),
    ),
  );
  const work = runIngestions({ parts: base.parts }).subscribe();
  await base.documents.parse(WORLD_TENANT, datasetId, [...idOf.keys()]);
  await all;
  const built = firstValueFrom(builds.run().pipe(filter(({ progress }) => progress.finishedAt !== null)));
  await builds.start(WORLD_TENANT, datasetId, buildRequestSchema.parse({}));
  await built;
  return {
    ...{ base, datasetId, collection, idOf },
    async close() {
      work.unsubscribe();
      await base.graphs.close();
    },
  };
}

/** The questions that have an answer, with the passages of all their steps. */
export function worldQuestions(): readonly { readonly question: string; readonly passages: readonly string[] }[] {
  const lines = readFileSync(path.join(WORLD, 'steps.jsonl'), 'utf8').trim().split('\n');
  const all = lines.map((line) => {
    const { question, steps } = JSON.parse(line) as { question: string; steps: { passages?: string[] }[] };
    return { question, passages: [...new Set(steps.flatMap(({ passages = [] }) => passages))] };
  });
  return all.filter(({ passages }) => passages.length > 0);
}
