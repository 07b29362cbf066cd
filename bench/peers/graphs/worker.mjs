/**
 * Measures one peer of this platform: `node worker.mjs <peer> <file> <url of the model server>`; prints one line of JSON.
 *
 * The file has `{documents: [{id, text}], questions: [{id, text}], deleted, asked: [ids of questions]}`; questions are asked once, those of `asked` again
 * when the document is deleted.
 */
import { readFileSync } from 'node:fs';
import { phase } from './phase.mjs';

const [peer, file, url] = process.argv.slice(2);
const { documents, questions, deleted, asked } = JSON.parse(readFileSync(file, 'utf8'));
const { open } = await import(`./${peer}.mjs`);
const system = await open(url);
const indexed = await phase(url, () => system.index(documents));
const answered = await phase(url, () => findAll(questions));
const removal = await phase(url, () => system.remove(deleted));
const again = await findAll(questions.filter(({ id }) => asked.includes(id)));
console.log(
  JSON.stringify({
    index: indexed.spent,
    ask: answered.spent,
    remove: removal.spent,
    found: answered.result,
    // These peers have passages in their graphs, and no names.
    before: { names: [], pairs: [] },
    after: { names: [], pairs: [], found: again },
  }),
);

async function findAll(asking) {
  const found = {};
  for (const { id, text } of asking) found[id] = await system.find(text);
  return found;
}
