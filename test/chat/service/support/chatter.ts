/**
 * A process that answers one question until it is killed: `chatter.ts <data folder> <image> <url of the model> <question> [<run>]`. With a run it goes on with that one instead, as a server does. It prints the id of the run, and each event of it once it is stored, one per line.
 * `DEADLINE_MS` of its environment is what the question may take; without it, as long as it takes.
 */
import { BehaviorSubject } from 'rxjs';
import { createHost } from '../../../../src/hosting/host.js';
import { startCommand } from '../../../../src/hosting/start-command.js';
import { openPostgresStores } from '../../../../src/stores/postgres/stores.js';
import { createLog } from '../../../stores/support/test-log.js';
import { chatRecord, chatServices } from './lost-chat.js';

const [dataDir, image, url, query, lost = ''] = process.argv.slice(2) as [string, string, string, string, string?];

const stores = await openPostgresStores({ dataDir, image, log: createLog() });
if (lost === '') await stores.agents.insert('t', chatRecord());
const host = createHost({ stores, services: await chatServices(url, stores.chats), limits: { leaseMs: 1_000 } });
const run = lost || (await started());
process.stdout.write(`${run}\n`);
if (lost !== '') host.recover();
host
  .follow('t', run, { after: 0, ready$: new BehaviorSubject(true), isExact: true })
  .subscribe(({ event }) => process.stdout.write(`${event}\n`));

async function started(): Promise<string> {
  const { DEADLINE_MS: deadline } = process.env;
  const variables = deadline === undefined ? {} : { 'sys.chat': { options: { deadline_ms: Number(deadline) } } };
  const { live } = await host.start(
    startCommand({ tenant: 't', agentId: 'a', fallback: 'draft', isChat: true }, { query, variables }),
  );
  return live.identity.id;
}
