/** What a run costs on the server: `npm run bench:server`, after `npm run build`; see {@link USAGE}. */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { quantile } from '../measure.js';
import { type BenchCanvas, canvasesOfBench, modelsOfBench } from './canvases.js';
import { type Databases, STORES, type StoreName, startDatabases } from './databases.js';
import { framesOf, type Load, load } from './load.js';
import { type Counts, type ServerUnderTest, startBare, startServer } from './server-under-test.js';

const USAGE = `What a run costs on the server: npm run bench:server -- [options], after npm run build

  --tree PATH      a checkout to measure; repeated: they take turns in one session, ratios are to the first   (this one)
  --store LIST     embedded, postgres, redis (which is Postgres and Redis)                                    (all)
  --canvas LIST    hello, loop, chat, iteration                                                               (all)
  --clients LIST   clients at once                                                                            (1,32,100)
  --seconds N      time of one measurement                                                                    (4)
  --rounds N       measurements of each, in turns; medians are given                                          (1)
  --warm N         seconds of work before the first measurement                                               (2)
  --bare           also a Koa route that sends the same frames
  --profile DIR    writes a processor profile of each measurement
  --statements     prints which statements were sent
  --json           rows as JSON instead of a table
  --help           this text

Compare processor time, statements and bytes; runs a second depend on what else the machine does. Progress goes to the standard error.`;

/** One measurement; what is counted is per run. */
interface Row {
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
}

interface Subject {
  readonly name: string;
  readonly server: ServerUnderTest;
  readonly agents: ReadonlyMap<string, string>;
}

const { values } = parseArgs({
  options: {
    tree: { type: 'string', multiple: true, default: [process.cwd()] },
    store: { type: 'string', default: 'embedded,postgres,redis' },
    canvas: { type: 'string', default: 'hello,loop,chat,iteration' },
    clients: { type: 'string', default: '1,32,100' },
    seconds: { type: 'string', default: '4' },
    warm: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '1' },
    bare: { type: 'boolean', default: false },
    profile: { type: 'string' },
    statements: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
const forMs = Number(values.seconds) * 1_000;
const clientCounts = values.clients.split(',').map(Number);
const known = await canvasesOfBench();
const wanted = listOf(
  'canvas',
  known.map(({ name }) => name),
);
const canvases = known.filter(({ name }) => wanted.includes(name));
const stores = listOf('store', STORES);

const rows: Row[] = [];
for (const store of stores) rows.push(...(await measureStore(store)));
if (values.json) console.log(JSON.stringify(rows, null, 2));
else console.table(rows.map(tableRow));

/** The names that an option lists. @throws Error naming one that is not known. */
function listOf<T extends string>(option: 'canvas' | 'store', names: readonly T[]): readonly T[] {
  return values[option].split(',').map((name) => {
    const found = names.find((one) => one === name);
    if (found === undefined) throw new Error(`--${option}: there is no "${name}"; there are ${names.join(', ')}`);
    return found;
  });
}

async function measureStore(store: StoreName): Promise<readonly Row[]> {
  const databases = await startDatabases(store);
  const subjects: Subject[] = [];
  try {
    const models = await modelsOfBench();
    for (const tree of values.tree) {
      say(`${store}: starting ${tree}`);
      const server = await startServer(path.resolve(tree), await databases.environment(), models);
      subjects.push({ name: path.basename(path.resolve(tree)), server, agents: await createAgents(server.url) });
    }
    if (values.bare) subjects.push(await bareOf(subjects[0] as Subject));
    const found: Row[] = [];
    for (const canvas of canvases) {
      for (const subject of subjects) await warmUp(subject, canvas);
      for (const clients of clientCounts)
        found.push(...(await measureAll(store, databases, subjects, canvas, clients)));
    }
    if (values.statements) for (const subject of subjects) await printStatements(subject);
    return found;
  } finally {
    for (const { server } of subjects) await server.stop();
    await databases.stop();
  }
}

/** All subjects in turns, so that what else the machine does meets them alike. */
async function measureAll(
  store: StoreName,
  databases: Databases,
  subjects: readonly Subject[],
  canvas: BenchCanvas,
  clients: number,
): Promise<readonly Row[]> {
  const rounds: Row[][] = subjects.map(() => []);
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const [at, subject] of subjects.entries()) {
      say(`${store}, ${canvas.name}, ${clients} clients: ${subject.name}`);
      rounds[at]?.push(await measure(store, databases, subject, canvas, clients));
    }
  }
  return rounds.map(medianRow);
}

