/** The knowledge base of a data folder or a database. */
import { readFile } from 'node:fs/promises';
import { defer, type Observable, switchMap } from 'rxjs';
import type { Services } from '../components/services.js';
import { EngineError } from '../errors.js';
import { parseJson, whyNotJson } from '../json.js';
import type { IngestionProgress } from '../knowledge/base/ingestion-hub.js';
import type { KnowledgeBase } from '../knowledge/base/knowledge-base.js';
import type { MiniLm } from '../knowledge/base/minilm/open-minilm.js';
import type { GraphBuilds } from '../knowledge/graph/build/graph-builds.js';
import type { TermTable } from '../knowledge/search/expand-terms.js';
import type { Log } from '../logger.js';
import { firstValue } from '../operators/from-abortable.js';
import type { LoopTurns } from '../operators/loop-turns.js';
import { readSettings } from '../settings/read-settings.js';
import { type IngestionSettings, openIngestion } from './open-ingestion.js';
import type { OpenStores } from './open-stores.js';
import type { Terminal } from './terminal.js';

/** A knowledge base, and what parses its documents. */
export interface OpenKnowledge {
  readonly base: KnowledgeBase;
  /** Parses documents as long as it is subscribed to; see `runIngestions`. */
  ingestions(): Observable<IngestionProgress>;
  /** Builds graphs as long as `run` is subscribed to. */
  readonly builds: GraphBuilds;
  /** Makes vectors by the local model as long as it is subscribed to; see `embedInBackground`. */
  vectors(): Observable<never>;
  /** Ends the threads of the local model and of graphs. */
  close(): Promise<void>;
}

/** Where a knowledge base writes what goes wrong, and what settings name. */
export interface OpenKnowledgeOptions {
  readonly log: Log;
  /** File with terms that mean the same. @default those of the package alone */
  readonly termsFile: string | undefined;
  /** The setting `RUNNEL_EMBEDDINGS`. @default 'off' */
  readonly embeddings?: string;
  /** How searches that come at once take turns. @default as `createSearchIndexes` */
  readonly turns?: LoopTurns;
  /** What the ingestion of documents uses. @default no models, canvases and layouts */
  readonly ingestion?: IngestionSettings;
}

/**
 * Makes the knowledge base of stores; nothing of it is loaded before.
 *
 * @throws EngineError CONFIG_INVALID for a file of terms that cannot be read or is not valid
 */
export async function openKnowledge(
  stores: Pick<OpenStores, 'files' | 'openKnowledge' | 'openIndexStorage'> & Partial<Pick<OpenStores, 'agents'>>,
  { models, threads }: Pick<Services, 'models' | 'threads'>,
  { log, termsFile, embeddings = 'off', turns, ingestion }: OpenKnowledgeOptions,
): Promise<OpenKnowledge> {
  const [{ createKnowledgeBase }, { createSearchIndexes }, { runIngestions }, local, store, storage] =
    await Promise.all([
      import('../knowledge/base/knowledge-base.js'),
      import('../knowledge/base/search-indexes.js'),
      import('../ingestion/run-ingestions.js'),
      openLocalModel(embeddings, models),
      stores.openKnowledge(),
      stores.openIndexStorage(),
    ]);
  const { createGraphBuilds } = await import('../ingestion/graph/run-builds.js');
  const { graphModelOf } = await import('../ingestion/graph/graph-model-of.js');
  const { createIngestionHub } = await import('../knowledge/base/ingestion-hub.js');
  const terms = termsFile === undefined ? [] : await readTermsFile(termsFile);
  const onError = (error: unknown): void => log.error({ err: error }, 'work on a knowledge base failed');
  const modelsOf = (tenant: string): Services['models'] => models.forTenant?.(tenant) ?? models;
  const { agents } = stores;
  const services = agents && ingestion && openIngestion(agents, { models }, ingestion);
  const base = createKnowledgeBase({
    store,
    files: stores.files,
    hub: createIngestionHub(),
    indexes: createSearchIndexes({ storage, turns, threads, onError }),
    rerankers: (tenant, model) => modelsOf(tenant).reranker(model),
    translate: async (tenant, question, languages, signal) => {
      // The scripted model translates nothing.
      if (models.isScripted) return [];
      const { translateQuestion } = await import('../chat/stages/translate-question.js');
      const { model, name } = modelsOf(tenant).chat('');
      return firstValue(translateQuestion({ model, name }, question, languages), signal);
    },
    terms,
    local,
    graphModels: (tenant, id) => {
      const choice = services?.chat?.(tenant, id);
      return choice && graphModelOf(choice);
    },
    embedders: (tenant, model) => {
      try {
        return modelsOf(tenant).embedder(model);
      } catch (error) {
        if (EngineError.is(error) && error.code === 'MODEL_UNKNOWN') return undefined;
        throw error;
      }
    },
  });
  const { parts } = base;
  const builds = createGraphBuilds({
    parts,
    graphs: base.graphs,
    chat: services?.chat,
    price: (id) => models.describe().prices?.[id],
    onError,
  });
  return {
    base,
    builds,
    ingestions: () => runIngestions({ parts, threads, onError, ...services }),
    vectors: () =>
      defer(() => import('../ingestion/embed-in-background.js')).pipe(
        switchMap(({ embedInBackground }) => embedInBackground({ parts, onError })),
      ),
    async close() {
      await Promise.all([local?.close(), base.graphs.close()]);
    },
  };
}

