import { describe, expect, it } from 'vitest';
import { SessionQuota } from '../../src/hosting/session-quota.js';
import { DEFAULT_QUOTAS, type UsageStore } from '../../src/records/quotas.js';

function subject(limit: number, stored = 0) {
  const state = { stored, now: 0, counts: 0 };
  const usage: UsageStore = {
    quotas: { ...DEFAULT_QUOTAS, sessions: limit },
    of: () => Promise.reject(new Error('not asked')),
    most: () => Promise.reject(new Error('not asked')),
    async sessions() {
      state.counts += 1;
      return state.stored;
    },
  };
  return { state, quota: new SessionQuota(usage, () => state.now) };
}

const FULL = expect.objectContaining({ code: 'QUOTA_EXCEEDED' });

describe('the quota of sessions', () => {
  it('counts once, then knows', async () => {
    const { state, quota } = subject(1_000);
    await quota.admit('t');
    for (let count = 0; count < 500; count += 1) expect(quota.admit('t')).toBeUndefined();
    expect(state.counts).toBe(1);
    expect(quota.most).toBe(501);
  });

  it('admits as many as there is room for, also of those that come at once before anything is known', async () => {
    const { state, quota } = subject(5, 2);
    const results = await Promise.allSettled(Array.from({ length: 10 }, async () => quota.admit('t')));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(state.counts).toBe(1);
    await quota.admit('u');
  });

  it('counts again before it refuses, but not each time', async () => {
    const { state, quota } = subject(2);
    await quota.admit('t');
    await quota.admit('t');
    state.stored = 2;
    expect(() => quota.admit('t')).toThrow(FULL);
    expect(state.counts).toBe(1);
    state.now = 2_000;
    await expect(quota.admit('t')).rejects.toEqual(FULL);
    for (let count = 0; count < 10; count += 1) expect(() => quota.admit('t')).toThrow(FULL);
    expect(state.counts).toBe(2);
    // One was deleted.
    state.stored = 1;
    state.now = 4_000;
    await quota.admit('t');
    expect(() => quota.admit('t')).toThrow(FULL);
  });

  it('learns beside the runs what other processes have stored', async () => {
    const { state, quota } = subject(10);
    await quota.admit('t');
    state.stored = 10;
    state.now = 61_000;
    expect(quota.admit('t')).toBeUndefined();
    await new Promise(setImmediate);
    expect(() => quota.admit('t')).toThrow(FULL);
    expect(state.counts).toBe(2);
  });

  it('leaves a tenth for the tenant itself that no chat page takes', async () => {
    const { quota } = subject(10, 9);
    await expect(quota.admit('t', 'page')).rejects.toMatchObject({ details: { quota: { used: 9, limit: 9 } } });
    await quota.admit('t');
    expect(() => quota.admit('t')).toThrow(FULL);
  });

  it('bounds nothing without a quota, or without stores that count', async () => {
    const { state, quota } = subject(0);
    expect(quota.admit('t')).toBeUndefined();
    expect(new SessionQuota(undefined, Date.now).admit('t')).toBeUndefined();
    expect(state.counts).toBe(0);
  });
});
