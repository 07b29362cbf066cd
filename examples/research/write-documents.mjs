/** Writes the documents of this world as files, to be a dataset: `node examples/research/write-documents.mjs FOLDER`. Each has the name of its passage, by which its steps know it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Usage: node examples/research/write-documents.mjs FOLDER');
  process.exit(2);
}
const lines = readFileSync(new URL('corpus.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter(Boolean);
mkdirSync(folder, { recursive: true });
for (const line of lines) {
  const { id, title, text } = JSON.parse(line);
  writeFileSync(path.join(folder, `${id}.md`), `# ${title}\n\n${text}\n`);
}
console.log(`${lines.length} documents are in ${folder}`);
