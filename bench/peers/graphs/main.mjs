/**
 * Runnel's graphs beside those of others, with a model that is a script: `npm run bench:graphs -- [folder | world]`. Prints the table that docs/benchmarks.md has.
 *
 * Every system gets the same documents and questions, in a process of its own. `PEERS_PYTHON` is a Python that has fast-graphrag; without it that peer is left out.
 * Exits with 1 when something of a deleted document remains in Runnel.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { documentToDelete, openCollection, textOf, writeCollection } from './collections.mjs';
import { startModelServer } from './model-server.mjs';
import { nameKey, pairKey } from './names.mjs';
import { measureRunnel } from './runnel.mjs';

const SHIPPED = fileURLToPath(new URL('../../../examples/research', import.meta.url));
const TIMEOUT_MS = 600_000;
const MAX_BYTES = 64 * 1_048_576;
const SHOWN = 8;
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const node = (peer) => ({ program: process.execPath, args: [here('worker.mjs'), peer] });
const PEERS = [
  { title: 'vectors alone', ...node('vectors') },
  { title: 'Mastra GraphRAG', ...node('mastra') },
  { title: 'fast-graphrag', program: process.env.PEERS_PYTHON, args: [here('fast_graphrag_worker.py')] },
];

const collection = await openCollection(process.argv[2] ?? SHIPPED);
const removal = documentToDelete(collection);
const given = { ...collection, deleted: removal.id, asked: removal.asked };
const folder = mkdtempSync(path.join(tmpdir(), 'runnel-graphs-'));
try {
  writeCollection(collection, path.join(folder, 'collection'));
  const rows = measureRunnel(given, path.join(folder, 'collection'), folder);
  const isKept = rows.some(({ result }) => remainsOf(result).some(({ after }) => after > 0));
  for (const peer of PEERS.filter(({ program }) => program !== undefined)) {
    rows.push({ title: peer.title, result: await measurePeer(peer) });
  }
  console.log(table(rows));
  if (isKept) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measurePeer({ program, args }) {
  const file = path.join(folder, 'given.json');
  const documents = collection.documents.map((document) => ({ id: document.id, text: textOf(document) }));
  writeFileSync(file, JSON.stringify({ ...given, documents }));
  const server = await startModelServer();
  try {
    const limits = { timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES };
    const { stdout } = await promisify(execFile)(program, [...args, file, server.url], limits);
    return JSON.parse(stdout.trim().split('\n').at(-1));
  } finally {
    server.close();
  }
}

function table(rows) {
  const { documents, questions } = collection;
  const hops = questions.filter(({ gold }) => gold.length > 1).length;
  const heading = ['', 'indexing: calls', 'tokens', 's', 'a question: calls', 'tokens', 'ms', `perfect@${SHOWN}`];
  const remains = ['names left', 'relations left', 'answers with it', 'deletion, s'];
  return [
    `${documents.length} documents, ${questions.length} questions, ${hops} of them over several documents; deleted: ${removal.id}`,
    '',
    `| ${[...heading, ...remains].join(' | ')} |`,
    `| --- | ${[...heading.slice(1), ...remains].map(() => '---:').join(' | ')} |`,
    ...rows.map(({ title, result }) => `| ${[title, ...cellsOf(result)].join(' | ')} |`),
  ].join('\n');
}

function cellsOf(result) {
  const { index, ask, remove, found } = result;
  const { questions } = collection;
  const each = (value) => format(value / questions.length);
  const perfect = questions.filter(({ id, gold }) => gold.every((one) => found[id]?.slice(0, SHOWN).includes(one)));
  return [
    ...[format(index.calls), format(index.tokens), format(index.ms / 1_000)],
    ...[each(ask.calls), each(ask.tokens), each(ask.ms)],
    (perfect.length / questions.length).toFixed(2),
    ...remainsOf(result).map(({ before, after }) => (before === 0 ? 'had none' : `${after} of ${before}`)),
    remove === undefined ? 'no call' : format(remove.ms / 1_000),
  ];
}

/** What only the deleted document says, before and after the deletion: names, relations, and answers with its passage. */
function remainsOf({ before, after, found }) {
  const known = ({ names }) => new Set(names.map(nameKey));
  const keys = ({ pairs }) => new Set(pairs.map(([source, target]) => pairKey(source, target)));
  const held = (own, all) => own.filter((one) => all.has(one)).length;
  const shown = (answers) => removal.asked.filter((id) => answers[id]?.slice(0, SHOWN).includes(removal.id)).length;
  return [
    { before: held(removal.names, known(before)), after: held(removal.names, known(after)) },
    { before: held(removal.pairs, keys(before)), after: held(removal.pairs, keys(after)) },
    { before: shown(found), after: shown(after.found) },
  ];
}

function format(value) {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : 0 });
}
