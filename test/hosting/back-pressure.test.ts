/** A model that floods, over a real socket, beside a log that stores nothing for a while: the socket is not read on. */
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { createHost } from '../../src/hosting/host.js';
import { startCommand } from '../../src/hosting/start-command.js';
import { createModels } from '../../src/models/router.js';
import type { RunLog } from '../../src/records/run-log.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { frame, startServer } from '../models/fake-server.js';
import { documentOf } from '../transport/support/documents.js';

/** What the model says in all, in pieces of 2 KB: more than the buffers of two sockets hold, less than a log in memory may take. */
const PIECES = 9_000;
const PIECE = 'x'.repeat(2_048);

it('reads an answer no faster than its run is stored', async () => {
  let sent = 0;
  const model = await startServer(async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (; sent < PIECES; sent += 1) {
      if (!response.write(`data: ${JSON.stringify(frame({ content: PIECE }))}\n\n`)) await once(response, 'drain');
    }
    response.end(`data: ${JSON.stringify(frame({}, 'stop'))}\n\ndata: [DONE]\n\n`);
  });
  const stores = createMemoryStores();
  let release = (): void => {};
  let unstored = 0;
  /** Set once the text comes. */
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { log: memory } = stores;
  const log: RunLog = {
    claim: (...given) => memory.claim(...given),
    append: async (tenant, run, batch) => {
      if (batch.events.some(({ event }) => event === 'node-delta')) {
        unstored += batch.events.length;
        await blocked;
      }
      await memory.append(tenant, run, batch);
    },
    read: (...given) => memory.read(...given),
    snapshot: (...given) => memory.snapshot(...given),
    end: (...given) => memory.end(...given),
    delete: (...given) => memory.delete(...given),
  };
  const models = JSON.stringify({
    factories: { Flood: { base_url: model.url, api_key: 'k' } },
  });
  const host = createHost({
    stores: { ...stores, log },
    services: {
      models: createModels(await modelsFromEnvironment({ RUNNEL_MODELS: 'models.json' }, async () => models)),
    },
  });
  const now = Date.now();
  await stores.agents.insert('t', {
    ...{ id: 'a', title: 'A', description: null, avatar: null, permission: 'me', canvasType: null },
    ...{ canvasCategory: 'agent_canvas', tags: '', createdAt: now, updatedAt: now },
    dsl: documentOf({
      begin: ['Begin', ['LLM:L']],
      'LLM:L': ['LLM', [], { llm_id: 'm@Flood', prompts: [{ role: 'user', content: 'go' }] }],
    }),
  });

  const { live } = await host.start(startCommand({ tenant: 't', agentId: 'a', fallback: 'draft' }, { query: 'x' }));
  // The model has stopped sending when it was given many turns and sent nothing: what it has sent lies in the buffers between.
  await vi.waitFor(
    async () => {
      const before = sent;
      for (let turn = 0; turn < 200; turn += 1) await setImmediate();
      expect(unstored).toBeGreaterThan(0);
      expect(sent).toBe(before);
    },
    { timeout: 60_000, interval: 20 },
  );
  expect(sent).toBeLessThan(PIECES);
  release();
  const { status, error } = await live.ended;
  expect({ status, error }).toEqual({ status: 'succeeded' });
  expect(sent).toBe(PIECES);
  await host.close(0);
});
