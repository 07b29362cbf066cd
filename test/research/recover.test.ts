import { NEVER } from 'rxjs';
import { expect, it } from 'vitest';
import { createHost } from '../../src/hosting/host.js';
import { startCommand } from '../../src/hosting/start-command.js';
import type { ChatModel } from '../../src/models/chat-model.js';
import { createModels } from '../../src/models/router.js';
import { openResearchAgent } from '../../src/research/service/research-document.js';
import { RESEARCH_VARIABLE } from '../../src/research/service/research-settings.js';
import { createRunSteers } from '../../src/research/service/run-steers.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';
import { openEmbedded } from '../stores/support/open-stores.js';
import { temporaryFolder } from '../stores/support/temporary-folder.js';
import { toldBySecond } from './support/second-host.js';
import { knowledgeOf, openWorld } from './support/world.js';

const QUESTION = 'Who is the warden of the island on which the author of The Salt Atlas was born?';

it('a research whose process went away asks and searches nothing twice, keeps its changes, and ends with one report', {
  timeout: 180_000,
}, async () => {
  const world = await openWorld();
  const asked: string[] = [];
  const searched: string[] = [];
  let isSilent = false;
  let sent = 0;
  /** The third reading has no answer, until another process asks. */
  const model: ChatModel = {
    chat: (request) => {
      const name = request.jsonSchema?.name ?? 'write';
      if (name === 'research_read' && asked.filter((one) => one.startsWith(name)).length === 2) isSilent = true;
      sent += 1;
      if (isSilent) return NEVER;
      asked.push(`${name} ${String(request.messages.at(-1)?.content)}`);
      return world.planner.chat(request);
    },
  };
  const knowledge = knowledgeOf(world);
  const search: typeof knowledge.search = (query, signal) => {
    searched.push(query.question);
    return knowledge.search(query, signal);
  };
  const stores = await openEmbedded(await temporaryFolder());
  const models = createModels(await modelsFromEnvironment({}, async () => ''), { scripted: model });
  const steers = createRunSteers({ store: stores.steers, signals: stores.signals, now: Date.now });
  const services = { models, knowledge: { search }, steers };
  const first = createHost({ stores, services });
  const agentId = await openResearchAgent(stores.agents, 't', Date.now());
  const variables = { [RESEARCH_VARIABLE]: { llm_id: 'scripted' } };
  const target = { tenant: 't', agentId, fallback: 'draft' } as const;
  const { live } = await first.start(startCommand(target, { query: QUESTION, detached: true, variables }));
  const run = live.identity.id;
  await expect.poll(() => isSilent, { timeout: 60_000 }).toBe(true);
  await steers.forTenant('t').put(run, { action: 'add', question: 'How many pages does Nine Bridges have?' });
  await first.close(0);

  isSilent = false;
  asked.push('research_read');
  const told = await toldBySecond(stores, services, run);
  const finals = told.flatMap((event) => (event.type === 'final' ? [event] : []));
  expect(finals).toHaveLength(1);
  expect(finals[0]?.report).toContain('Nine Bridges');
  expect(told.filter(({ type }) => type === 'session')).toHaveLength(1);
  const calls = asked.filter((one) => one !== 'research_read');
  expect(new Set(calls).size).toBe(calls.length);
  expect(new Set(searched).size).toBe(searched.length);
  // Those that were cut off with their process are paid, too.
  expect(finals[0]?.budget.calls).toBe(sent);
});
