import { afterAll, beforeAll } from 'vitest';
import { type CommitRun, commitInSteps } from '../../../src/records/run-commit.js';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import { LEASE_PREFIX, LEASES_KEY } from '../../../src/stores/redis/keys.js';
import { type OpenStores, storesOpener } from '../../stores/redis/support/open-stores.js';
import { describeOwnRedis, type RedisServer, startRedisServer } from '../../stores/redis/support/redis-server.js';
import { newId, runRecord } from '../../stores/support/records.js';
import { describeCanvasRuntimeStore } from './suites/canvas-runtime-store.js';
import type { Given } from './suites/given.js';
import { describeLeaseStore } from './suites/lease-store.js';
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
  describeSignals(() => ({ here: here.signals, there: there.signals }));
});

/** Puts the end of every lease into the past. */
async function expireAll({ ask }: OpenStores): Promise<void> {
  for (const member of (await ask('ZRANGE', LEASES_KEY, 0, -1)) as string[]) {
    await ask('HSET', LEASE_PREFIX + member, 'expires_at', 0);
    // Not 0: what expired long ago is forgotten.
    await ask('ZADD', LEASES_KEY, Date.now() - 1_000, member);
  }
}
