/** Tools of tasks where the process goes away while one of them is called. */
import { expect, it } from 'vitest';
import { createHost } from '../../src/hosting/host.js';
import { startCommand } from '../../src/hosting/start-command.js';
import type { JsonObject } from '../../src/json.js';
import { createModels } from '../../src/models/router.js';
import { openResearchAgent } from '../../src/research/service/research-document.js';
import { RESEARCH_VARIABLE } from '../../src/research/service/research-settings.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';
import { said, startMcpServer, type TestTool } from '../adapters/mcp/support/mcp-server.js';
import { over } from '../adapters/mcp/support/using.js';
import { openEmbedded } from '../stores/support/open-stores.js';
import { temporaryFolder } from '../stores/support/temporary-folder.js';
import { toldBySecond } from './support/second-host.js';

const task = (task_id: string, depends_on: readonly string[] = []) => ({
  ...{ task_id, description: `What is known of ${task_id}?`, tool: task_id, args: {} },
  ...{ priority: 1, depends_on, expects: '' },
});

/** A research of these tasks by two processes, of which the first goes away while the tool `silent` is called. */
async function researchedByTwo(tools: Readonly<Record<string, Omit<TestTool, 'run'>>>, silent: string) {
  const called: string[] = [];
  let isFirst = true;
  const run = (name: string) => () => {
    called.push(name);
    if (name === 'broken') return { ...said('out of oil'), isError: true };
    return name === silent && isFirst ? new Promise<never>(() => {}) : said(`The lamp of ${name} is 12 feet tall.`);
  };
  const server = await startMcpServer(
    Object.fromEntries(Object.entries(tools).map(([name, about]) => [name, { ...about, run: run(name) }])),
  );
  const stores = await openEmbedded(await temporaryFolder());
  const models = createModels(await modelsFromEnvironment({}, async () => ''));
  const services = { models, mcp: over(server.url) };
  const first = createHost({ stores, services });
  const agentId = await openResearchAgent(stores.agents, 't', Date.now());
  const names = Object.keys(tools);
  const tasks = names.map((name) => task(name, name === silent ? names.filter((other) => other !== silent) : []));
  const variables = { [RESEARCH_VARIABLE]: { plan: { tasks } as unknown as JsonObject } };
  const target = { tenant: 't', agentId, fallback: 'draft' } as const;
  const command = startCommand(target, { query: 'How tall are the lamps?', detached: true, variables });
  const { live } = await first.start(command);
  const { id } = live.identity;
  await expect.poll(() => called, { timeout: 60_000 }).toContain(silent);
  await first.close(0);
  isFirst = false;
  const told = await toldBySecond(stores, services, id);
  const ends = new Map(told.flatMap((event) => (event.type === 'task_finished' ? [[event.task_id, event]] : [])));
  return { called: called.sort(), ends, finals: told.flatMap((event) => (event.type === 'final' ? [event] : [])) };
}

const IDEMPOTENT = { annotations: { idempotentHint: true } };

it('one that may have had an effect is not called again, nor is one that was over, and there is one report', {
  timeout: 180_000,
}, async () => {
  const { called, ends, finals } = await researchedByTwo({ done: {}, broken: {}, sends: {} }, 'sends');
  expect(called).toEqual(['broken', 'done', 'sends']);
  expect(ends.get('done')).toMatchObject({ status: 'done' });
  expect(ends.get('broken')).toMatchObject({ status: 'failed', problem: expect.stringContaining('out of oil') });
  expect(ends.get('sends')).toMatchObject({
    status: 'failed',
    problem: expect.stringContaining('under way when its process ended'),
  });
  expect(finals).toHaveLength(1);
  expect(finals[0]?.report).toContain('lamp of done');
});

it('one that may be repeated is called again', { timeout: 180_000 }, async () => {
  const { called, ends, finals } = await researchedByTwo({ done: {}, reads: IDEMPOTENT }, 'reads');
  expect(called).toEqual(['done', 'reads', 'reads']);
  expect(ends.get('reads')).toMatchObject({ status: 'done' });
  expect(finals).toHaveLength(1);
});
