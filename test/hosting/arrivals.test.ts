/** Starts go before nodes: what has come and has seen nothing yet is served before runs that are under way. */
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createHost } from '../../src/hosting/host.js';
import { startCommand } from '../../src/hosting/start-command.js';
import { createModels } from '../../src/models/router.js';
import { Arrivals } from '../../src/operators/arrivals.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { documentOf } from '../transport/support/documents.js';

it('a run is stored and told of at once, and its nodes begin when nothing comes any more', async () => {
  let turns: (() => void)[] = [];
  const arrivals = new Arrivals({ later: (resume) => turns.push(resume) });
  const stores = createMemoryStores();
  const host = createHost({
    stores,
    services: { models: createModels(await modelsFromEnvironment({}, async () => '')) },
    arrivals,
  });
  const now = Date.now();
  await stores.agents.insert('t', {
    ...{ id: 'a', title: 'A', description: null, avatar: null, permission: 'me', canvasType: null },
    ...{ canvasCategory: 'agent_canvas', tags: '', createdAt: now, updatedAt: now },
    dsl: documentOf({
      begin: ['Begin', ['Message:M']],
      'Message:M': ['Message', [], { content: ['here'] }],
    }),
  });
  const turn = () => {
    const resumed = turns;
    turns = [];
    for (const resume of resumed) resume();
  };
  const stored = async (run: string) => {
    for (let at = 0; at < 50; at += 1) await setImmediate();
    const events = (await stores.log.read('t', run, 0, { maxEvents: 100, maxBytes: 100_000 })) ?? [];
    return events.map(({ event }) => event);
  };

  arrivals.note();
  const { live } = await host.start(startCommand({ tenant: 't', agentId: 'a', fallback: 'draft' }, { query: 'x' }));
  arrivals.note();
  turn();
  arrivals.note();
  expect(await stored(live.identity.id)).toEqual(['run-started']);
  turn();
  expect(await stored(live.identity.id)).toEqual(['run-started']);
  turn();
  expect((await live.ended).status).toBe('succeeded');
  await host.close(0);
});
