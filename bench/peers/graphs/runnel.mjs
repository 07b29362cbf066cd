/** Runnel by its command line, as it is built; no model is set up, so there is none to be called. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const PIPELINES = ['default', 'link', 'rank'];
const DATASET = 'graphs';
const SHOWN = 8;
const MAX_BYTES = 64 * 1_048_576;

/**
 * Measures the pipelines of Runnel, in the form of worker.mjs. The passages of questions are those of `runnel eval`; indexing, the deletion and what remains are of a
 * dataset in the embedded database, whose search `rank` tells what answers still show.
 */
export function measureRunnel({ documents, questions, deleted, asked }, collection, folder) {
  const run = (...args) =>
    execFileSync(process.execPath, [MAIN, ...args], {
      encoding: 'utf8',
      maxBuffer: MAX_BYTES,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env.PATH, RUNNEL_DATA_DIR: path.join(folder, 'data') },
    });
  const files = path.join(folder, 'files');
  mkdirSync(files);
  const fileOf = ({ title }) => `${title.replaceAll('/', ' ')}.md`;
  for (const document of documents) writeFileSync(path.join(files, fileOf(document)), document.text);
  const ids = new Map(documents.map((document) => [fileOf(document), document.id]));

  const index = timed(() => {
    run('ingest', files, '--dataset', DATASET);
    run('graph', 'build', DATASET);
  });
  const before = contents(run('graph', 'export', DATASET));
  rmSync(path.join(files, fileOf(documents.find(({ id }) => id === deleted))));
  const remove = timed(() => run('ingest', files, '--dataset', DATASET, '--prune'));
  const found = {};
  for (const { id, text } of questions.filter((question) => asked.includes(question.id))) {
    const { hits } = JSON.parse(run('graph', 'search', DATASET, text, '--kind', 'rank', '--top', `${SHOWN}`, '--json'));
    found[id] = hits.map(({ document }) => ids.get(document.name));
  }
  const after = { ...contents(run('graph', 'export', DATASET)), found };

  return PIPELINES.map((pipeline) => {
    const lines = path.join(folder, `${pipeline}.txt`);
    const { questions: measured } = JSON.parse(
      run('eval', collection, '--pipeline', pipeline, '--run', lines, '--json'),
    );
    const ms = measured.reduce((sum, question) => sum + question.ms, 0);
    const result = { index, remove, ask: { ms, calls: 0, tokens: 0 }, found: readRun(lines), before, after };
    return { title: `Runnel, \`${pipeline}\``, result };
  });
}

function timed(work) {
  const startedAt = performance.now();
  work();
  return { ms: performance.now() - startedAt, calls: 0, tokens: 0 };
}

function contents(exported) {
  const { nodes, edges } = JSON.parse(exported);
  const spellings = new Map(nodes.map(({ id, name, aliases = [] }) => [id, [name, ...aliases]]));
  return {
    names: [...spellings.values()].flat(),
    pairs: edges.flatMap(({ source, target }) =>
      spellings.get(source).flatMap((from) => spellings.get(target).map((to) => [from, to])),
    ),
  };
}

function readRun(file) {
  const found = {};
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const [question, , document] = line.split(' ');
    const ids = found[question] ?? [];
    if (ids.length < SHOWN) ids.push(document);
    found[question] = ids;
  }
  return found;
}
