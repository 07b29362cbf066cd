import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { KnowledgeHits } from '../../../src/knowledge/base/retrieval.js';
import { indexCollection } from '../../../src/knowledge/evaluation/evaluate-collection.js';
import { readCollection } from '../../../src/knowledge/evaluation/read-collection.js';
import type { KnowledgeSearch } from '../../../src/knowledge/knowledge-search.js';
import { createScriptedPlanner, readScripts } from '../../../src/research/evaluation/scripted-planner.js';

/** The folder with the collection of an invented world. */
export const WORLD = path.resolve(import.meta.dirname, '../../../examples/research');

/** Its questions with their steps. */
export const SCRIPTS = readScripts(readFileSync(path.join(WORLD, 'steps.jsonl'), 'utf8'));

/** The world in an index, and the planner that plays its steps. */
export async function openWorld() {
  const collection = await readCollection(WORLD);
  const indexed = await indexCollection(collection);
  const texts = new Map(collection.documents.map(({ id, text }) => [id, text]));
  return { indexed, planner: createScriptedPlanner(SCRIPTS, texts) };
}

/** The world as the datasets of a server: each document is one passage. */
export function knowledgeOf({ indexed }: Pick<Awaited<ReturnType<typeof openWorld>>, 'indexed'>): KnowledgeSearch {
  const documents = new Map(indexed.collection.documents.map((one) => [one.id, one]));
  return {
    async search({ question, pageSize = 10 }, signal) {
      const found = await indexed.index.search({ question, limit: pageSize }, signal);
      const hits = found.flatMap(({ id, similarity }) => {
        const one = documents.get(id);
        if (one === undefined) return [];
        const chunk = {
          id,
          datasetId: 'world',
          documentId: id,
          text: one.text,
          index: 0,
          start: null,
          end: null,
          page: null,
          positions: [],
        };
        return [{ chunk, document: { id, name: one.title, metadata: {} }, similarity, scores: {} }];
      });
      return { hits, total: hits.length, documents: [] } as unknown as KnowledgeHits;
    },
  };
}
