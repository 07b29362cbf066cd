import { beforeAll, describe } from 'vitest';
import { createLocalRates } from '../../../src/chat/limits/local-rates.js';
import { createMemoryLeases } from '../../../src/stores/memory-leases.js';
import { createMemorySignals } from '../../../src/stores/memory-signals.js';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import { describeAllStores, type StoreSubject } from './suites/all-stores.js';
import { describeGraphStore } from './suites/graph-store.js';
import { describeKnowledgeStore } from './suites/knowledge-store.js';
import { SMALL_QUOTAS } from './suites/quotas.js';
import { describeRateCounter } from './suites/rate-counter.js';

describe('stores in memory', () => {
  let subject: StoreSubject;
  beforeAll(() => {
    let now = 1_000_000;
    const stores = createMemoryStores({ quotas: SMALL_QUOTAS });
    const signals = createMemorySignals({ now: () => now });
    subject = {
      ...stores,
      leases: createMemoryLeases({ now: () => now }),
      // There is one process.
      here: signals,
      there: signals,
      expireAll: async () => {
        now += 3_600_000;
      },
    };
  });
  describeAllStores(() => subject);

  let clockMs = 5_000;
  const rates = createLocalRates(() => clockMs);
  describeRateCounter(() => ({
    ...rates,
    pass: (ms) => {
      clockMs += ms;
    },
  }));
  const { openKnowledge } = createMemoryStores();
  describeKnowledgeStore(openKnowledge);
  describeGraphStore(openKnowledge);
});
