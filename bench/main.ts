/**
 * Runs the benchmarks and prints one table: `npm run bench -- [name…] [--json]`.
 *
 * What it measures is the build, see `from-build.mjs`. A name picks files (`graph`) or rows (`chain`) that contain it. A value beyond its bar is marked; the exit code stays 0, for
 * a machine under load proves nothing.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { benchAgents } from './agents.bench.js';
import { benchCanvas } from './canvas.bench.js';
import { benchChat } from './chat.bench.js';
import { benchChatServer } from './chat-server.bench.js';
import { benchCompose } from './compose.bench.js';
import { benchGraph } from './graph.bench.js';
import { benchIngestion } from './ingestion.bench.js';
import { benchJournal } from './journal.bench.js';
import { benchKnowledgeGraph } from './knowledge-graph.bench.js';
import type { Row } from './measure.js';
import { benchOperators } from './operators.bench.js';
import { benchProcess } from './process.bench.js';
import { benchResearch } from './research.bench.js';
import { benchSearch } from './search.bench.js';
import { benchStart } from './start.bench.js';
import { benchStudio } from './studio.bench.js';
import { benchTelemetry } from './telemetry.bench.js';
import { benchTokens } from './tokens.bench.js';

const FILES: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  operators: async () =>
    (await benchOperators()).map(({ name, nsPerStep, note }) => ({
      name: `${name}: ${note}`,
      value: nsPerStep / 1_000,
      unit: 'us/step',
    })),
  graph: benchGraph,
  compose: benchCompose,
  agents: benchAgents,
  canvas: benchCanvas,
  journal: benchJournal,
  tokens: benchTokens,
  telemetry: benchTelemetry,
  search: benchSearch,
  chat: benchChat,
  'chat-server': benchChatServer,
  ingestion: benchIngestion,
  'knowledge-graph': benchKnowledgeGraph,
  research: benchResearch,
  process: benchProcess,
  start: benchStart,
  studio: benchStudio,
};

const filters = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const isJson = process.argv.includes('--json');
exposeCollector();

const rows: (Row & { readonly file: string })[] = [];
const named = Object.keys(FILES).filter((file) => filters.includes(file));
for (const [file, bench] of Object.entries(FILES)) {
  if (named.length > 0 && !named.includes(file)) continue;
  for (const row of await bench()) rows.push({ file, ...row });
}
const words = filters.filter((filter) => !named.includes(filter));
const shown = rows.filter(({ name }) => words.every((word) => name.includes(word)));
console.log(isJson ? JSON.stringify(shown, null, 2) : tableOf(shown));

/** Lets the memory benchmarks collect garbage without a flag on the command line. */
function exposeCollector(): void {
  setFlagsFromString('--expose-gc');
  globalThis.gc = runInNewContext('gc') as NonNullable<typeof globalThis.gc>;
}

function tableOf(list: readonly (Row & { readonly file: string })[]): string {
  const cells = list.map((row) => [
    row.file,
    row.name,
    `${format(row.value)} ${row.unit}`,
    row.bar === undefined ? '' : format(row.bar),
    row.aim === undefined ? '' : format(row.aim),
    verdict(row),
  ]);
  const all = [['file', 'name', 'value', 'bar', 'aim', ''], ...cells];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((line) => line[column]?.length ?? 0)));
  return all
    .map((line) =>
      line
        .map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function verdict({ value, bar, aim, isRate = false }: Row): string {
  const reaches = (limit: number | undefined) => limit !== undefined && (isRate ? value >= limit : value <= limit);
  if (bar === undefined) return '';
  if (!reaches(bar)) return 'BEYOND THE BAR';
  return reaches(aim) ? 'aim' : 'ok';
}

function format(value: number): string {
  if (Number.isNaN(value)) return '-';
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
}
