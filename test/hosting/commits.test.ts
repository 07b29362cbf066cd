/** What a run stores in one step, and what waits for it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createCanvasOpener } from '../../src/hosting/canvases.js';
import { createHost } from '../../src/hosting/host.js';
import { startCommand } from '../../src/hosting/start-command.js';
import type { JsonObject } from '../../src/json.js';
import { createModels } from '../../src/models/router.js';
import { commitInSteps, type RunCommit } from '../../src/records/run-commit.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { documentOf, ECHO, PROBE } from '../transport/support/documents.js';
import { createProbes } from '../transport/support/test-components.js';

/** Turns of the event loop in which a run that does not wait does everything that it can. */
const TURNS = 50;

async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
}

/** A host whose commits are listed, and stored when the test says so. */
async function openHost(dsl: JsonObject) {
  const commits: RunCommit[] = [];
  const memory = createMemoryStores();
  const inSteps = commitInSteps(memory);
  let store: () => void = () => {};
  const isStorable = new Promise<void>((resolve) => {
    store = resolve;
  });
  const stores = {
    ...memory,
    log: { ...memory.log, isVolatile: false },
    async commit(commit: RunCommit) {
      commits.push(commit);
      await isStorable;
      await inSteps(commit);
    },
  };
  const probes = createProbes();
  const models = createModels(await modelsFromEnvironment({}, async () => ''));
  const openCanvas = createCanvasOpener({ registry: probes.registry });
  const host = createHost({ stores, services: { models }, openCanvas });
  onTestFinished(async () => {
    store();
    await host.close(0);
    await models.close();
  });
  await stores.agents.insert('t', {
    ...{ id: 'a', title: 'A', description: null, avatar: null, permission: 'me', canvasType: null },
    ...{ canvasCategory: 'agent_canvas', tags: '', dsl, createdAt: 1, updatedAt: 1 },
  });
  const start = () => host.start(startCommand({ tenant: 't', agentId: 'a', fallback: 'draft' }, { query: 'hi' }));
  return { commits, probes, start, store, stores };
}

/** What a commit holds: the parts beside events that it has, then its events, those of nodes with their node. */
function contentOf({ acquire, session, record, isLast, release, batches }: RunCommit): string[] {
  const parts = { acquire, session, record, isLast, release };
  const named = Object.entries(parts).flatMap(([name, part]) => (part === undefined ? [] : [name]));
  const events = batches.flatMap(({ events }) => events.map(({ json }) => JSON.parse(json)));
  return [...named, ...events.map(({ type, node }) => (node === undefined ? type : `${type} ${node}`))];
}

const START = ['acquire', 'session', 'record', 'run-started'];
const END = ['session', 'record', 'isLast', 'release'];

it('stores a run in two steps: its start with what Begin did, and its last node with its end', async () => {
  const { commits, start, store } = await openHost(ECHO);
  store();
  const { live } = await start();
  const record = await live.ended;
  expect(record.status).toBe('succeeded');
  expect(commits.map(contentOf)).toEqual([
    [...START, 'node-started begin', 'node-settled begin'],
    [
      ...END,
      'node-started Message:A',
      'node-delta Message:A',
      'node-notice Message:A',
      'node-settled Message:A',
      'run-settled',
    ],
  ]);
});

it('stores the end behind the start when a run ends at once', async () => {
  const { commits, start, store, stores } = await openHost(documentOf({ begin: ['Begin', []] }));
  const starting = start();
  await turns();
  expect(commits.map(contentOf)).toEqual([[...START, 'node-started begin', 'node-settled begin']]);
  expect(await stores.runs.find('t', String(commits[0]?.run))).toBeUndefined();
  store();
  const { live } = await starting;
  await live.ended;
  expect(commits.map(contentOf).slice(1)).toEqual([[...END, 'run-settled']]);
  expect(await stores.runs.find('t', live.identity.id)).toMatchObject({ status: 'succeeded' });
});

it('runs no node behind Begin before the start and what Begin did are stored', async () => {
  const { commits, probes, start, store, stores } = await openHost(PROBE);
  let hasBegun = false;
  const probe = probes.next().then((begun) => {
    hasBegun = true;
    return begun;
  });
  const starting = start();
  await turns();
  expect([commits.length, hasBegun]).toEqual([1, false]);
  store();
  const { live } = await starting;
  const { settle } = await probe;
  const { id } = live.identity;
  expect(await stores.runs.find('t', id)).toMatchObject({ status: 'running' });
  const stored = await stores.log.read('t', id, 0, { maxEvents: 100, maxBytes: 1e6 });
  expect(stored?.map(({ event }) => event)).toEqual(['run-started', 'node-started', 'node-settled']);
  settle();
  await live.ended;
  expect(commits).toHaveLength(2);
});
