/** Researches whose processes are killed, with SIGKILL, one after the other. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { firstValueFrom, NEVER, Subject } from 'rxjs';
import { expect, it, onTestFinished } from 'vitest';
import { prepareDatabase } from '../../scripts/prepare-database.js';
import { createHost } from '../../src/hosting/host.js';
import { startCommand } from '../../src/hosting/start-command.js';
import type { JsonObject } from '../../src/json.js';
import { createModels } from '../../src/models/router.js';
import { openResearchAgent } from '../../src/research/service/research-document.js';
import { RESEARCH_VARIABLE } from '../../src/research/service/research-settings.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';
import { sized } from '../durable/support/size.js';
import { openEmbedded } from '../stores/support/open-stores.js';
import { temporaryFolder } from '../stores/support/temporary-folder.js';
import { createRandom } from '../support/random.js';

/** Processes that are killed in a row; `npm run test:faults` has 20. */
const KILLS = sized(20, 3);
const RESEARCHER = fileURLToPath(new URL('./support/researcher.ts', import.meta.url));
const QUESTION = 'Who is the warden of the island on which the author of The Salt Atlas was born?';

/** Begins a research in this process, whose model is silent, and gives it back; gives its id. */
async function begun(dataDir: string, settings: JsonObject): Promise<string> {
  const stores = await openEmbedded(dataDir);
  const asked$ = new Subject<void>();
  const asked = firstValueFrom(asked$);
  const silent = {
    chat: () => {
      asked$.next();
      return NEVER;
    },
  };
  const models = createModels(await modelsFromEnvironment({}, async () => ''), { scripted: silent });
  const host = createHost({
    stores,
    services: { models, knowledge: { search: () => Promise.reject(new Error('no')) } },
  });
  const agentId = await openResearchAgent(stores.agents, 't', Date.now());
  const variables = { [RESEARCH_VARIABLE]: { llm_id: 'scripted', ...settings } };
  const target = { tenant: 't', agentId, fallback: 'draft' } as const;
  const { live } = await host.start(startCommand(target, { query: QUESTION, detached: true, variables }));
  await asked;
  await host.close(0);
  await stores.close();
  return live.identity.id;
}

/** Starts a process that goes on with it, and kills it with its line of this number; whether it was still at work. */
async function killAt(line: number, args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, ['--import', 'tsx', RESEARCHER, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  let [seen, isDone] = [0, false];
  for await (const told of createInterface({ input: child.stdout })) {
    seen += 1;
    isDone ||= told === 'DONE';
    if (seen === line || isDone) child.kill('SIGKILL');
  }
  await exit;
  return !isDone;
}

/** What the log of a run has: the keys of calls whose answers are kept, and its reports. */
async function storedOf(dataDir: string, run: string) {
  const stores = await openEmbedded(dataDir);
  const events = (await stores.log.read('t', run, 0, { maxEvents: 10_000, maxBytes: 50_000_000 })) ?? [];
  const { status } = (await stores.runs.find('t', run)) ?? {};
  await stores.close();
  const kept = events.flatMap(({ event, json }) =>
    event === 'node-progress' ? [...json.matchAll(/"key":"([^"]+)"/g)].map(([, key = '']) => key) : [],
  );
  const finals = events.filter(({ event, json }) => event === 'node-settled' && /"type":"final"/.test(json));
  return { kept: new Set(kept), finals: finals.length, status };
}

it.each<[string, JsonObject]>([
  ['by sub-questions', {}],
  ['by a plan', { plan: true, approve: false }],
])(
  `a research %s is over behind ${KILLS} kills, with one report, and asks nothing again whose answer was stored`,
  {
    timeout: 300_000 + 30_000 * KILLS,
  },
  async (_, settings) => {
    const dataDir = await temporaryFolder();
    const run = await begun(dataDir, settings);
    const file = path.join(dataDir, 'asked.jsonl');
    const asked = async (): Promise<string[]> => {
      const lines = existsSync(file) ? (await readFile(file, 'utf8')).trim().split('\n') : [];
      return lines.map((line) => JSON.parse(line) as string);
    };
    const args = [dataDir, await prepareDatabase(), run, file];
    const seed = Number(process.env.SEED ?? Date.now() % 1_000_000_000);
    const random = createRandom(seed);
    let kept: ReadonlySet<string> = new Set();
    let isAtWork = true;
    for (let kill = 0; isAtWork; kill += 1) {
      const before = (await asked()).length;
      isAtWork = await killAt(kill < KILLS ? 1 + random.int(Math.ceil(24 / KILLS)) : Number.POSITIVE_INFINITY, args);
      const added = (await asked()).slice(before);
      for (const one of added) expect([...kept], `SEED=${seed}`).not.toContain(one);
      ({ kept } = await storedOf(dataDir, run));
    }
    const { finals, status } = await storedOf(dataDir, run);
    expect([finals, status], `SEED=${seed}`).toEqual([1, 'succeeded']);
  },
);
