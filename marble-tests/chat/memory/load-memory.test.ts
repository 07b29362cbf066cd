import { describe, it } from 'vitest';
import { loadMemory } from '../../../src/chat/memory/load-memory.js';
import { marbles } from '../../support/scheduler.js';

const silent = { summary: () => new Promise<never>(() => {}), messages: () => new Promise<never>(() => {}) };

describe('loadMemory of a store that is silent', () => {
  const degraded = (ms: number) => ({
    m: {
      summary: undefined,
      history: [],
      status: 'degraded',
      ms,
      isOverBudget: true,
      detail: { history_count: 0, summary: false, tokens: 0 },
    },
  });

  it('goes on without a memory after 500 ms', () =>
    marbles(({ expectObservable }) => {
      expectObservable(loadMemory({ store: silent, tenant: 't', session: 's' })).toBe('500ms (m|)', degraded(500));
      expectObservable(loadMemory({ store: silent, tenant: 't', session: 's', limitMs: 80 })).toBe(
        '80ms (m|)',
        degraded(80),
      );
    }));

  it('waits no longer once it is unsubscribed', () =>
    marbles(({ expectObservable }) => {
      expectObservable(loadMemory({ store: silent, tenant: 't', session: 's' }), '---!').toBe('---');
    }));
});
