/**
 * Two servers over one database, of which the first one is killed, or halted for longer than its leases, in the middle of runs: the second
 * one takes all of them over, nothing is lost or done twice, and a server that was only halted gives its runs up.
 * `npm run test:faults` has 100 runs.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { describeOwnRedis, startRedisServer } from '../stores/redis/support/redis-server.js';
import { describePostgres, hasPostgres, startPostgres } from '../stores/support/postgres-server.js';
import { skippedUnless } from '../support/skipped.js';
import { CALLERS } from './support/canvas.js';
import { attach, type Follower } from './support/follower.js';
import { gauge } from './support/metrics.js';
import { type ServerEnvironment, startProcess } from './support/server-process.js';
import { sized } from './support/size.js';
import { createCalls, prepareTrial, startRuns } from './support/trial.js';
import { callsOfSettled, expectAllEnded, expectWhole } from './support/whole.js';

const RUNS = sized(100, 16);
const APART_MS = 10;
/** Calls after which some runs have done much, and others little. */
const IN_THE_MIDDLE = RUNS * 2;
/** Long enough for a server on a busy machine to renew its leases in time. */
const RUNNEL_LEASE_MS = '3000';
const TIME_LIMIT_MS = 300_000;

describePostgres('two servers over Postgres', () => {
  it('of which one is killed lose nothing', { timeout: TIME_LIMIT_MS }, async () => {
    await killOne(await overPostgres());
  });

  it('of which one is halted for longer than its leases lose nothing', { timeout: TIME_LIMIT_MS }, async () => {
    await haltOne(await overPostgres());
  });
});

describeOwnRedis('two servers over Postgres and Redis', () => {
  it.skipIf(!hasPostgres)(
    skippedUnless(hasPostgres, 'no Postgres here', 'of which one is killed lose nothing'),
    { timeout: TIME_LIMIT_MS },
    async () => {
      await killOne({ ...(await overPostgres()), ...(await overRedis()) });
    },
  );

  it.skipIf(!hasPostgres)(
    skippedUnless(hasPostgres, 'no Postgres here', 'of which one is halted for longer than its leases lose nothing'),
    { timeout: TIME_LIMIT_MS },
    async () => {
      await haltOne({ ...(await overPostgres()), ...(await overRedis()) });
    },
  );
});

async function overPostgres(): Promise<ServerEnvironment> {
  const postgres = await startPostgres();
  onTestFinished(() => postgres.stop());
  return { DATABASE_URL: await postgres.createDatabase(), RUNNEL_LEASE_MS };
}

async function overRedis(): Promise<ServerEnvironment> {
  const redis = await startRedisServer();
  onTestFinished(() => redis.dispose());
  return { REDIS_URL: redis.url };
}

async function killOne(settings: ServerEnvironment): Promise<void> {
  const { env, ledger } = await prepareTrial(settings);
  const first = await startProcess(env);
  const second = await startProcess(env);
  let url = first.url;
  const urlNow = (): string => url;
  const agent = await createCalls(url, ledger);
  const starting = startRuns(urlNow, agent, { count: RUNS, apartMs: APART_MS });
  const started = (await Promise.all(starting)).filter((follower) => follower !== undefined);
  await ledger.reached(IN_THE_MIDDLE);
  url = second.url;
  await first.kill();
  const settled = callsOfSettled(started, ledger);
  const around = { urlNow, agent, ledger };
  for (const follower of started) await expectWhole(follower, around);
  expectNotRepeated(settled, ledger);
  await expectAllEnded(url, agent);
  console.log(`killed: ${started.length} runs, ${settled.size} settled calls, none of them repeated`);
}

async function haltOne(settings: ServerEnvironment): Promise<void> {
  const { env, ledger } = await prepareTrial(settings);
  const first = await startProcess(env);
  const second = await startProcess(env);
  const agent = await createCalls(first.url, ledger);
  const starting = startRuns(() => first.url, agent, { count: RUNS, apartMs: APART_MS });
  await ledger.reached(IN_THE_MIDDLE);
  process.kill(first.pid, 'SIGSTOP');
  // Those that a halted server has not taken yet are taken when it continues.
  const taken = new Set<Follower>();
  for (const one of starting) void one.then((follower) => follower && taken.add(follower));
  await pause(0);
  const halted = [...taken];
  const settled = callsOfSettled(halted, ledger);
  await expectAllEnded(second.url, agent);
  const others = halted.map(({ run }) => attach(() => second.url, agent, run));
  await Promise.all(others.map(({ done }) => done));
  const calls = callsOf(halted, ledger);

  process.kill(first.pid, 'SIGCONT');
  const started = (await Promise.all(starting)).filter((follower) => follower !== undefined);
  const around = { urlNow: () => second.url, agent, ledger };
  // Their clients were connected to the halted server all the time.
  for (const follower of started) await expectWhole(follower, around);
  expectNotRepeated(settled, ledger);
  // A node that was about to call when its server was halted may do so when that continues, once; no other one, and no log is changed.
  const callsAfter = callsOf(halted, ledger);
  for (const { run, calls: made } of callsAfter)
    expect({ run, most: Math.max(...made) <= 2 }).toEqual({ run, most: true });
  for (const [at, { run }] of halted.entries()) {
    const again = attach(() => first.url, agent, run);
    await again.done;
    expect(again.seen).toEqual(others[at]?.seen);
  }
  await expectAllEnded(second.url, agent);
  expect(await gauge(first.url, 'runnel_runs_active')).toBe(0);
  expect(await gauge(second.url, 'runnel_runs_active')).toBe(0);
  const late = sumOf(callsAfter) - sumOf(calls);
  console.log(
    `halted: ${started.length} runs, ${halted.length} of them in the halted server, ${settled.size} settled calls, ${late} calls afterwards`,
  );
}

type Ledger = Awaited<ReturnType<typeof prepareTrial>>['ledger'];

function expectNotRepeated(settled: ReturnType<typeof callsOfSettled>, ledger: Ledger): void {
  for (const [place, { run, node, calls }] of settled) {
    expect({ place, calls: ledger.calls(run, node) }).toEqual({ place, calls });
  }
}

function callsOf(followers: readonly Follower[], ledger: Ledger) {
  return followers.map(({ run }) => ({ run, calls: CALLERS.map((node) => ledger.calls(run, node)) }));
}

function sumOf(list: ReturnType<typeof callsOf>): number {
  return list.flatMap(({ calls }) => calls).reduce((sum, calls) => sum + calls, 0);
}
