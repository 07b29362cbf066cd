/**
 * A process that answers one question until it is killed: `chatter.ts <data folder> <image> <url of the model>`. It prints the id of its run,
 * and each event of it, one per line.
 */
import { BehaviorSubject } from 'rxjs';
import { createHost } from '../../../../src/hosting/host.js';
import { startCommand } from '../../../../src/hosting/start-command.js';
import { openPostgresStores } from '../../../../src/stores/postgres/stores.js';
import { createLog } from '../../../stores/support/test-log.js';
import { chatRecord, chatServices } from './lost-chat.js';

const [dataDir, image, url] = process.argv.slice(2) as [string, string, string];

const stores = await openPostgresStores({ dataDir, image, log: createLog() });
await stores.agents.insert('t', chatRecord());
const host = createHost({ stores, services: await chatServices(url, stores.chats), limits: { leaseMs: 1_000 } });
const { live } = await host.start(
  startCommand({ tenant: 't', agentId: 'a', fallback: 'draft', isChat: true }, { query: 'What is it?' }),
);
process.stdout.write(`${live.identity.id}\n`);
host
  .follow('t', live.identity.id, { after: 0, ready$: new BehaviorSubject(true) })
  .subscribe(({ event }) => process.stdout.write(`${event}\n`));
