/** Researches in this process, as a server would do them. */
import { readFile } from 'node:fs/promises';
import { BehaviorSubject, defer, filter, map, mergeMap, type Observable, tap } from 'rxjs';
import { EngineError } from '../../errors.js';
import { createCanvasOpener } from '../../hosting/canvases.js';
import { createHost } from '../../hosting/host.js';
import { startCommand } from '../../hosting/start-command.js';
import { servicesOfTenant } from '../../hosting/tenant-services.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { Log } from '../../logger.js';
import { createModels } from '../../models/router.js';
import { createScriptedPlanner, readScripts } from '../../research/evaluation/scripted-planner.js';
import type { ResearchEvent } from '../../research/research-events.js';
import { openResearchAgent } from '../../research/service/research-document.js';
import { toResearchEvent } from '../../research/service/research-frames.js';
import { RESEARCH_VARIABLE, researchSettingsSchema } from '../../research/service/research-settings.js';
import { createRunSteers } from '../../research/service/run-steers.js';
import type { Steer } from '../../research/steer.js';
import { LOCAL_TENANT } from '../../settings/access.js';
import { modelsFromEnvironment, readSettings } from '../../settings/read-settings.js';
import { cannot } from '../command.js';
import { openServices, timeoutsOf } from '../open-services.js';
import { openStores } from '../open-stores.js';
import { serveKnowledge } from '../served-knowledge.js';
import { openSpending } from './open-spending.js';

/** How long a search waits for files that are new; a command has no later search that would find them. */
const PARSING_MS = 600_000;

/** What is researched. */
export interface ResearchQuestion {
  readonly question: string;
  /** Names or ids of datasets. @default all */
  readonly datasets?: readonly string[] | undefined;
  /** Settings of the research, without its datasets. */
  readonly settings: JsonObject;
}

/** Researches questions. */
export interface ResearchSource {
  /** The events of one research; unsubscribing cancels it. Errors: USAGE, PLAN_REJECTED and what else keeps it from beginning. */
  ask(question: ResearchQuestion): Observable<ResearchEvent>;
  /** Keeps a change of a research at work. @throws EngineError CONFIG_INVALID where the stores keep none */
  steer(run: string, steer: Steer): Promise<void>;
  /** Whether no model is configured. */
  readonly isScripted: boolean;
  close(): Promise<void>;
}

/**
 * Opens the stores of the settings. With a file of steps a model plays these, whatever is configured.
 *
 * @throws EngineError CONFLICT when another process uses the data folder, CONFIG_INVALID, STORE_UNAVAILABLE, USAGE
 */
export async function openLocalResearch(
  env: NodeJS.ProcessEnv,
  log: Log,
  stepsFile: string | undefined,
): Promise<ResearchSource> {
  const settings = readSettings(env, 'stores', 'models', 'nodes', 'tools');
  const planner = stepsFile === undefined ? undefined : await plannerOf(stepsFile);
  const { hasScript, close: closeServices, ...services } = await openServices(settings, { env });
  const stores = await openStores(settings.stores, log).catch(async (error: unknown) => {
    await closeServices();
    throw error;
  });
  const folders = {
    parsingMs: PARSING_MS,
    onParsing: (dataset: string, documents: number) =>
      log.info({ dataset, documents }, `waits for ${documents} documents of "${dataset}" to be parsed`),
  };
  const knowledge = serveKnowledge(stores, services, { settings, log, folders });
  const models = planner ?? services.models;
  const { steers: store, signals } = stores;
  const steers = store && createRunSteers({ store, signals, now: Date.now });
  const ofRuns = {
    ...services,
    models,
    retriever: knowledge.retriever,
    knowledge: knowledge.search,
    ...(steers && { steers }),
    ...openSpending(settings.nodes, stores.sharedStates),
  };
  const openCanvas = createCanvasOpener({ timeouts: timeoutsOf(settings.nodes) });
  const host = createHost({ stores, services: ofRuns, openCanvas, logger: log });
  const begin = async ({ question, datasets, settings: given }: ResearchQuestion) => {
    const own = servicesOfTenant({ services: ofRuns, stores, openCanvas }, LOCAL_TENANT);
    await own.spending?.requireLeft();
    const { base } = await knowledge.open();
    const ids = await Promise.all(
      (datasets ?? []).map(async (name) => {
        const found = await base.datasets.findByName(LOCAL_TENANT, name);
        if (found === undefined)
          throw new EngineError('USAGE', `There is no dataset "${name}"; runnel ingest makes one.`);
        return found.dataset.id;
      }),
    );
    const value = {
      ...given,
      ...(datasets !== undefined && { dataset_ids: ids }),
      ...(planner !== undefined && { llm_id: 'scripted' }),
    };
    if (isJsonObject(given.plan)) {
      const { checkGivenPlan } = await import('../../components/researching/given-plan.js');
      await checkGivenPlan(given.plan, question, researchSettingsSchema.parse(value), own);
    }
    const agentId = await openResearchAgent(stores.agents, LOCAL_TENANT, Date.now());
    const target = { tenant: LOCAL_TENANT, agentId, fallback: 'draft' } as const;
    const turn = { query: question, streams: true, variables: { [RESEARCH_VARIABLE]: value } };
    return (await host.start(startCommand(target, turn))).live;
  };
  return {
    isScripted: services.models.isScripted && !hasScript && planner === undefined,
    ask: (question) =>
      defer(() => begin(question)).pipe(
        mergeMap((live) => {
          const { id, sessionId } = live.identity;
          const events$ = host.follow(LOCAL_TENANT, id, { after: 0, ready$: new BehaviorSubject(true) });
          return events$.pipe(
            tap({ unsubscribe: () => live.cancel() }),
            map(({ source }) => toResearchEvent(source, sessionId)),
            filter((event) => event !== undefined),
          );
        }),
      ),
    async steer(run, steer) {
      if (steers === undefined)
        throw new EngineError('CONFIG_INVALID', 'The stores of the settings keep no changes of researches.');
      await steers.forTenant(LOCAL_TENANT).put(run, steer as unknown as JsonObject);
    },
    async close() {
      await host.close(0);
      await knowledge.close();
      await stores.close();
      await planner?.close();
      await closeServices();
    },
  };
}

/** A model that plays the steps of a file. @throws EngineError USAGE */
async function plannerOf(file: string) {
  try {
    const scripted = createScriptedPlanner(readScripts(await readFile(file, 'utf8')));
    return createModels(await modelsFromEnvironment({}, async () => ''), { scripted });
  } catch (cause) {
    throw cannot(`read the steps in "${file}"`, cause);
  }
}
