/**
 * A process that goes on with a research until it is killed: `researcher.ts <data folder> <image> <run> <file>`. It writes what is asked and searched as lines
 * of JSON into the file, and prints a line for each; DONE at the end.
 */
import { appendFileSync } from 'node:fs';
import { delay } from 'rxjs';
import { createHost } from '../../../src/hosting/host.js';
import type { ChatModel } from '../../../src/models/chat-model.js';
import { createModels } from '../../../src/models/router.js';
import { keyOf } from '../../../src/research/calls/ask-call.js';
import { modelsFromEnvironment } from '../../../src/settings/read-settings.js';
import { openPostgresStores } from '../../../src/stores/postgres/stores.js';
import { createLog } from '../../stores/support/test-log.js';
import { knowledgeOf, openWorld } from './world.js';

const [dataDir, image, run, file] = process.argv.slice(2) as [string, string, string, string];

const note = (key: string): void => {
  appendFileSync(file, `${JSON.stringify(key)}\n`);
  process.stdout.write('at work\n');
};
const world = await openWorld();
const model: ChatModel = {
  chat: (request) => {
    const input = JSON.parse(String(request.messages.at(-1)?.content));
    note(keyOf(request.jsonSchema?.name ?? 'research_synthesise', input));
    return world.planner.chat(request).pipe(delay(5));
  },
};
const knowledge = knowledgeOf(world);
const search: typeof knowledge.search = (query, signal) => {
  note(`search ${query.question}`);
  return knowledge.search(query, signal);
};
const stores = await openPostgresStores({ dataDir, image, log: createLog() });
const models = createModels(await modelsFromEnvironment({}, async () => ''), { scripted: model });
const host = createHost({ stores, services: { models, knowledge: { search } }, limits: { leaseMs: 500 } });
host.recover();
await host.whenOver('t', run, 600_000);
process.stdout.write('DONE\n');
