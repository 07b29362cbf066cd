/**
 * A server that is killed at random moments under load. `RUNNEL_TEST_KILLS` sets how often (`npm run test:kill` has the full number).
 *
 * Afterwards every run has ended, no finished node was called again, each node is known by one key, and what a client has seen over
 * all its connections is the server's log, byte for byte.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeOwnRedis, startRedisServer } from '../stores/redis/support/redis-server.js';
import { hasPostgres, startPostgres } from '../stores/support/postgres-server.js';
import { createRandom, type Random } from '../support/random.js';
import { skippedUnless } from '../support/skipped.js';
import { type Follower, startRun } from './support/follower.js';
import { type ServerEnvironment, type ServerProcess, startProcess } from './support/server-process.js';
import { createCalls, prepareTrial } from './support/trial.js';
import { callsOfSettled, expectAllEnded, expectWhole } from './support/whole.js';

const KILLS = Number(process.env.RUNNEL_TEST_KILLS ?? 2);
const RUNS_PER_KILL = 12;
const TIME_LIMIT_MS = 120_000 + KILLS * 30_000;

describe('a server that is killed again and again', () => {
  it(`loses nothing over the embedded database (${KILLS} kills)`, { timeout: TIME_LIMIT_MS }, async () => {
    await killAgainAndAgain({});
  });
});

describeOwnRedis('a server over Redis that is killed again and again', () => {
  it.skipIf(!hasPostgres)(
    skippedUnless(hasPostgres, 'no Postgres here', `loses nothing over Postgres and Redis (${KILLS} kills)`),
    { timeout: TIME_LIMIT_MS },
    async () => {
      const [redis, postgres] = await Promise.all([startRedisServer(), startPostgres()]);
      onTestFinished(async () => {
        await redis.dispose();
        await postgres.stop();
      });
      const DATABASE_URL = await postgres.createDatabase();
      await killAgainAndAgain({ DATABASE_URL, REDIS_URL: redis.url });
    },
  );
});

async function killAgainAndAgain(settings: ServerEnvironment): Promise<void> {
  const seed = Number(process.env.RUNNEL_TEST_SEED ?? Date.now() % 1_000_000);
  const random = createRandom(seed);
  const { env, ledger } = await prepareTrial(settings, random);
  let server: ServerProcess = await startProcess(env);
  const urlNow = (): string => server.url;
  const agent = await createCalls(server.url, ledger);
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
