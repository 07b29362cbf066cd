/**
 * Stores that go away in the middle of runs and come back: all runs succeed, nothing is lost or done twice, and the server, which answers
 * 503 to what it cannot do meanwhile, recovers by itself. `npm run test:faults` has 100 runs and 10 seconds.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { describeOwnRedis, type RedisServer, startRedisServer } from '../stores/redis/support/redis-server.js';
import {
  describePostgres,
  hasPostgres,
  type PostgresServer,
  startPostgres,
} from '../stores/support/postgres-server.js';
import { skippedUnless } from '../support/skipped.js';
import { ANSWER, CALLERS } from './support/canvas.js';
import { type Follower, startRun, textShown } from './support/follower.js';
import { type ServerEnvironment, startProcess } from './support/server-process.js';
import { IS_FULL, sized } from './support/size.js';
import { createCalls, prepareTrial, startRuns } from './support/trial.js';
import { expectAllEnded, expectWhole } from './support/whole.js';

/** How long a store is away. */
const OUTAGE_MS = sized(10_000, 1_000);
const RUNS = sized(100, 20);
const APART_MS = 15;
/** Longer than a server tries again. */
const LONG_OUTAGE_MS = 20_000;
/** Requests of other kinds that are sent while it is away. */
const PROBES = 10;
const TIME_LIMIT_MS = 300_000 + 6 * OUTAGE_MS;

/** A store that can be taken away and brought back. */
interface Outage {
  begin(): Promise<void> | void;
  end(): Promise<void> | void;
}

describePostgres('Postgres in the middle of runs', () => {
  it('is restarted, and no run and no event is lost', { timeout: TIME_LIMIT_MS }, async ({ skip }) => {
    const postgres = await ownPostgres();
    if (postgres === undefined) return skip('the server at DATABASE_URL is not ours to stop');
    await throughOutage({ DATABASE_URL: await postgres.createDatabase() }, restartOf(postgres));
  });

  it.runIf(IS_FULL)(
    skippedUnless(IS_FULL, 'npm run test:faults runs it', 'is away for long, and requests are refused'),
    { timeout: TIME_LIMIT_MS },
    async ({ skip }) => {
      const postgres = await ownPostgres();
      if (postgres === undefined) return skip('the server at DATABASE_URL is not ours to stop');
      await throughLongOutage({ DATABASE_URL: await postgres.createDatabase() }, restartOf(postgres));
    },
  );

  it('does not answer, and no run and no event is lost', { timeout: TIME_LIMIT_MS }, async ({ skip }) => {
    const postgres = await ownPostgres();
    if (postgres === undefined) return skip('the server at DATABASE_URL is not ours to stop');
    const { halt, resume } = postgres;
    await throughOutage({ DATABASE_URL: await postgres.createDatabase() }, { begin: halt, end: resume });
  });
});

describeOwnRedis('Redis in the middle of runs', () => {
  it('is restarted, and no run and no event is lost', { timeout: TIME_LIMIT_MS }, async () => {
    const redis = await ownRedis();
    await throughOutage({ REDIS_URL: redis.url }, { begin: redis.kill, end: redis.start });
  });

  it.runIf(IS_FULL)(
    skippedUnless(IS_FULL, 'npm run test:faults runs it', 'is away for long, and requests are refused'),
    { timeout: TIME_LIMIT_MS },
    async () => {
      const redis = await ownRedis();
      await throughLongOutage({ REDIS_URL: redis.url }, { begin: redis.kill, end: redis.start });
    },
  );

  it('does not answer, and no run and no event is lost', { timeout: TIME_LIMIT_MS }, async () => {
    const redis = await ownRedis();
    await throughOutage({ REDIS_URL: redis.url }, { begin: redis.halt, end: redis.resume });
  });

  it.skipIf(!hasPostgres)(
    skippedUnless(hasPostgres, 'no Postgres here', 'is restarted together with Postgres'),
    { timeout: TIME_LIMIT_MS },
    async ({ skip }) => {
      const [redis, postgres] = [await ownRedis(), await ownPostgres()];
      if (postgres === undefined) return skip('the server at DATABASE_URL is not ours to stop');
      const { begin, end } = restartOf(postgres);
      await throughOutage(
        { DATABASE_URL: await postgres.createDatabase(), REDIS_URL: redis.url },
        {
          begin: async () => void (await Promise.all([redis.kill(), begin()])),
          end: async () => void (await Promise.all([redis.start(), end()])),
        },
      );
    },
  );
});

