import { describe, it } from 'vitest';
import { loadMemory } from '../../../src/chat/memory/load-memory.js';
import { marbles } from '../../support/scheduler.js';

const silent = { summary: () => new Promise<never>(() => {}), messages: () => new Promise<never>(() => {}) };

describe('loadMemory of a store that is silent', () => {
  it('waits no longer once it is unsubscribed', () =>
    marbles(({ expectObservable }) => {
      expectObservable(loadMemory({ store: silent, tenant: 't', session: 's' }), '---!').toBe('---');
    }));
});
