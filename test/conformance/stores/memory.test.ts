import { beforeAll, describe } from 'vitest';
import { createMemoryLeases } from '../../../src/stores/memory-leases.js';
import { createMemorySignals } from '../../../src/stores/memory-signals.js';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import { createMemoryVersions } from '../../../src/stores/memory-versions.js';
import { createMemoryTokens } from '../../../src/transport/access/token-store.js';
import { createMemoryCanvasRuntimes } from '../../../src/transport/admin/canvas-runtimes.js';
import { describeAllStores, type StoreSubject } from './suites/all-stores.js';

describe('stores in memory', () => {
  let subject: StoreSubject;
  beforeAll(() => {
    let now = 1_000_000;
    const stores = createMemoryStores();
    const signals = createMemorySignals({ now: () => now });
    subject = {
      ...stores,
      versions: createMemoryVersions(),
      leases: createMemoryLeases({ now: () => now }),
      tokens: createMemoryTokens(),
      canvasRuntimes: createMemoryCanvasRuntimes(),
      // There is one process.
      here: signals,
      there: signals,
      expireAll: async () => {
        now += 3_600_000;
      },
    };
  });
  describeAllStores(() => subject);
});
