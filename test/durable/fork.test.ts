/** Forks and resumed runs over stores that outlive the process: what failed in one server goes on in the next. */

import { describe, expect, it, onTestFinished } from 'vitest';
import { openRedisStores } from '../../src/stores/redis/redis-stores.js';
import type { ServerStores } from '../../src/transport/server-parts.js';
import { describeOwnRedis, startRedisServer } from '../stores/redis/support/redis-server.js';
import { openEmbedded } from '../stores/support/open-stores.js';
import { makeFolder, removeFolder } from '../stores/support/temporary-folder.js';
import { createLog } from '../stores/support/test-log.js';
import { documentOf } from '../transport/support/documents.js';
import { openStream } from '../transport/support/event-stream.js';
import { startServer } from '../transport/support/server.js';
import { ANSWER, CALLERS } from './support/canvas.js';
import { attach, startRun, textShown } from './support/follower.js';
import { startProcess } from './support/server-process.js';
import { createCalls, prepareTrial } from './support/trial.js';

const CHAIN = documentOf({
  begin: ['Begin', ['Message:A']],
  'Message:A': ['Message', ['Probe:P'], { content: ['before {sys.query} '] }],
  'Probe:P': ['Probe', ['Message:B']],
  'Message:B': ['Message', [], { content: ['after {sys.query}'] }],
});

describe('runs in the embedded database', () => {
  it('keep what is different in a fork when their process is killed, and call nothing that had finished', async () => {
    const { env, ledger } = await prepareTrial({});
    let server = await startProcess(env);
    const urlNow = (): string => server.url;
    const agent = await createCalls(server.url, ledger);
    const origin = await startRun(urlNow, agent);
    await origin?.done;
    const at = origin?.seen.find(({ data }) => {
      const { event, data: about } = JSON.parse(data);
      return event === 'node_finished' && about.component_id === 'Invoke:A';
    })?.id;
    const before = ledger.total();
    const answer = await fetch(`${server.url}/api/v1/agents/${agent}/runs/${origin?.run}/fork?at=${at}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ outputs: { 'Invoke:A': { result: 'CHANGED' } }, detach: true, stream: true }),
    });
    const run = answer.headers.get('x-run-id') as string;
    await ledger.reached(before + 1);
    await server.kill();
    server = await startProcess(env);
    const forked = attach(urlNow, agent, run);
    await forked.done;
    expect(textShown(forked.seen)).toBe(ANSWER.replace(': A ', ': CHANGED '));
    expect(ledger.calls(run, 'A')).toBe(0);
    for (const node of CALLERS.filter((one) => one !== 'A'))
      expect([node, ledger.keys(run, node).size]).toEqual([node, 1]);
  });

  it('are forked and resumed by the next server', async () => {
    const folder = await makeFolder();
    onTestFinished(() => removeFolder(folder));
    await failAndGoOn(async () => {
      const stores = await openEmbedded(folder);
      return { stores, close: () => stores.close() };
    });
  });
});

describeOwnRedis('runs in Redis', () => {
  it('are forked and resumed by the next server', async () => {
    const folder = await makeFolder();
    const server = await startRedisServer();
    onTestFinished(async () => {
      await server.dispose();
      await removeFolder(folder);
    });
    await failAndGoOn(async () => {
      const redis = await openRedisStores({ url: server.url, log: createLog() });
      const stores = await openEmbedded(folder);
      return {
        stores: { ...stores, ...redis },
        close: async () => {
          await stores.close();
          await redis.close();
        },
      };
    });
  });
});

interface Opened {
  readonly stores: ServerStores;
  close(): Promise<void>;
}

async function failAndGoOn(open: () => Promise<Opened>): Promise<void> {
  const before = await open();
  const first = await startServer({ stores: before.stores, outlivesTest: true });
  const id = await first.agent(CHAIN);
  const stream = await openStream(`${first.url}/api/v1/agents/${id}/stream`, { body: { query: 'x' } });
  (await first.probes.next()).fail(new Error('Lost.'));
  const frames = await stream.rest();
  const failed = stream.headers.get('x-run-id') as string;
  await first.stop();
  await before.close();

  const after = await open();
  const second = await startServer({ stores: after.stores, outlivesTest: true });
  const post = async (path: string, body: object) => {
    const answer = second.call('POST', `/api/v1/agents/${id}${path}`, body);
    (await second.probes.next()).settle();
    return (await answer).body.data;
  };
  const asked = frames.find(({ json }) => json?.data?.component_id === 'Message:A')?.id as number;
  const forked = await post(`/runs/${failed}/fork?at=${asked}`, {});
  expect(forked).toMatchObject({ status: 'succeeded', data: { content: 'before x after x' } });
  const resumed = await post('/run', { resume_from: failed });
  expect(resumed).toMatchObject({ status: 'succeeded', data: { content: 'after x' } });
  const detail = (await second.call('GET', `/api/v1/agents/${id}/runs/${forked.run_id}`)).body.data;
  expect(detail).toMatchObject({ parent_run_id: failed, forked_at: asked });
  expect(second.errors).toEqual([]);
  await second.stop();
  await after.close();
}
