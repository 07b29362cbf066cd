/** The knowledge base of a data folder or a database. */
import type { Observable } from 'rxjs';
import type { Services } from '../components/services.js';
import { EngineError } from '../errors.js';
import type { IngestionProgress } from '../knowledge/base/ingestion-hub.js';
import type { KnowledgeBase } from '../knowledge/base/knowledge-base.js';
import type { Log } from '../logger.js';
import { readSettings } from '../settings/read-settings.js';
import type { OpenStores } from './open-stores.js';
import type { Terminal } from './terminal.js';

/** A knowledge base, and what parses its documents. */
export interface OpenKnowledge {
  readonly base: KnowledgeBase;
  /** Parses documents as long as it is subscribed to; see `runIngestions`. */
  ingestions(): Observable<IngestionProgress>;
}

/** Makes the knowledge base of stores; nothing of it is loaded before. */
export async function openKnowledge(
  stores: Pick<OpenStores, 'files' | 'openKnowledge' | 'openIndexStorage'>,
  { models, threads }: Pick<Services, 'models' | 'threads'>,
  log: Log,
): Promise<OpenKnowledge> {
  const [{ createKnowledgeBase }, { createSearchIndexes }, { runIngestions }, store, storage] = await Promise.all([
    import('../knowledge/base/knowledge-base.js'),
    import('../knowledge/base/search-indexes.js'),
    import('../ingestion/run-ingestions.js'),
    stores.openKnowledge(),
    stores.openIndexStorage(),
  ]);
  const { createIngestionHub } = await import('../knowledge/base/ingestion-hub.js');
  const onError = (error: unknown): void => log.error({ err: error }, 'work on a knowledge base failed');
  const base = createKnowledgeBase({
    store,
    files: stores.files,
    hub: createIngestionHub(),
    indexes: createSearchIndexes({ storage, onError }),
    embedders: (tenant, model) => {
      try {
        return (models.forTenant?.(tenant) ?? models).embedder(model);
      } catch (error) {
        if (EngineError.is(error) && error.code === 'MODEL_UNKNOWN') return undefined;
        throw error;
      }
    },
  });
  return { base, ingestions: () => runIngestions({ parts: base.parts, threads, onError }) };
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
      const knowledge = await openKnowledge(stores, services, log);
      await knowledge.base.removeRemains();
      return {
        ...knowledge,
        async close() {
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
