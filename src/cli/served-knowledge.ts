/** The knowledge base of a server: loaded when it is first needed, searched by the tool Retrieval. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Services } from '../components/services.js';
import type { Retriever } from '../knowledge/retriever.js';
import type { Log } from '../logger.js';
import { LOCAL_TENANT } from '../settings/access.js';
import type { Settings } from '../settings/read-settings.js';
import { type KnowledgeOnDemand, knowledgeOnDemand } from './knowledge-on-demand.js';
import type { OpenStores } from './open-stores.js';

/** What a server has of its knowledge base. */
export interface ServedKnowledge extends KnowledgeOnDemand {
  /** Searches its datasets, and folders as datasets. */
  readonly retriever: Retriever;
  /** Goes on with documents that a process before has left; loads nothing else when there are none. */
  resume(): Promise<void>;
  /**
   * Makes the dataset `runnel-docs` of the pages of this package for tenants, or brings it up to date, by hash.
   *
   * @param root folder with `README.md` and `docs`. @default that of the package
   */
  addDocs(tenants: Iterable<string>, root?: string): Promise<void>;
}

/** The dataset of the pages of this package. */
const DOCS = { name: 'runnel-docs', source: 'package:docs' } as const;

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url));

/** The knowledge base over the stores of a server. */
export function serveKnowledge(
  stores: OpenStores,
  services: Pick<Services, 'models' | 'threads'>,
  { settings, log }: { readonly settings: Pick<Settings, 'nodes' | 'stores'>; readonly log: Log },
): ServedKnowledge {
  const folder = settings.nodes.datasetsDir ?? path.join(settings.stores.dataDir, 'datasets');
  const knowledge = knowledgeOnDemand(async () => {
    const { openKnowledge } = await import('./open-knowledge.js');
    return openKnowledge(stores, services, log);
  }, log);
  const open = async () => (await knowledge.open()).base;
  let retriever: Promise<Retriever> | undefined;
  const load = (): Promise<Retriever> => {
    retriever ??= import('./folder-datasets.js').then(({ createFolderDatasets }) =>
      createFolderDatasets({ open, folder }),
    );
    return retriever;
  };
  return {
    ...knowledge,
    retriever: lazyRetriever(load, LOCAL_TENANT),
    async resume() {
      const store = await stores.openKnowledge();
      const [waiting, remains] = [await store.waiting(1), await store.remains(1)];
      if (waiting.length + remains.length > 0) await knowledge.open();
    },
    async addDocs(tenants, root = PACKAGE) {
      const all = [...tenants];
      if (all.length === 0) return;
      const { syncFolder } = await import('../knowledge/base/sync-folder.js');
      const base = await open();
      for (const tenant of all) {
        const query = { source: DOCS.source, offset: 0, limit: 1, orderBy: 'createdAt', descending: false } as const;
        const [known] = (await base.datasets.list(tenant, query)).items;
        // A user's dataset of that name stays as it is.
        if (known === undefined && (await base.datasets.findByName(tenant, DOCS.name)) !== undefined) continue;
        const { dataset } =
          known ?? (await base.datasets.create(tenant, { ...DOCS, description: 'The pages of Runnel.' }));
        for (const name of ['README.md', 'docs']) {
          await syncFolder(base, { tenant, datasetId: dataset.id, path: path.join(root, name), deletesGone: true });
        }
      }
    },
  };
}

function lazyRetriever(load: () => Promise<Retriever>, tenant: string): Retriever {
  return {
    forTenant: (other) => lazyRetriever(load, other),
    async datasets(signal) {
      const retriever = await load();
      return (await (retriever.forTenant?.(tenant) ?? retriever).datasets?.(signal)) ?? [];
    },
    async search(request, signal) {
      const retriever = await load();
      return (retriever.forTenant?.(tenant) ?? retriever).search(request, signal);
    },
  };
}
