/** What a client of one tenant hears when it names things of another one on a live connection. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FORM, PROBE } from '../support/documents.js';
import { openStream } from '../support/event-stream.js';
import { connect, refused } from '../support/live-client.js';
import { startServer, type TestServer } from '../support/server.js';
import type { Probe } from '../support/test-components.js';

const owner = { authorization: 'Bearer one-of-acme-long-key' };
const stranger = { authorization: 'Bearer two-of-others-long-key' };

/** Ids of one tenant's things. */
interface Named {
  readonly session: string;
  readonly run: string;
  readonly version: string;
}

const FRAMES: Readonly<Record<string, (named: Named) => object>> = {
  'run in a session': ({ session }) => ({ type: 'run', query: 'x', session_id: session }),
  'run after a run': ({ run }) => ({ type: 'run', query: 'x', resume_from: run }),
  'run of a version': ({ version }) => ({ type: 'run', query: 'x', version }),
  fork: ({ run }) => ({ type: 'fork', run_id: run }),
  'fork at an event': ({ run }) => ({ type: 'fork', run_id: run, at: 1 }),
  user_input: ({ session }) => ({ type: 'user_input', session_id: session, inputs: { city: 'Rome' } }),
  'cancel of a run': ({ run }) => ({ type: 'cancel', run_id: run }),
  'cancel of a session': ({ session }) => ({ type: 'cancel', session_id: session }),
  'cancel of both': ({ run, session }) => ({ type: 'cancel', run_id: run, session_id: session }),
  attach: ({ run }) => ({ type: 'attach', run_id: run }),
  ack: ({ run }) => ({ type: 'ack', run_id: run, seq: 1 }),
};

describe('on a live connection, what belongs to another tenant', () => {
  let server: TestServer;
  let own: string;
  let foreign: string;
  let probe: Probe;
  const things: Record<string, Named> = {};

  beforeAll(async () => {
    server = await startServer({
      env: { RUNNEL_API_KEYS: 'acme=one-of-acme-long-key,other=two-of-others-long-key' },
      outlivesTest: true,
    });
    own = await server.agent(FORM, stranger);
    foreign = await server.agent(FORM, owner);
    const data = async (path: string, body: object) =>
      (await server.call('POST', `/api/v1/agents/${path}`, body, owner)).body.data;
    const version = (await data(`${foreign}/versions`, {})).id;
    const waiting = await data(`${foreign}/run`, { query: 'x' });
    things.waiting = { session: waiting.session_id, run: waiting.run_id, version };
    const probing = await server.agent(PROBE, owner);
    const stream = await openStream(`${server.url}/api/v1/agents/${probing}/stream`, {
      body: { query: 'x' },
      headers: owner,
    });
    probe = await server.probes.next();
    const [first] = await stream.until(() => true);
    things.running = { session: first?.json.session_id, run: String(stream.headers.get('x-run-id')), version };
  });
  afterAll(async () => {
    expect(probe.isStopped).toBe(false);
    const { session, run } = things.waiting as Named;
    const answer = await server.call('GET', `/api/v1/agents/${foreign}/runs/${run}`, undefined, owner);
    expect(answer.body.data).toMatchObject({ status: 'waiting', session_id: session });
    await server.stop();
  });

  /** Everything that is said to a frame, up to the answer to the ping behind it. */
  const askAbout = async (frame: object, named: Named): Promise<string> => {
    const client = await connect(server.url, own, { headers: stranger });
    await client.next();
    client.send({ ...frame, req: 1 });
    // An acknowledgement is not answered.
    const answer = 'type' in frame && frame.type === 'ack' ? [] : [await client.next()];
    client.send({ type: 'ping', t: 'end' });
    answer.push(...(await client.until(({ t }) => t === 'end')).slice(0, -1));
    client.socket.terminate();
    return Object.values(named).reduce((text, id) => text.replaceAll(id, '?'), JSON.stringify(answer));
  };

  const cases = Object.keys(FRAMES).flatMap((name) => ['waiting', 'running'].map((state) => [name, state] as const));
  it.each(cases)('does not exist for %s, while it is %s', async (name, state) => {
    const frameOf = FRAMES[name] as (named: Named) => object;
    const named = things[state] as Named;
    const unknown: Named = { session: '5'.repeat(32), run: '6'.repeat(32), version: '7'.repeat(32) };
    const answer = await askAbout(frameOf(named), named);
    expect(answer).toBe(await askAbout(frameOf(unknown), unknown));
    for (const { type } of JSON.parse(answer)) expect(type).toBe('error');
  });

  it('cannot be connected to', async () => {
    const ask = async (agent: string): Promise<string> =>
      JSON.stringify(await refused(server.url, `/api/v1/agents/${agent}/live`, { headers: stranger })).replaceAll(
        agent,
        '?',
      );
    expect(await ask(foreign)).toBe(await ask('8'.repeat(32)));
  });
});
