import { asyncScheduler, firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../../src/errors.js';
import { OPEN_MS } from '../../../src/models/routing/breaker.js';
import type { BreakerStore } from '../../../src/models/routing/breaker-store.js';
import { Breakers } from '../../../src/models/routing/breakers.js';
import { createMemorySharedStates } from '../../../src/stores/memory-shared-states.js';

const FAILED = { type: 'failed', reason: 'gone' } as const;

/** A clock that is set by hand; timers are real. */
function clockAt(ms: number) {
  const clock = Object.assign(Object.create(asyncScheduler) as typeof asyncScheduler, { ms, now: () => clock.ms });
  return clock;
}

function processOver(store: BreakerStore | undefined, clock = clockAt(1_000_000)) {
  const told: string[] = [];
  const tell = (_: object, message: string): void => void told.push(message);
  const breakers = new Breakers({ scheduler: clock, log: { warn: tell, info: tell } });
  if (store !== undefined) breakers.share(store);
  const refresh = async (): Promise<void> => {
    clock.ms += 2_000;
    const fresh$ = breakers.refreshed(['t']);
    if (fresh$ !== undefined) await firstValueFrom(fresh$);
  };
  return { breakers, clock, told, refresh };
}

describe('breakers that processes share', () => {
  it('count the failures of all processes together', async () => {
    const store = createMemorySharedStates();
    const [one, two] = [processOver(store), processOver(store)];
    for (let at = 0; at < 3; at += 1) one.breakers.record('t', FAILED);
    await expect.poll(async () => (await store.read(['t'])).get('t')?.state.failedInRow).toBe(3);
    await two.refresh();
    expect(two.breakers.of('t')).toMatchObject({ phase: 'closed', failedInRow: 3 });
    for (let at = 0; at < 2; at += 1) two.breakers.record('t', FAILED);
    expect(two.breakers.of('t').phase).toBe('open');
    await expect.poll(async () => (await store.read(['t'])).get('t')?.state.phase).toBe('open');
    await one.refresh();
    expect(one.breakers.of('t').phase).toBe('open');
  });

  it('lose no failure of many that several processes note at once', async () => {
    const store = createMemorySharedStates();
    const processes = Array.from({ length: 4 }, () => processOver(store));
    for (const { breakers } of processes) {
      breakers.record('t', { type: 'succeeded' });
      breakers.record('t', FAILED);
    }
    const counts = async () => (await store.read(['t'])).get('t')?.state.seconds;
    await expect.poll(counts).toEqual([[1_000, 4, 4]]);
  });

  it('give the probe to one process of several that ask at once', async () => {
    const store = createMemorySharedStates();
    const clock = clockAt(1_000_000);
    const processes = Array.from({ length: 5 }, () => processOver(store, clock));
    for (let at = 0; at < 5; at += 1) processes[0]?.breakers.record('t', FAILED);
    await expect.poll(async () => (await store.read(['t'])).get('t')?.state.phase).toBe('open');
    clock.ms += OPEN_MS;
    await Promise.all(processes.map(({ refresh }) => refresh()));
    const claims = await Promise.all(processes.map(({ breakers }) => firstValueFrom(breakers.claimProbe('t'))));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });

  it('are closed by hand for all processes', async () => {
    const store = createMemorySharedStates();
    const [one, two] = [processOver(store), processOver(store)];
    one.breakers.record('t', { type: 'key-refused' });
    await expect.poll(async () => (await store.read(['t'])).get('t')?.state.phase).toBe('open');
    await two.refresh();
    expect((await two.breakers.force('t', 'closed')).phase).toBe('closed');
    await one.refresh();
    expect(one.breakers.of('t').phase).toBe('closed');
  });

  it('go by the own copy while the store is broken, say so once, and share what happened when it is back', async () => {
    const memory = createMemorySharedStates();
    let isBroken = true;
    const gone = new EngineError('STORE_UNAVAILABLE', 'away');
    const store: BreakerStore = {
      read: async (names) => (isBroken ? Promise.reject(gone) : memory.read(names)),
      replace: async (...given) => (isBroken ? Promise.reject(gone) : memory.replace(...given)),
    };
    const { breakers, told, refresh, clock } = processOver(store);
    await refresh();
    for (let at = 0; at < 5; at += 1) breakers.record('t', FAILED);
    expect(breakers.of('t').phase).toBe('open');
    clock.ms += 6_000;
    await refresh();
    isBroken = false;
    clock.ms += 6_000;
    await refresh();
    await expect.poll(async () => (await memory.read(['t'])).get('t')?.state.phase).toBe('open');
    expect(told).toEqual(['breakers of models are not shared for now', 'breakers of models are shared again']);
  });

  it('take a state that makes no sense for a new breaker', async () => {
    const store = createMemorySharedStates();
    await store.replace('t', 0, { phase: 'ajar', seconds: 'many' });
    const { breakers, refresh } = processOver(store);
    await refresh();
    expect(breakers.of('t').phase).toBe('closed');
    breakers.record('t', { type: 'key-refused' });
    await expect
      .poll(async () => (await store.read(['t'])).get('t'))
      .toMatchObject({ version: 2, state: { phase: 'open' } });
  });

  it('do not wait for a store that is silent longer than 100 ms', async () => {
    const silent: BreakerStore = { read: () => new Promise(() => {}), replace: () => new Promise(() => {}) };
    const { breakers, refresh, clock, told } = processOver(silent);
    await refresh();
    expect(told).toEqual(['breakers of models are not shared for now']);
    clock.ms += 4_000;
    expect(breakers.refreshed(['t'])).toBeUndefined();
    breakers.record('t', FAILED);
    expect(breakers.of('t').failedInRow).toBe(1);
  });
});
