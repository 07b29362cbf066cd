/** What the benchmark of the server found, as the table of `docs/benchmarks.md`. */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import path from 'node:path';

/** One measurement; what is counted is per run. */
export interface Row {
  readonly store: string;
  readonly canvas: string;
  readonly clients: number;
  readonly tree: string;
  readonly runsPerSecond: number;
  readonly firstP50Ms: number;
  readonly firstP99Ms: number;
  readonly endP50Ms: number;
  readonly endP99Ms: number;
  readonly serverUs: number;
  readonly databaseUs: number;
  readonly statements: number;
  readonly roundTripsBeforeFirst: number;
  /** Sent to the databases, and written by them to their logs. */
  readonly bytes: number;
  readonly writtenBytes: number;
  readonly clientWrites: number;
  /** Heap that a run leaves behind. */
  readonly heapBytes: number;
  /** Resident memory of the server afterwards, in MB. */
  readonly rssMb: number;
  /** The most that it had meanwhile. */
  readonly peakMb: number;
}

const PAGE = new URL('../../docs/benchmarks.md', import.meta.url);
const BEGIN = '<!-- bench:server, do not edit -->';
const END = '<!-- end of bench:server -->';

const STORE = { embedded: 'embedded', postgres: 'Postgres', redis: 'Postgres and Redis' } as const;

/** Replaces the table between the two marks of the page. @throws Error when a mark is missing */
export async function writeTable(rows: readonly Row[]): Promise<void> {
  const text = await readFile(PAGE, 'utf8');
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`docs/benchmarks.md has lost "${BEGIN}" or "${END}".`);
  await writeFile(PAGE, `${text.slice(0, begin + BEGIN.length)}\n\n${tableOf(rows)}\n${text.slice(end)}`);
}

function tableOf(rows: readonly Row[]): string {
  const [processor] = cpus();
  const load = loadavg().map((one) => one.toFixed(1));
  return `Taken on ${new Date().toISOString().slice(0, 10)}: Node ${process.version}, ${cpus().length} x ${processor?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB;
load of the machine at the end, over 1, 5 and 15 minutes: ${load.join(', ')}, other programs included.

| store, canvas, clients | | runs/s | first event p50, p99 ms | end p50, p99 ms | server us | x | database us | statements | bytes sent | written | heap left, bytes | resident at most, MB |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${rows.map((row) => lineOf(row, rows)).join('\n')}
`;
}

function lineOf(row: Row, rows: readonly Row[]): string {
  const isSame = (one: Row): boolean =>
    one.store === row.store && one.canvas === row.canvas && one.clients === row.clients;
  const first = rows.find(isSame) as Row;
  const isOurs = path.basename(row.tree) === path.basename(first.tree);
  const place = isOurs ? `${STORE[row.store as keyof typeof STORE]}, ${row.canvas}, ${row.clients}` : '';
  const cells = [
    place,
    isOurs ? 'Runnel' : row.tree,
    format(row.runsPerSecond),
    `${format(row.firstP50Ms)}, ${format(row.firstP99Ms)}`,
    `${format(row.endP50Ms)}, ${format(row.endP99Ms)}`,
    format(row.serverUs),
    format(row.serverUs / first.serverUs),
    format(row.databaseUs),
    format(row.statements),
    format(row.bytes),
    format(row.writtenBytes),
    format(Math.round(row.heapBytes)),
    format(row.peakMb),
  ];
  return `| ${cells.join(' | ')} |`;
}

function format(value: number): string {
  return value.toLocaleString('en', {
    maximumFractionDigits: Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0,
  });
}
