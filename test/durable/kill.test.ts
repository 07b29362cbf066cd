/**
 * A server that is killed at random moments under load. `RUNNEL_TEST_KILLS` sets how often (`npm run test:kill` has the full number).
 *
 * Afterwards every run has ended, no finished node was called again, each node is known by one key, and what a client has seen over
 * all its connections is the server's log, byte for byte.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeOwnRedis, startRedisServer } from '../stores/redis/support/redis-server.js';
import { hasPostgres, startPostgres } from '../stores/support/postgres-server.js';
import { createRandom, type Random } from '../support/random.js';
import { ANSWER, CALLERS, callerOf, callingCanvas, MODELS, ROUNDS } from './support/canvas.js';
import { attach, type Follower, nodesIn, startRun, textsShown } from './support/follower.js';
import { type Ledger, startLedger } from './support/ledger.js';
import {
  call,
  environment,
  type ServerEnvironment,
  type ServerProcess,
  startProcess,
} from './support/server-process.js';

const KILLS = Number(process.env.RUNNEL_TEST_KILLS ?? 2);
const RUNS_PER_KILL = 12;
const TIME_LIMIT_MS = 120_000 + KILLS * 30_000;

describe('a server that is killed again and again', () => {
  it(`loses nothing over the embedded database (${KILLS} kills)`, { timeout: TIME_LIMIT_MS }, async () => {
    await killAgainAndAgain(await environment());
  });
});

describeOwnRedis('a server over Redis that is killed again and again', () => {
  it.skipIf(!hasPostgres)(
    `loses nothing over Postgres and Redis (${KILLS} kills)`,
    { timeout: TIME_LIMIT_MS },
    async () => {
      const [redis, postgres] = await Promise.all([startRedisServer(), startPostgres()]);
      onTestFinished(async () => {
        await redis.dispose();
        await postgres.stop();
      });
      const DATABASE_URL = await postgres.createDatabase();
      await killAgainAndAgain(await environment({ DATABASE_URL, REDIS_URL: redis.url }));
    },
  );
});

async function killAgainAndAgain(given: ServerEnvironment): Promise<void> {
  const seed = Number(process.env.RUNNEL_TEST_SEED ?? Date.now() % 1_000_000);
  const random = createRandom(seed);
  const ledger = await startLedger(random, 60);
  const models = path.join(given.RUNNEL_DATA_DIR as string, 'models.json');
  await writeFile(models, JSON.stringify(MODELS));
  const env = { ...given, RUNNEL_MODELS: models };
  let server: ServerProcess = await startProcess(env);
  const urlNow = (): string => server.url;
  const agent = await createAgent(server.url, ledger.url);
  const followers: Follower[] = [];
  let settledCalls = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const starting = Array.from({ length: RUNS_PER_KILL }, () => startLater(urlNow, agent, random));
    // On a busy machine nothing has begun for a while, and nothing could be lost.
    await Promise.race(starting);
    await pause(random.int(900));
    await server.kill();
    const started = (await Promise.all(starting)).filter((follower) => follower !== undefined);
    followers.push(...started);
    const settled = callsOfSettled(followers, ledger);
    server = await startProcess(env);
    await Promise.all(followers.map(({ done }) => done));
    for (const [place, { run, node, calls }] of settled) {
      expect({ seed, place, calls: ledger.calls(run, node) }).toEqual({ seed, place, calls });
    }
    settledCalls += settled.size;
    for (const follower of started) await expectWhole(follower, { ledger, urlNow, agent, seed });
    await expectAllEnded(server.url, agent);
    followers.splice(0);
  }
  console.log(
    `seed ${seed}: ${KILLS} kills, ${ledger.total()} calls, ${settledCalls} settled at a kill and none of them repeated`,
  );
}

async function startLater(urlNow: () => string, agent: string, random: Random): Promise<Follower | undefined> {
  await pause(random.int(400));
  return startRun(urlNow, agent);
}

/** How often nodes have called that clients know as finished. */
function callsOfSettled(followers: readonly Follower[], ledger: Ledger) {
  return new Map(
    followers.flatMap(({ run, seen }) =>
      nodesIn(seen, 'node_finished').flatMap(({ component, within }) => {
        const node = callerOf(component, within);
        if (node === undefined) return [];
        return [[`${run} ${node}`, { run, node, calls: ledger.calls(run, node) }] as const];
      }),
    ),
  );
}

interface Around {
  readonly ledger: Ledger;
  readonly urlNow: () => string;
  readonly agent: string;
  readonly seed: number;
}

async function expectWhole({ run, seen }: Follower, { ledger, urlNow, agent, seed }: Around): Promise<void> {
  const kept = attach(urlNow, agent, run);
  await kept.done;
  expect({ seed, run, seen }).toEqual({ seed, run, seen: kept.seen });
  // Rising, each once; RAGFlow's format leaves numbers out.
  const ids = seen.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other));
  const { data: record } = await call(`${urlNow()}/api/v1/agents/${agent}/runs/${run}`);
  if (record.error?.code === 'RUN_LOST') {
    expect(CALLERS.map((node) => ledger.calls(run, node))).toEqual(CALLERS.map(() => 0));
    return;
  }
  expect({ seed, run, status: record.status, error: record.error }).toMatchObject({ status: 'succeeded' });
  const finished = nodesIn(seen, 'node_finished').map(({ component, within }) => `${within ?? ''} ${component}`);
  expect({ seed, run, finished: [...new Set(finished)] }).toEqual({ seed, run, finished });
  const called = nodesIn(seen, 'node_finished').flatMap(({ component, within }) => callerOf(component, within) ?? []);
  expect({ seed, run, called: called.sort() }).toEqual({ seed, run, called: [...CALLERS].sort() });
  const texts = [...textsShown(seen)].sort();
  expect({ seed, run, texts }).toEqual({ seed, run, texts: [['', ANSWER], ...ROUNDS] });
  for (const node of CALLERS) {
    expect({ seed, run, node, keys: ledger.keys(run, node).size }).toEqual({ seed, run, node, keys: 1 });
  }
}

/** Also those whose client was gone before it knew them. */
async function expectAllEnded(url: string, agent: string): Promise<void> {
  for (;;) {
    const { data } = await call(`${url}/api/v1/agents/${agent}/runs?status=running`);
    if (data.length === 0) return;
    await Promise.all(data.map(({ id }: { readonly id: string }) => attach(() => url, agent, id).done));
  }
}

async function createAgent(url: string, ledger: string): Promise<string> {
  const { data } = await call(`${url}/api/v1/agents`, { title: 'Calls', dsl: callingCanvas(ledger) });
  return data.id;
}
