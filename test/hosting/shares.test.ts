import { describe, expect, it, vi } from 'vitest';
import { Shares } from '../../src/hosting/shares.js';
import { createRandom } from '../support/random.js';
import { PROBE } from '../transport/support/documents.js';
import { openStream } from '../transport/support/event-stream.js';
import { startServer } from '../transport/support/server.js';

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const [ACME, OTHER] = ['one-of-acme-long-key', 'two-of-others-long-key'];

/** Takes places for a tenant until there is none for it; how many it got. */
function fill(shares: Shares, tenant: string): number {
  let got = 0;
  for (; shares.hasRoom(tenant); got += 1) shares.take(tenant);
  return got;
}

describe('shares', () => {
  it.each([
    [1, [1]],
    [2, [2]],
    [4, [3, 1]],
    [100, [75, 19, 5, 1]],
    [10_000, [7_500, 1_875, 469, 117]],
  ])('of %d places leave some to the next tenant: %j', (most, expected) => {
    const shares = new Shares({ most, isShared: true });
    expect(expected.map((_, at) => fill(shares, `t${at}`))).toEqual(expected);
  });

  it('are all places for one tenant alone', () => {
    expect(fill(new Shares({ most: 10, isShared: false }), 'a')).toBe(10);
  });

  it('level out: tenants that compete get three sevenths each, once the first gives back', () => {
    const shares = new Shares({ most: 700, isShared: true });
    const given: (() => void)[] = [];
    while (shares.hasRoom('a')) given.push(shares.take('a'));
    const own: Record<string, number> = { a: given.length, b: fill(shares, 'b') };
    // Runs of the first end one by one; whoever may take the place does, the first before the other.
    for (let turn = 0; turn < 5_000; turn += 1) {
      given.splice(0, 1)[0]?.();
      own.a = (own.a ?? 0) - 1;
      for (const tenant of ['a', 'b']) {
        if (!shares.hasRoom(tenant)) continue;
        const giveBack = shares.take(tenant);
        if (tenant === 'a') given.push(giveBack);
        own[tenant] = (own[tenant] ?? 0) + 1;
      }
    }
    expect(own.a).toBeGreaterThanOrEqual(299);
    expect(own.b).toBeGreaterThanOrEqual(299);
  });

  it.each(Array.from({ length: 20 }, (_, seed) => seed))(
    'are given back once, and always leave one to a fourth tenant: seed %d',
    (seed) => {
      const random = createRandom(seed);
      const shares = new Shares({ most: 100 + random.int(500), isShared: true });
      const given: (() => void)[][] = [[], [], []];
      for (let move = 0; move < 2_000; move += 1) {
        const at = random.int(3);
        // More are taken than given back, so that it gets tight.
        if (random.int(4) === 0) {
          const giveBack = given[at]?.pop();
          giveBack?.();
          giveBack?.();
        } else if (shares.hasRoom(`t${at}`)) given[at]?.push(shares.take(`t${at}`));
        expect(shares.hasRoom('the fourth')).toBe(true);
      }
      expect(shares.size).toBe(given.flat().length);
    },
  );
});

describe('tenants that compete for the runs of a server', () => {
  const start = async (env: Record<string, string>) => {
    const server = await startServer({ env: { RUNNEL_MAX_RUNS: '8', ...env } });
    const run = async (key: string, agent: string) => {
      const answer = await fetch(`${server.url}/api/v1/agents/${agent}/stream`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer(key) },
        body: '{"query":"x","detach":true}',
      });
      const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
      const refusal = isStream ? undefined : ((await answer.json()) as { code: number; message: string });
      if (isStream) await answer.body?.cancel();
      return refusal;
    };
    const fillWith = async (key: string, agent: string) => {
      for (let got = 0; ; got += 1) {
        const refusal = await run(key, agent);
        if (refusal !== undefined) return { got, refusal };
      }
    };
    return { ...server, fillWith };
  };

  it('none takes all', async () => {
    const server = await start({ RUNNEL_API_KEYS: `acme=${ACME},other=${OTHER}` });
    const [mine, theirs] = [await server.agent(PROBE, bearer(ACME)), await server.agent(PROBE, bearer(OTHER))];
    const acme = await server.fillWith(ACME, mine);
    expect(acme).toMatchObject({ got: 6, refusal: { code: 103, message: expect.stringContaining('share of 8') } });
    expect(await server.fillWith(OTHER, theirs)).toMatchObject({ got: 2, refusal: { code: 103 } });
    (await server.probes.next()).settle();
    await server.call('POST', `/api/v1/agents/${mine}/cancel`, {}, bearer(ACME));
    expect((await server.fillWith(OTHER, theirs)).got).toBeGreaterThan(0);
  });

  it('none takes all trials of components, or all streams of runs that exist', async () => {
    const env = { RUNNEL_MAX_RUNS: '4', RUNNEL_WS_MAX_CONNECTIONS: '4' };
    const server = await start({ RUNNEL_API_KEYS: `acme=${ACME},other=${OTHER}`, ...env });
    const agents = {
      [ACME]: await server.agent(PROBE, bearer(ACME)),
      [OTHER]: await server.agent(PROBE, bearer(OTHER)),
    };
    const trials: Promise<unknown>[] = [];
    const attempt = (key: string) => {
      const path = `/api/v1/agents/${agents[key]}/components/Probe:P/debug`;
      return server.call('POST', path, { params: {} }, bearer(key)).then(({ body }) => body);
    };
    const begun = [];
    for (const key of [ACME, ACME, ACME, OTHER]) {
      trials.push(attempt(key));
      begun.push(await server.probes.next());
    }
    expect(await attempt(ACME)).toMatchObject({ code: 103, message: expect.stringContaining('trials') });
    for (const probe of begun) probe.settle();
    for (const answer of await Promise.all(trials)) expect(answer).toMatchObject({ code: 0 });

    const runs: Record<string, string | null> = {};
    for (const [key, agent] of Object.entries(agents)) {
      const begin = { body: { query: 'x', detach: true }, headers: bearer(key) };
      runs[key] = (await openStream(`${server.url}/api/v1/agents/${agent}/stream`, begin)).headers.get('x-run-id');
    }
    const follow = async (key: string) => {
      const address = `${server.url}/api/v1/agents/${agents[key]}/runs/${runs[key]}/events`;
      return openStream(address, { headers: bearer(key) });
    };
    const streams = [await follow(ACME), await follow(ACME), await follow(ACME), await follow(OTHER)];
    await expect(follow(ACME)).rejects.toThrow('event streams');
    await streams[0]?.leave();
    await streams[3]?.leave();
    await vi.waitFor(async () => streams.push(await follow(OTHER)));
  });

  it('visitors of chat pages do not take the share of their tenant', async () => {
    const server = await start({ RUNNEL_API_KEYS: `acme=${ACME}` });
    const agent = await server.agent(PROBE, bearer(ACME));
    const { beta } = (await server.call('POST', '/api/v1/system/tokens', {}, bearer(ACME))).body.data;
    const visit = async () => {
      const answer = await fetch(`${server.url}/api/v1/agentbots/${agent}/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer(beta) },
        body: '{"query":"x"}',
      });
      const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
      await answer.body?.cancel();
      return isStream;
    };
    let visitors = 0;
    while (await visit()) visitors += 1;
    expect(visitors).toBe(6);
    expect((await server.fillWith(ACME, agent)).got).toBe(2);
  });

  it('one alone takes all where there are no others', async () => {
    const server = await start({});
    expect((await server.fillWith(ACME, await server.agent(PROBE))).got).toBe(8);
  });
});
