/** Stores that go away under load and come back: what runs finishes or fails with a clear error, and the server recovers by itself. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { describeOwnRedis, startRedisServer } from '../stores/redis/support/redis-server.js';
import { describePostgres, startPostgres } from '../stores/support/postgres-server.js';
import { createRandom } from '../support/random.js';
import { ANSWER, CALLERS, callingCanvas, MODELS } from './support/canvas.js';
import { attach, type Follower, startRun, storedNumbers, textShown } from './support/follower.js';
import { type Ledger, startLedger } from './support/ledger.js';
import { call, environment, type ServerEnvironment, startProcess } from './support/server-process.js';

/** How long a store is away; `RUNNEL_TEST_OUTAGE_MS=10000` is the full length. */
const OUTAGE_MS = Number(process.env.RUNNEL_TEST_OUTAGE_MS ?? 1_000);
const RUNS = 20;
const TIME_LIMIT_MS = 180_000 + 3 * OUTAGE_MS;

interface Outage {
  begin(): Promise<void>;
  end(): Promise<void>;
}

describeOwnRedis('Redis that is stopped and started again under load', () => {
  it('loses no run and no event', { timeout: TIME_LIMIT_MS }, async () => {
    const redis = await startRedisServer();
    onTestFinished(() => redis.dispose());
    await throughOutage({ REDIS_URL: redis.url }, { begin: redis.kill, end: redis.start });
  });
});

describePostgres('Postgres that is restarted under load', () => {
  it('loses no run and no event', { timeout: TIME_LIMIT_MS }, async ({ skip }) => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.stop());
    const { crash, restart } = postgres;
    if (crash === undefined || restart === undefined) return skip('the server at DATABASE_URL is not ours to stop');
    await throughOutage({ DATABASE_URL: await postgres.createDatabase() }, { begin: crash, end: restart });
  });
});

async function throughOutage(settings: ServerEnvironment, outage: Outage): Promise<void> {
  const given = await environment(settings);
  const ledger = await startLedger(createRandom(1), 60);
  const models = path.join(given.RUNNEL_DATA_DIR as string, 'models.json');
  await writeFile(models, JSON.stringify(MODELS));
  const server = await startProcess({ ...given, RUNNEL_MODELS: models });
  const urlNow = (): string => server.url;
  const { data } = await call(`${server.url}/api/v1/agents`, { title: 'Calls', dsl: callingCanvas(ledger.url) });
  const agent = data.id;
  const starting = Array.from({ length: RUNS }, async (_, at) => {
    await pause(at * 15);
    return startRun(urlNow, agent);
  });
  await pause(RUNS * 7);
  await outage.begin();
  await pause(OUTAGE_MS);
  await outage.end();
  const started = (await Promise.all(starting.map((one) => one.catch(() => undefined)))).filter(
    (follower) => follower !== undefined,
  );
  expect(started.length).toBeGreaterThan(0);
  for (const follower of started) await expectWhole(follower, urlNow, agent, ledger);
  // Recovered by itself: a new run goes through.
  const after = await startRun(urlNow, agent);
  await after?.done;
  expect(textShown(after?.seen ?? [])).toBe(ANSWER);
  expect((await call(`${server.url}/api/v1/agents/${agent}/runs?status=running`)).data).toEqual([]);
}

async function expectWhole({ run, seen, done }: Follower, urlNow: () => string, agent: string, ledger: Ledger) {
  await done;
  const kept = attach(urlNow, agent, run);
  await kept.done;
  expect(seen).toEqual(kept.seen);
  const numbers = await storedNumbers(urlNow, agent, run);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  // RAGFlow's format leaves some out; none comes twice.
  expect(seen.map(({ id }) => id)).toEqual(numbers.filter((number) => seen.some(({ id }) => id === number)));
  const { data } = await call(`${urlNow()}/api/v1/agents/${agent}/runs/${run}`);
  if (data.status === 'failed') expect(data.error.code).toBe('STORE_UNAVAILABLE');
  else expect({ status: data.status, text: textShown(seen) }).toEqual({ status: 'succeeded', text: ANSWER });
  for (const node of CALLERS) expect(ledger.keys(run, node).size).toBeLessThanOrEqual(1);
}
