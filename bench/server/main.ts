/** What a run costs on the server: `npm run bench:server`, after `npm run build`; see {@link USAGE}. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { quantile } from '../measure.js';
import { type BenchCanvas, canvasesOfBench, modelsOfBench } from './canvases.js';
import { type Databases, STORES, type StoreName, startDatabases } from './databases.js';
import { type Call, framesOf, type Load, load } from './load.js';
import { peakOf } from './peak.js';
import { PEER_SERVERS, type Peer } from './peers.js';
import { type Row, writeTable } from './report.js';
import { type Counts, PEERS, type ServerUnderTest, startBare, startPeer, startServer } from './server-under-test.js';

const USAGE = `What a run costs on the server: npm run bench:server -- [options], after npm run build

  --tree PATH      a checkout to measure; repeated: they take turns in one session, ratios are to the first   (this one)
  --store LIST     embedded, postgres, redis (which is Postgres and Redis)                                    (all)
  --canvas LIST    hello, loop, chat, iteration                                                               (all)
  --clients LIST   clients at once                                                                            (1,32,100)
  --seconds N      time of one measurement                                                                    (4)
  --rounds N       measurements of each, in turns; medians are given                                          (1)
  --warm N         seconds of work before the first measurement, and hello runs 3,000 times at least          (2)
  --bare           also a Koa route that sends the same frames
  --peers          also, with Postgres and hello, LangGraph.js and Mastra's server, installed in bench/peers when they are not
  --quick          all of it within ten minutes: hello with 1 and 100 clients, the others with 32, --bare, --peers, 3 seconds each
  --write          writes the table into docs/benchmarks.md
  --profile DIR    writes a processor profile of each measurement
  --statements     prints which statements were sent
  --json           rows as JSON instead of a table
  --help           this text

Compare processor time, statements and bytes; runs a second depend on what else the machine does. Progress goes to the standard error.`;

interface Subject {
  readonly name: string;
  readonly server: ServerUnderTest;
  /** Runs of hello before the first measurement, at least. */
  readonly warmRuns: number;
  /** Undefined for a canvas that it does not have. */
  readonly callOf: (canvas: BenchCanvas) => Call | undefined;
}

/** Runs of hello before the first measurement: within the same time a route that only sends has ten times as many. */
const WARM_RUNS = 3_000;
/** The same of what takes longer. */
const FEW_RUNS = 100;

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
    peers: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
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
const forMs = (values.quick ? 3 : Number(values.seconds)) * 1_000;
const hasBare = values.bare || values.quick;
const hasPeers = values.peers || values.quick;
const known = await canvasesOfBench();
const wanted = listOf(
  'canvas',
  known.map(({ name }) => name),
);
const canvases = known.filter(({ name }) => wanted.includes(name));
const stores = listOf('store', STORES);

if (hasPeers) installPeers();
const rows: Row[] = [];
for (const store of stores) rows.push(...(await measureStore(store)));
if (values.json) console.log(JSON.stringify(rows, null, 2));
else console.table(rows.map(tableRow));
if (values.write) await writeTable(rows);

function clientsOf({ name }: BenchCanvas): readonly number[] {
  if (!values.quick) return values.clients.split(',').map(Number);
  return name === 'hello' ? [1, 100] : [32];
}

/** Their packages are no dependencies of the project. */
function installPeers(): void {
  if (existsSync(path.join(PEERS, 'node_modules/@mastra/deployer'))) return;
  say('installing the peers');
  const { status } = spawnSync('npm', ['--prefix', PEERS, 'ci', '--ignore-scripts', '--no-audit'], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('The peers could not be installed; without --peers they are not needed.');
}

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
      const agents = await createAgents(server.url);
      subjects.push({
        name: path.basename(path.resolve(tree)),
        server,
        warmRuns: WARM_RUNS,
        callOf: (canvas) => runnelCall(server, agents, canvas),
      });
    }
    if (hasBare) subjects.push(await bareOf(subjects[0] as Subject));
    if (hasPeers && store === 'postgres') for (const peer of PEER_SERVERS) subjects.push(await peerOf(peer, databases));
    const found: Row[] = [];
    for (const canvas of canvases) {
      const able = subjects.filter(({ callOf }) => callOf(canvas) !== undefined);
      for (const subject of able) await warmUp(subject, canvas);
      for (const clients of clientsOf(canvas))
        found.push(...(await measureAll(store, databases, able, canvas, clients)));
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
  { name, server, callOf }: Subject,
  canvas: BenchCanvas,
  clients: number,
): Promise<Row> {
  const roundTripsBeforeFirst = await tripsOf(server, callOf(canvas) as Call);
  const before = await server.counts(true);
  const databaseUs = databases.microseconds() + server.embeddedMicroseconds();
  const written = before.embeddedBytes + (await databases.written());
  if (values.profile !== undefined) await server.startProfile();
  const peak = peakOf(server.pid);
  const seen = await load({ ...(callOf(canvas) as Call), clients, forMs, atLeast: 2 * clients });
  const peakMb = peak.end();
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
    roundTripsBeforeFirst,
    writtenBytes: (after.embeddedBytes + (await databases.written()) - written) / seen.runs,
    databaseUs: (databaseAfterUs - databaseUs) / seen.runs,
    heapBytes: (heapUsed - before.heapUsed) / seen.runs,
    rssMb: after.rss / 1024 ** 2,
    peakMb,
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
    bytes: (after.bytes - before.bytes) / runs,
    clientWrites: (after.clientWrites - before.clientWrites) / runs,
  };
}

function runnelCall({ url }: ServerUnderTest, agents: ReadonlyMap<string, string>, { name, query }: BenchCanvas): Call {
  return {
    url: () => `${url}/api/v1/agents/${agents.get(name)}/stream`,
    body: { query },
    isWhole: (text) => text.includes('"event":"workflow_finished"') && text.endsWith('data:[DONE]\n\n'),
  };
}

/** How often most runs wait for a database before their first piece; one after another, because those of others would count as well. */
async function tripsOf(server: ServerUnderTest, call: Call): Promise<number> {
  await server.trips();
  await load({ ...call, clients: 1, forMs: 0, atLeast: 25 });
  return quantile(await server.trips(), 0.5);
}

/** Until the compiler of V8 has seen everything, which takes a number of runs, not a time. */
async function warmUp({ name, warmRuns, callOf }: Subject, canvas: BenchCanvas): Promise<void> {
  say(`warming up ${name}, ${canvas.name}`);
  const atLeast = canvas.name === 'hello' ? warmRuns : FEW_RUNS;
  await load({ ...(callOf(canvas) as Call), clients: 16, forMs: Number(values.warm) * 1_000, atLeast });
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
async function bareOf({ callOf }: Subject): Promise<Subject> {
  const frames: Record<string, readonly string[]> = {};
  for (const canvas of canvases) {
    const text = await framesOf(callOf(canvas) as Call);
    frames[canvas.name] = text.split(/(?<=\n\n)/);
  }
  const bare = await startBare(frames);
  const agents = new Map(canvases.map(({ name }) => [name, name]));
  return { name: 'bare Koa', server: bare, warmRuns: WARM_RUNS, callOf: (canvas) => runnelCall(bare, agents, canvas) };
}

async function peerOf({ name, file, callOf }: Peer, databases: Databases): Promise<Subject> {
  say(`starting ${name}`);
  const server = await startPeer(file, await databases.environment());
  return {
    ...{ name, server, warmRuns: FEW_RUNS },
    callOf: (canvas) => (canvas.name === 'hello' ? callOf(server.url, canvas) : undefined),
  };
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
    'peak MB': whole(row.peakMb),
  };
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
