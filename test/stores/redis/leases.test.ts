import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storesOpener } from './support/open-stores.js';
import { freshId } from './support/records.js';
import { anyRedis, describeRedis } from './support/redis-server.js';

const LONG_MS = 60_000;

describeRedis('leases in Redis', () => {
  const opener = storesOpener();
  let server: Awaited<ReturnType<typeof anyRedis>>;
  const open = () => opener.open(server.url);

  beforeAll(async () => {
    server = await anyRedis();
  });
  afterAll(async () => {
    await opener.close();
    await server.dispose();
  });

  /** Asks until the lease has expired; its time is over when the store says so. */
  async function expiredLease(name: string) {
    const { leases } = open();
    for (;;) {
      const found = (await leases.expired(name, 10)).find((lease) => lease.name === name);
      if (found !== undefined) return found;
    }
  }

  it('have one holder at a time, until it gives them back', async () => {
    const [a, b, name] = [open().leases, open().leases, `run:${freshId()}`];
    const taken = await a.acquire('t', { name, owner: 'a', data: { run: 'r' } }, LONG_MS);
    expect(taken).toEqual({
      isMine: true,
      holder: { name, owner: 'a', data: { run: 'r' }, expiresAt: expect.any(Number) },
    });
    expect(await b.acquire('t', { name, owner: 'b', data: {} }, LONG_MS)).toEqual({ ...taken, isMine: false });
    await b.release('t', name, 'b');
    expect(await b.renew('t', name, 'b', LONG_MS)).toBe(false);
    expect(await a.renew('t', name, 'a', LONG_MS)).toBe(true);
    await a.release('t', name, 'a');
    expect(await a.renew('t', name, 'a', LONG_MS)).toBe(false);
    expect(await b.acquire('t', { name, owner: 'b', data: {} }, LONG_MS)).toMatchObject({ isMine: true });
  });

  it('go to exactly one of many who want them', async () => {
    const [{ leases }, name] = [open(), `run:${freshId()}`];
    const owners = Array.from({ length: 20 }, (_, at) => `owner-${at}`);
    const taken = await Promise.all(owners.map((owner) => leases.acquire('t', { name, owner, data: {} }, LONG_MS)));
    expect(taken.filter(({ isMine }) => isMine)).toHaveLength(1);
    expect(new Set(taken.map(({ holder }) => holder.owner)).size).toBe(1);
  });

  it('are prolonged for the owner who takes them again', async () => {
    const [{ leases }, name] = [open(), `run:${freshId()}`];
    const first = await leases.acquire('t', { name, owner: 'a', data: {} }, LONG_MS);
    const again = await leases.acquire('t', { name, owner: 'a', data: { x: 1 } }, 2 * LONG_MS);
    expect(again).toMatchObject({ isMine: true, holder: { data: { x: 1 } } });
    expect(again.holder.expiresAt).toBeGreaterThan(first.holder.expiresAt);
  });

  it('belong to one tenant', async () => {
    const [{ leases }, name] = [open(), `run:${freshId()}`];
    await leases.acquire('t', { name, owner: 'a', data: {} }, LONG_MS);
    expect(await leases.renew('u', name, 'a', LONG_MS)).toBe(false);
    expect(await leases.acquire('u', { name, owner: 'b', data: {} }, LONG_MS)).toMatchObject({ isMine: true });
  });

  it('are found after they expired, with what a successor must know, until somebody takes them', async () => {
    const [{ leases }, name] = [open(), `run:${freshId()}`];
    await leases.acquire('a tenant: ü', { name, owner: 'a', data: { run: 'r', list: [1] } }, 1);
    const lease = await expiredLease(name);
    expect(lease).toMatchObject({ tenant: 'a tenant: ü', name, owner: 'a', data: { run: 'r', list: [1] } });
    expect(await leases.expired(`session:${freshId()}`, 10)).toEqual([]);
    expect(await leases.expired(name, 0)).toEqual([]);
    expect(await leases.acquire(lease.tenant, { name, owner: 'b', data: {} }, LONG_MS)).toMatchObject({ isMine: true });
    expect(await leases.renew(lease.tenant, name, 'a', LONG_MS)).toBe(false);
    expect(await leases.expired(name, 10)).toEqual([]);
  });

  it('can still be prolonged after they expired while nobody took them', async () => {
    const [{ leases }, name] = [open(), `run:${freshId()}`];
    await leases.acquire('t', { name, owner: 'a', data: {} }, 1);
    await expiredLease(name);
    expect(await leases.renew('t', name, 'a', LONG_MS)).toBe(true);
    expect(await leases.acquire('t', { name, owner: 'b', data: {} }, LONG_MS)).toMatchObject({ isMine: false });
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('are not given for %s ms', async (ttlMs) => {
    const lease = { name: 'run:x', owner: 'a', data: {} };
    await expect(open().leases.acquire('t', lease, ttlMs)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });

  describe('of sessions', () => {
    it('show where the contract has them, for as long as they are held', async () => {
      const [{ leases, ask }, session] = [open(), freshId()];
      const key = `agent:active-session:${session}`;
      const name = `session:${session}`;
      await leases.acquire('t', { name, owner: 'a', data: { run: 'r', agent: 'c', user: 'u' } }, 30_000);
      const fields = ['session_id', 'token', 'user_id', 'canvas_id', 'run_id'];
      expect(await ask('HMGET', key, ...fields)).toEqual([session, 'a', 'u', 'c', 'r']);
      expect(Number(await ask('HGET', key, 'started_at'))).toBeGreaterThan(1_700_000_000_000);
      expect(Number(await ask('PTTL', key))).toBeLessThanOrEqual(30_000);
      for (const change of [['DEL'], ['HSET', 'token', 'b'], ['HSET', 'token', 'a']] as const) {
        const [command, ...values] = change;
        await ask(command, key, ...values);
        await leases.renew('t', name, 'a', LONG_MS);
        expect(await ask('HMGET', key, ...fields)).toEqual([session, 'a', 'u', 'c', 'r']);
        expect(Number(await ask('PTTL', key))).toBeGreaterThan(30_000);
        await ask('PEXPIRE', key, 20_000);
      }
      await leases.release('t', name, 'b');
      expect(await ask('EXISTS', key)).toBe(1);
      await leases.release('t', name, 'a');
      expect(await ask('EXISTS', key)).toBe(0);
    });

    it('drop the request to cancel an earlier run, but not one that a lost process has not seen', async () => {
      const [{ leases, ask }, session] = [open(), freshId()];
      const name = `session:${session}`;
      const flag = `${session}-cancel`;
      await ask('SET', flag, 'x');
      await leases.acquire('t', { name, owner: 'a', data: {} }, 1);
      expect(await ask('EXISTS', flag)).toBe(0);
      await ask('SET', flag, 'x');
      await expiredLease(name);
      await leases.acquire('t', { name, owner: 'b', data: {} }, LONG_MS);
      expect(await ask('EXISTS', flag)).toBe(1);
      await leases.release('t', name, 'b');
      expect(await ask('EXISTS', flag)).toBe(0);
    });
  });
});
