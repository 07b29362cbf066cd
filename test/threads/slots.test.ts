import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { createSlots, type SlotsOptions } from '../../src/threads/slots.js';

const never = new AbortController().signal;

/** Slots, and who got them in which order; `end` gives one back. */
function open(options: Partial<SlotsOptions> = {}) {
  const slots = createSlots({
    maxActive: 1,
    maxWaiting: 100,
    maxWaitingPerTenant: 10,
    waiting: (isTenant) => `scripts ${isTenant ? 'of this tenant ' : ''}wait to be run`,
    closed: () => new EngineError('SANDBOX_FAILED', 'closed'),
    ...options,
  });
  const served: string[] = [];
  const held: (() => void)[] = [];
  const take = (tenant: string, name = tenant, signal = never): Promise<void> =>
    slots.take(signal, tenant).then((giveBack) => {
      served.push(name);
      held.push(giveBack);
    });
  /** Gives back the slot that was taken first. */
  const end = async (): Promise<void> => {
    await new Promise(setImmediate);
    held.shift()?.();
    await new Promise(setImmediate);
  };
  return { slots, served, take, end };
}

describe('slots for scripts', () => {
  it('go to whoever came first, as long as there is one tenant', async () => {
    const { served, take, end } = open();
    const all = ['1', '2', '3'].map((name) => take('a', name));
    for (let count = 0; count < 2; count += 1) await end();
    await Promise.all(all);
    expect(served).toEqual(['1', '2', '3']);
  });

  it('go to tenants in turn, however many scripts one of them sends', async () => {
    const { served, take, end } = open();
    for (let count = 0; count < 5; count += 1) void take('a');
    for (const tenant of ['b', 'c', 'b']) void take(tenant);
    for (let count = 0; count < 7; count += 1) await end();
    expect(served.join('')).toBe('abcabaaa');
  });

  it('go to the tenant that has the fewest', async () => {
    const { served, take, end } = open({ maxActive: 3 });
    for (const tenant of ['a', 'a', 'b', 'b', 'a', 'b', 'c']) void take(tenant);
    await end();
    expect(served).toEqual(['a', 'a', 'b', 'c']);
    await end();
    expect(served).toEqual(['a', 'a', 'b', 'c', 'a']);
  });

  it('leave one for another tenant, as long as one may not have all', async () => {
    const { served, take, end } = open({ maxActive: 2, maxActivePerTenant: 1 });
    for (const tenant of ['a', 'a', 'a', 'b', 'b']) void take(tenant);
    await new Promise(setImmediate);
    expect(served).toEqual(['a', 'b']);
    await end();
    expect(served).toEqual(['a', 'b', 'a']);
  });

  it('are refused to a tenant of whom too many wait, and to nobody else', async () => {
    const { take } = open({ maxWaitingPerTenant: 2 });
    for (let count = 0; count < 3; count += 1) void take('a');
    await expect(take('a')).rejects.toMatchObject({
      code: 'LIMIT_REACHED',
      retryable: true,
      message: '2 scripts of this tenant wait to be run already; try again later.',
    });
    let isRefused = false;
    void take('b').catch(() => {
      isRefused = true;
    });
    await new Promise(setImmediate);
    expect(isRefused).toBe(false);
  });

  it('are refused when too many wait in all', async () => {
    const { take } = open({ maxWaiting: 1 });
    void take('a');
    void take('a');
    await expect(take('b')).rejects.toThrow('1 scripts wait to be run already');
  });

  it('leave out who gave up, and forget it', async () => {
    const { served, take, end, slots } = open({ maxWaitingPerTenant: 1 });
    const ending = new AbortController();
    void take('a');
    const waiting = take('b', 'b', ending.signal);
    ending.abort(new Error('given up'));
    await expect(waiting).rejects.toThrow('given up');
    void take('b', 'b again');
    await end();
    expect(served).toEqual(['a', 'b again']);
    const last = take('c');
    slots.close();
    await expect(last).rejects.toMatchObject({ code: 'SANDBOX_FAILED' });
    await expect(take('d')).rejects.toMatchObject({ code: 'SANDBOX_FAILED' });
  });
});
