/** Questions whose answers stand in several documents: of a folder, or of the invented world of the tests. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readCollection } from '../../../src/knowledge/evaluation/read-collection.js';
import { inventedWorld } from '../../../test/knowledge/graph/support/invented-world.js';
import { graphOf, nameKey, pairKey } from './names.mjs';

/** Questions that are asked. */
const MOST_QUESTIONS = 100;
/** Documents of the invented world. */
const WORLD = 320;
const SEED = 1;

/**
 * The documents and at most 100 questions of a collection: `world` is the invented one, anything else a folder as `runnel eval` reads it. Questions in Chinese are left
 * out: the scripted model knows names by their capitals.
 */
export async function openCollection(name) {
  const { documents, questions } = name === 'world' ? inventedWorld(SEED, WORLD) : await readCollection(name);
  const readable = questions.filter(({ text }) => !/\p{Script=Han}/u.test(text));
  const asked = readable.slice(0, MOST_QUESTIONS).map(({ id, text, judged }) => ({
    id,
    text,
    gold: [...judged].filter(([, relevance]) => relevance > 0).map(([document]) => document),
  }));
  return { documents, questions: asked };
}

/** Writes a collection as `runnel eval` reads it. */
export function writeCollection({ documents, questions }, folder) {
  mkdirSync(folder, { recursive: true });
  const write = (file, lines) => writeFileSync(path.join(folder, file), `${lines.join('\n')}\n`);
  write(
    'corpus.jsonl',
    documents.map((document) => JSON.stringify(document)),
  );
  write(
    'queries.jsonl',
    questions.map(({ id, text }) => JSON.stringify({ id, text })),
  );
  const judged = questions.flatMap(({ id, gold }) => gold.map((document) => `${id}\t${document}\t1`));
  write('qrels.tsv', ['query\tdocument\trelevance', ...judged]);
}

/** A document as peers get it, who know no titles. */
export function textOf({ title, text }) {
  return `${title}\n\n${text}`;
}

/**
 * The document that is deleted: of those with a name that no other document has, the one that most questions need.
 *
 * @returns `{id, names, pairs, asked}`: keys of what only it says, and the ids of the questions that need it
 */
export function documentToDelete({ documents, questions }) {
  const said = documents.map((document) => ({ id: document.id, ...saidBy(textOf(document)) }));
  const own = (one, part) =>
    [...one[part]].filter((name) => said.every((other) => other === one || !other[part].has(name)));
  const [chosen] = said
    .map((one) => ({
      id: one.id,
      names: own(one, 'names'),
      pairs: own(one, 'pairs'),
      asked: questions.filter(({ gold }) => gold.includes(one.id)).map(({ id }) => id),
    }))
    .filter(({ names, asked }) => names.length > 0 && asked.length > 0)
    .sort((left, right) => right.asked.length - left.asked.length || right.pairs.length - left.pairs.length);
  if (chosen === undefined)
    throw new Error('No document that a question needs has a name of its own; take another collection.');
  return chosen;
}

function saidBy(text) {
  const { names, pairs } = graphOf(text);
  return {
    names: new Set(names.map(nameKey)),
    pairs: new Set(pairs.map(({ source, target }) => pairKey(source, target))),
  };
}
