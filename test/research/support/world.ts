import { readFileSync } from 'node:fs';
import path from 'node:path';
import { indexCollection } from '../../../src/knowledge/evaluation/evaluate-collection.js';
import { readCollection } from '../../../src/knowledge/evaluation/read-collection.js';
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
