/** A worker without HTTP: it resumes runs whose process was lost, from the stores that it shares with that process. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createModels, modelsFromEnvironment } from 'runnel';
import { createHost, openPostgresStores, type StartCommand, startCommand } from 'runnel/server';

const dsl = {
  components: {
    begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['Message:Answer'], upstream: [] },
    'Message:Answer': {
      obj: { component_name: 'Message', params: { content: ['Hello, {sys.query}.'] } },
      downstream: [],
      upstream: ['begin'],
    },
  },
};
const log = { info: () => {}, warn: () => {}, error: console.error };
const dataDir = await mkdtemp(path.join(tmpdir(), 'runnel-worker-'));
const models = createModels(await modelsFromEnvironment({}, async () => ''));

// A process that takes a command, as from a queue: plain JSON. It stops before its run has ended.
const command: StartCommand = startCommand(
  { tenant: 'local', agentId: 'greeter', fallback: 'draft' },
  { query: 'Ada' },
);
const firstStores = await openPostgresStores({ dataDir, log });
const first = createHost({ stores: firstStores, services: { models } });
const now = Date.now();
await firstStores.agents.insert('local', {
  ...{ id: 'greeter', title: 'Greeter', description: null, avatar: null, permission: 'me', canvasType: null },
  ...{ canvasCategory: 'agent_canvas', tags: '', dsl, createdAt: now, updatedAt: now },
});
const { live } = await first.start(JSON.parse(JSON.stringify(command)));
await first.close(0);
await firstStores.close();

// The worker: it scans for orphans and resumes them.
const stores = await openPostgresStores({ dataDir, log });
const worker = createHost({ stores, services: { models } });
worker.recover();
await worker.whenOver('local', live.identity.id, 20_000);
const session = await stores.sessions.find('local', live.identity.sessionId);
assert.equal(session?.messages.at(-1)?.content, 'Hello, Ada.');
await worker.close(0);
await stores.close();
await rm(dataDir, { recursive: true });
console.log(session?.messages.at(-1)?.content);
