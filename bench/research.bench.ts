/**
 * Researches at once, with the embedded database of a server and a model that plays the true steps: `npm run bench -- research`.
 *
 * The corpus is the invented world of `examples/research`. What counts is that all end with a report, and that rounds of them leave the memory as it was.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { prepareDatabase } from '../scripts/prepare-database.js';
import { createHost, type Host } from '../src/hosting/host.js';
import { startCommand } from '../src/hosting/start-command.js';
import { SILENT_LOG } from '../src/logger.js';
import { createModels } from '../src/models/router.js';
import { openResearchAgent } from '../src/research/service/research-document.js';
import { RESEARCH_VARIABLE } from '../src/research/service/research-settings.js';
import { createRunSteers } from '../src/research/service/run-steers.js';
import { modelsFromEnvironment } from '../src/settings/read-settings.js';
import { startEmbedded } from '../src/stores/postgres/embedded/start-embedded.js';
import { openPostgresStores, type PostgresStores } from '../src/stores/postgres/stores.js';
import { knowledgeOf, openWorld, SCRIPTS } from '../test/research/support/world.js';
import { quantile, type Row } from './measure.js';

const TENANT = 't';
const AT_ONCE = 20;
/** The first one loads what researches need. */
const ROUNDS = 8;
/** What only ends a measurement that hangs, in milliseconds. */
const MOST_MS = 300_000;

/** What was there behind a round. */
interface Round {
  readonly seconds: number;
  /** Researches that ended with a report. */
  readonly reports: number;
  /** Behind a collection of garbage, in MiB. */
  readonly heap: number;
  readonly resident: number;
}

/** Measures one process with its database; takes about a minute. */
export async function benchResearch(): Promise<readonly Row[]> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'runnel-bench-'));
  const image = await prepareDatabase();
  const embedded = await startEmbedded({ folder: path.join(dataDir, 'db'), image, log: SILENT_LOG });
  const stores = await openPostgresStores({ dataDir, log: SILENT_LOG, embedded: Promise.resolve(embedded) });
  const world = await openWorld();
  const models = createModels(await modelsFromEnvironment({}, async () => ''), { scripted: world.planner });
  const steers = createRunSteers({ store: stores.steers, signals: stores.signals, now: Date.now });
  const host = createHost({ stores, services: { models, steers, knowledge: knowledgeOf(world) } });
  try {
    const agentId = await openResearchAgent(stores.agents, TENANT, Date.now());
    const rounds: Round[] = [];
    for (let at = 0; at < ROUNDS; at += 1) rounds.push(await research(host, stores, agentId));
    return rowsOf(rounds);
  } finally {
    await host.close(0);
    await models.close();
    await stores.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** The same questions each time, every other one by a plan. */
async function research(host: Host, stores: PostgresStores, agentId: string): Promise<Round> {
  const startedAt = performance.now();
  const runs = await Promise.all(
    SCRIPTS.slice(0, AT_ONCE).map(async ({ question: query }, at) => {
      const settings = { llm_id: 'scripted', ...(at % 2 === 1 && { plan: true, clarify: false, approve: false }) };
      const variables = { [RESEARCH_VARIABLE]: settings };
      const target = { tenant: TENANT, agentId, fallback: 'draft' } as const;
      const { live } = await host.start(startCommand(target, { query, variables, detached: true }));
      return live.identity.id;
    }),
  );
  await Promise.all(runs.map((run) => host.whenOver(TENANT, run, MOST_MS)));
  const seconds = (performance.now() - startedAt) / 1_000;
  const ended = await Promise.all(runs.map((run) => hasReport(stores, run)));
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { seconds, reports: ended.filter(Boolean).length, heap: heapUsed / 1024 ** 2, resident: rss / 1024 ** 2 };
}

/** Whether the last event of a run has a report. */
async function hasReport({ runs, log }: PostgresStores, run: string): Promise<boolean> {
  const { status, lastSeq = 1 } = (await runs.find(TENANT, run)) ?? {};
  if (status !== 'succeeded') return false;
  const [last] = (await log.read(TENANT, run, lastSeq - 1, { maxEvents: 1, maxBytes: 1 })) ?? [];
  const event = JSON.parse(last?.json ?? '{}');
  return event.type === 'run-settled' && event.outputs?.research?.report?.length > 0;
}

function rowsOf(rounds: readonly Round[]): readonly Row[] {
  const [, second = rounds[0] as Round] = rounds;
  const last = rounds.at(-1) as Round;
  const all = ROUNDS * AT_ONCE;
  const reports = rounds.reduce((sum, one) => sum + one.reports, 0);
  const times = rounds.slice(1).map(({ seconds }) => seconds);
  const memory = (of: 'heap' | 'resident', name: string): Row[] => [
    ...rounds.map((one, at): Row => ({ name: `${name} behind round ${at + 1}`, value: one[of], unit: 'MiB' })),
    { name: `${name} behind the last round against the second`, value: last[of] / second[of], unit: 'x', bar: 1.1 },
  ];
  return [
    {
      name: `${AT_ONCE} researches at once, of ${all}: ended with a report`,
      value: reports,
      unit: '',
      bar: all,
      isRate: true,
    },
    { name: `${AT_ONCE} researches at once: all have ended, median`, value: quantile(times, 0.5), unit: 's' },
    { name: `${AT_ONCE} researches at once: all have ended, longest`, value: Math.max(...times), unit: 's' },
    ...memory('heap', 'heap without garbage'),
    ...memory('resident', 'resident memory'),
  ];
}
