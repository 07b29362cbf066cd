import { afterAll, beforeAll } from 'vitest';
import { type CommitRun, commitInSteps } from '../../../src/records/run-commit.js';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import { LEASE_PREFIX, LEASES_KEY, RATE_PREFIX, rateKey } from '../../../src/stores/redis/keys.js';
import { type OpenStores, storesOpener } from '../../stores/redis/support/open-stores.js';
import { describeOwnRedis, type RedisServer, startRedisServer } from '../../stores/redis/support/redis-server.js';
import { newId, runRecord } from '../../stores/support/records.js';
import { describeCanvasRuntimeStore } from './suites/canvas-runtime-store.js';
import type { Given } from './suites/given.js';
import { describeLeaseStore } from './suites/lease-store.js';
import { describeRateCounter } from './suites/rate-counter.js';
import { describeRunCommit } from './suites/run-commit.js';
import { describeRunLog } from './suites/run-log.js';
import { describeRunLogFences } from './suites/run-log-fences.js';
import { describeRunStore } from './suites/run-store.js';
import { describeSharedStates } from './suites/shared-states.js';
import { describeSignals } from './suites/signals.js';

describeOwnRedis('stores in Redis', () => {
  const opener = storesOpener();
  // Sessions are elsewhere.
  const memory = createMemoryStores();
  const { sessions } = memory;
  let server: RedisServer;
  let here: OpenStores;
  let there: OpenStores;
  beforeAll(async () => {
    server = await startRedisServer();
    here = opener.open(server.url, {}, { commitSession: commitInSteps(memory) });
    there = opener.open(server.url);
    await Promise.all([here.redis.ready(), there.redis.ready()]);
  });
  afterAll(async () => {
    await opener.close();
    await server?.dispose();
  });

  const given: Given = {
    // Agents live elsewhere; here they are only names.
    agent: async () => newId(),
    async run(tenant) {
      const run = runRecord(await this.agent(tenant));
      await here.runs.save(tenant, run);
      return run.id;
    },
  };
  describeRunStore(() => here.runs, given);
  describeRunLog(() => here.log, given);
  describeRunLogFences(
    () => here.log,
    () => there.log,
    given,
  );
  describeRunCommit(
    () => ({ ...here, sessions }),
    () => here.commit as CommitRun,
    given,
  );
  describeCanvasRuntimeStore(() => here.canvasRuntimes);
  describeLeaseStore(() => ({ leases: here.leases, expireAll: () => expireAll(here) }));
  describeSharedStates(
    () => here.sharedStates,
    () => there.sharedStates,
  );
  describeRateCounter(() => ({
    take: (rates) => here.rates.take(rates),
    // Times are those of Redis: keys are aged, which is what time does to them.
    pass: (ms) => ageRates(here, ms),
  }));
  describeSignals(() => ({ here: here.signals, there: there.signals }));
});

/** Makes all counted requests so much older. */
async function ageRates({ ask }: OpenStores, ms: number): Promise<void> {
  for (const key of (await ask('KEYS', `${rateKey('')}*`)) as string[]) {
    for (const id of (await ask('ZRANGE', key, 0, -1)) as string[]) await ask('ZINCRBY', key, -ms * 1_000, id);
  }
  for (const key of (await ask('KEYS', `${RATE_PREFIX}:*`)) as string[]) {
    const left = Number(await ask('PTTL', key));
    if (left <= ms) await ask('DEL', key);
    else await ask('PEXPIRE', key, left - ms);
  }
}

/** Puts the end of every lease into the past. */
async function expireAll({ ask }: OpenStores): Promise<void> {
  for (const member of (await ask('ZRANGE', LEASES_KEY, 0, -1)) as string[]) {
    await ask('HSET', LEASE_PREFIX + member, 'expires_at', 0);
    // Not 0: what expired long ago is forgotten.
    await ask('ZADD', LEASES_KEY, Date.now() - 1_000, member);
  }
}