async function measure(
  store: StoreName,
  databases: Databases,
  { name, server, agents }: Subject,
  canvas: BenchCanvas,
  clients: number,
): Promise<Row> {
  const before = await server.counts(true);
  const databaseUs = databases.microseconds() + server.embeddedMicroseconds();
  const written = before.embeddedBytes + (await databases.written());
  if (values.profile !== undefined) await server.startProfile();
  const seen = await load({ ...requestOf(server, agents, canvas), clients, forMs, atLeast: 2 * clients });
  if (values.profile !== undefined) {
    await server.endProfile(path.resolve(values.profile, `${name}-${store}-${canvas.name}-${clients}.cpuprofile`));
  }
  const after = await server.counts();
  const databaseAfterUs = databases.microseconds() + server.embeddedMicroseconds();
  const { heapUsed } = await server.counts(true);
  return {
    ...{ store, canvas: canvas.name, clients, tree: name },
    ...timesOf(seen),
    ...countsOf(before, after, seen.runs),
    writtenBytes: (after.embeddedBytes + (await databases.written()) - written) / seen.runs,
    databaseUs: (databaseAfterUs - databaseUs) / seen.runs,
    heapBytes: (heapUsed - before.heapUsed) / seen.runs,
    rssMb: after.rss / 1024 ** 2,
  };
}

function timesOf({ runs, seconds, firstMs, endMs }: Load) {
  return {
    runsPerSecond: runs / seconds,
    firstP50Ms: quantile(firstMs, 0.5),
    firstP99Ms: quantile(firstMs, 0.99),
    endP50Ms: quantile(endMs, 0.5),
    endP99Ms: quantile(endMs, 0.99),
  };
}

function countsOf(before: Counts, after: Counts, runs: number) {
  return {
    serverUs: (after.microseconds - before.microseconds) / runs,
    statements: (after.statements - before.statements) / runs,
    roundTripsBeforeFirst: (after.beforeFirst - before.beforeFirst) / (after.streams - before.streams),
    bytes: (after.bytes - before.bytes) / runs,
    clientWrites: (after.clientWrites - before.clientWrites) / runs,
  };
}

function requestOf(server: ServerUnderTest, agents: Subject['agents'], { name, query }: BenchCanvas) {
  return { url: server.url, agent: agents.get(name) as string, query };
}

/** Until the compiler of V8 has seen everything. */
async function warmUp({ name, server, agents }: Subject, canvas: BenchCanvas): Promise<void> {
  say(`warming up ${name}, ${canvas.name}`);
  await load({ ...requestOf(server, agents, canvas), clients: 16, forMs: Number(values.warm) * 1_000, atLeast: 100 });
}

async function createAgents(url: string): Promise<ReadonlyMap<string, string>> {
  const made = await Promise.all(
    canvases.map(async ({ name, dsl }) => {
      const answer = await fetch(`${url}/api/v1/agents`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ title: `Bench ${name}`, dsl }),
      });
      const { data } = (await answer.json()) as { readonly data: { readonly id: string } };
      return [name, data.id] as const;
    }),
  );
  return new Map(made);
}

/** A route that sends what a server has sent. */
async function bareOf({ server, agents }: Subject): Promise<Subject> {
  const frames: Record<string, readonly string[]> = {};
  for (const canvas of canvases) {
    const text = await framesOf(requestOf(server, agents, canvas));
    frames[canvas.name] = text.split(/(?<=\n\n)/);
  }
  const bare = await startBare(frames);
  return { name: 'bare Koa', server: bare, agents: new Map(canvases.map(({ name }) => [name, name])) };
}

async function printStatements({ name, server }: Subject): Promise<void> {
  say(`statements of ${name}:`);
  for (const [text, count] of (await server.statements()).slice(0, 40)) say(`${String(count).padStart(8)}  ${text}`);
}

function medianRow(list: readonly Row[]): Row {
  const [first] = list as readonly [Row];
  const entries = Object.entries(first).map(([name, value]) => {
    if (typeof value !== 'number') return [name, value];
    return [
      name,
      quantile(
        list.map((row) => row[name as keyof Row] as number),
        0.5,
      ),
    ];
  });
  return Object.fromEntries(entries) as Row;
}

function tableRow(row: Row): object {
  const whole = (value: number): number => Math.round(value);
  const tenth = (value: number): number => Math.round(value * 10) / 10;
  return {
    ...{ store: row.store, canvas: row.canvas, clients: row.clients, tree: row.tree },
    'runs/s': tenth(row.runsPerSecond),
    'first p50': tenth(row.firstP50Ms),
    'first p99': tenth(row.firstP99Ms),
    'end p50': tenth(row.endP50Ms),
    'end p99': tenth(row.endP99Ms),
    'server us': whole(row.serverUs),
    'database us': whole(row.databaseUs),
    statements: tenth(row.statements),
    'trips to first': tenth(row.roundTripsBeforeFirst),
    'bytes sent': whole(row.bytes),
    'bytes written': whole(row.writtenBytes),
    'client writes': tenth(row.clientWrites),
    'heap left': whole(row.heapBytes),
    'rss MB': whole(row.rssMb),
  };
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