type OwnPostgres = PostgresServer & Required<Record<'crash' | 'restart' | 'halt' | 'resume', () => Promise<void>>>;

/** Undefined when the tests have one that is not theirs. */
async function ownPostgres(): Promise<OwnPostgres | undefined> {
  const postgres = await startPostgres();
  onTestFinished(() => postgres.stop());
  return postgres.crash === undefined ? undefined : (postgres as OwnPostgres);
}

function restartOf({ crash, restart }: OwnPostgres): Outage {
  return { begin: crash, end: restart };
}

async function ownRedis(): Promise<RedisServer> {
  const redis = await startRedisServer();
  onTestFinished(() => redis.dispose());
  return redis;
}

async function throughOutage(settings: ServerEnvironment, outage: Outage): Promise<void> {
  const { env, ledger } = await prepareTrial(settings);
  const server = await startProcess(env);
  const urlNow = (): string => server.url;
  const agent = await createCalls(server.url, ledger);
  const starting = startRuns(urlNow, agent, { count: RUNS, apartMs: APART_MS });
  await pause((RUNS * APART_MS) / 2);
  await outage.begin();
  const probes = Array.from({ length: PROBES }, () => refusalOf(`${server.url}/api/v1/agents/${agent}`));
  await pause(OUTAGE_MS);
  await outage.end();
  const started = (await Promise.all(starting)).filter((follower) => follower !== undefined);
  const refused = (await Promise.all(probes)).filter((refusal) => refusal !== undefined);
  for (const refusal of refused) expect(refusal.status).toBe(503);
  expect(started.length).toBeGreaterThan(0);
  const around = { urlNow, agent, ledger };
  for (const follower of started) await expectWhole(follower, around);
  // The process was there all the time, so that no node was called twice either.
  for (const { run } of started) {
    expect({ run, calls: CALLERS.map((node) => ledger.calls(run, node)) }).toEqual({
      run,
      calls: CALLERS.map(() => 1),
    });
  }
  // Recovered by itself: a new run goes through.
  const after = await startRun(urlNow, agent);
  await after?.done;
  expect(textShown(after?.seen ?? [])).toBe(ANSWER);
  await expectAllEnded(server.url, agent);
  console.log(
    `${OUTAGE_MS} ms: ${started.length} of ${RUNS} runs were taken, ${refused.length} of ${PROBES} requests refused`,
  );
}

/** Runs may fail then, if their last event says why; what their clients have is stored all the same. */
async function throughLongOutage(settings: ServerEnvironment, outage: Outage): Promise<void> {
  const { env, ledger } = await prepareTrial(settings);
  const server = await startProcess(env);
  const urlNow = (): string => server.url;
  const agent = await createCalls(server.url, ledger);
  const started = await Promise.all(startRuns(urlNow, agent, { count: RUNS / 5, apartMs: APART_MS }));
  await outage.begin();
  const probes = Array.from({ length: PROBES }, () => refusalOf(`${server.url}/api/v1/agents/${agent}/runs`));
  await pause(LONG_OUTAGE_MS);
  await outage.end();
  for (const refusal of await Promise.all(probes)) {
    expect(refusal).toMatchObject({ status: 503, message: expect.stringMatching(/cannot be reached|did not do/) });
  }
  const around = { urlNow, agent, ledger, mayFailWith: 'STORE_UNAVAILABLE' };
  for (const follower of started) await expectWhole(follower as Follower, around);
  const after = await startRun(urlNow, agent);
  await after?.done;
  expect(textShown(after?.seen ?? [])).toBe(ANSWER);
  await expectAllEnded(server.url, agent);
}

interface Refusal {
  readonly status: number;
  readonly message: unknown;
}

/** How a request was refused; undefined when it was answered. */
async function refusalOf(url: string): Promise<Refusal | undefined> {
  const response = await fetch(url);
  const text = await response.text();
  return response.ok ? undefined : { status: response.status, message: JSON.parse(text).message };
}