/** MiniLM, where the setting asks for it, or asks for none and no other model is the default. */
async function openLocalModel(embeddings: string, models: Services['models']): Promise<MiniLm | undefined> {
  if (embeddings !== 'auto' && embeddings !== 'minilm') return undefined;
  if (embeddings === 'auto' && models.describe().defaults.embedding !== undefined) return undefined;
  const { openMiniLm } = await import('../knowledge/base/minilm/open-minilm.js');
  return openMiniLm();
}

/** The terms of the setting `RUNNEL_TERMS`. */
async function readTermsFile(file: string): Promise<TermTable> {
  const { readTerms } = await import('../knowledge/base/terms.js');
  try {
    const text = await readFile(file, 'utf8');
    const table = parseJson(text);
    if (table === undefined) throw new Error(`It ${whyNotJson(text)}.`);
    return readTerms(table, 'The terms');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError('CONFIG_INVALID', `RUNNEL_TERMS: the file "${file}" cannot be used. ${why}`, { cause });
  }
}

/** The knowledge base for one command, which closes it. */
export interface CommandKnowledge extends OpenKnowledge {
  close(): Promise<void>;
}

/**
 * Opens the knowledge base that the settings of a command name.
 *
 * @param remark takes lines about what is amiss
 * @throws EngineError CONFLICT when another process uses the data folder, CONFIG_INVALID for a setting, STORE_UNAVAILABLE
 */
export async function openCommandKnowledge(
  { env }: Pick<Terminal, 'env'>,
  remark: (line: string) => void,
): Promise<CommandKnowledge> {
  const settings = readSettings(env, 'stores', 'models', 'nodes', 'tools');
  const [{ openStores }, { openServices }] = await Promise.all([
    import('./open-stores.js'),
    import('./open-services.js'),
  ]);
  const warn = (fields: object, message: string): void => {
    const { err } = fields as { readonly err?: unknown };
    remark(`warning: ${message}${err instanceof Error ? `: ${err.message}` : ''}`);
  };
  const log: Log = { info: () => {}, warn, error: warn };
  const services = await openServices(settings, { env });
  try {
    const stores = await openStores(settings.stores, log);
    try {
      const { nodes } = settings;
      const { termsFile, embeddings } = nodes;
      const options = { log, termsFile, embeddings, ingestion: nodes };
      const knowledge = await openKnowledge(stores, services, options);
      await knowledge.base.removeRemains();
      return {
        ...knowledge,
        async close() {
          await knowledge.close();
          await knowledge.base.parts.indexes.settled();
          await stores.close();
          await services.close();
        },
      };
    } catch (error) {
      await stores.close();
      throw error;
    }
  } catch (error) {
    await services.close();
    throw error;
  }
}
