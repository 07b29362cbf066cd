/** The knowledge base of a server: loaded when it is first needed, searched by the tool Retrieval. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Services } from '../components/services.js';
import type { KnowledgeBase } from '../knowledge/base/knowledge-base.js';
import type { FoundByGraphs, KnowledgeSearch } from '../knowledge/knowledge-search.js';
import type { Retriever } from '../knowledge/retriever.js';
import type { Log } from '../logger.js';
import type { Arrivals } from '../operators/arrivals.js';
import { LoopTurns } from '../operators/loop-turns.js';
import type { KnowledgeStore } from '../records/knowledge-store.js';
import { LOCAL_TENANT } from '../settings/access.js';
import type { Settings } from '../settings/read-settings.js';
import type { GraphMeters } from '../telemetry/graph-meters.js';
import type { IndexSizes } from '../transport/server-parts.js';
import type { FolderDatasets, FolderDatasetsOptions } from './folder-datasets.js';
import { countBuilds } from './graph/count-builds.js';
import { type KnowledgeOnDemand, knowledgeOnDemand } from './knowledge-on-demand.js';
import type { OpenKnowledge } from './open-knowledge.js';
import type { OpenStores } from './open-stores.js';
import type { Seed } from './seed-datasets.js';

/** What a server has of its knowledge base. */
export interface ServedKnowledge extends KnowledgeOnDemand {
  /** Searches its datasets, and folders as datasets. */
  readonly retriever: Retriever;
  /** Searches the same for chats, which need scores and places. */
  readonly search: KnowledgeSearch;
  /** Goes on with documents that a process before has left; loads nothing else when there are none. */
  resume(): Promise<void>;
  /** Makes datasets of files for tenants, or brings them up to date, by hash; see `plantSeeds`. Loads nothing without seeds or tenants. */
  addSeeds(seeds: readonly Seed[], tenants: Iterable<string>): Promise<void>;
  /** How much the indexes hold that are in memory. */
  sizes(): IndexSizes;
  /** How many documents are in line or parsed, of all tenants; loads nothing else. */
  waiting(): Promise<number>;
}

/** Where a server's knowledge base is, and what goes before its searches. */
export interface ServedKnowledgeOptions {
  readonly settings: Pick<Settings, 'nodes' | 'stores'>;
  readonly log: Log;
  /** Counts the builds of graphs. @default they are not counted */
  readonly graphMeters?: GraphMeters | undefined;
  /** Before what comes, searches do not begin. @default nothing goes before them */
  readonly arrivals?: Arrivals | undefined;
  /** How datasets that are folders are read. */
  readonly folders?: Pick<FolderDatasetsOptions, 'parsingMs' | 'onParsing'> | undefined;
}

/** Of a knowledge base that is not loaded. */
const NOTHING: IndexSizes = { open: 0, passages: 0, lacking: 0 };

/** Datasets whose documents are counted. */
const MAX_WAITING = 1_000;

/** The knowledge base over the stores of a server. */
export function serveKnowledge(
  stores: OpenStores,
  services: Pick<Services, 'models' | 'threads'>,
  { settings, log, arrivals, folders, graphMeters }: ServedKnowledgeOptions,
): ServedKnowledge {
  const folder = settings.nodes.datasetsDir ?? path.join(settings.stores.dataDir, 'datasets');
  const stop = new AbortController();
  let opened: OpenKnowledge | undefined;
  const knowledge = knowledgeOnDemand(async () => {
    const { openKnowledge } = await import('./open-knowledge.js');
    const { nodes } = settings;
    const { termsFile, embeddings } = nodes;
    const turns = new LoopTurns({ later: arrivals?.later });
    const knowledge = await openKnowledge(stores, services, { log, termsFile, embeddings, turns, ingestion: nodes });
    opened = graphMeters === undefined ? knowledge : withCountedBuilds(knowledge, graphMeters);
    return opened;
  }, log);
  const open = async () => (await knowledge.open()).base;
  let retriever: Promise<FolderDatasets> | undefined;
  const load = (): Promise<FolderDatasets> => {
    retriever ??= import('./folder-datasets.js').then(({ createFolderDatasets }) =>
      createFolderDatasets({ ...folders, open, folder, signal: stop.signal }),
    );
    return retriever;
  };
  return {
    ...knowledge,
    retriever: lazyRetriever(load, LOCAL_TENANT),
    search: lazySearch({ open, load, warmth: { isCold: true } }, LOCAL_TENANT),
    async close() {
      stop.abort();
      await knowledge.close();
    },
    async resume() {
      const store = await stores.openKnowledge();
      const [waiting, remains] = [await store.waiting(1), await store.remains(1)];
      if (waiting.length + remains.length > 0 || (await hasBuilds(store))) await knowledge.open();
    },
    async addSeeds(seeds, tenants) {
      const all = [...tenants];
      if (all.length === 0 || seeds.length === 0) return;
      const { plantSeeds } = await import('./seed-datasets.js');
      await plantSeeds(await open(), seeds, all);
    },
    sizes: () => opened?.base.parts.indexes.sizes?.() ?? NOTHING,
    async waiting() {
      const datasets = await (await stores.openKnowledge()).waiting(MAX_WAITING);
      return datasets.reduce((sum, { waiting, active }) => sum + waiting + active, 0);
    },
  };
}

function withCountedBuilds(knowledge: OpenKnowledge, meters: GraphMeters): OpenKnowledge {
  const { builds, base } = knowledge;
  return { ...knowledge, builds: { ...builds, run: () => builds.run().pipe(countBuilds(meters, base.graphs)) } };
}

/** Whether a graph is to be built: a build is taken and given back at once. */
async function hasBuilds(store: KnowledgeStore): Promise<boolean> {
  const owner = randomUUID();
  const claimed = await store.claimBuild(owner, 1);
  if (claimed === undefined) return false;
  await store.releaseBuild(owner, claimed.tenant, claimed.datasetId);
  return true;
}

/** What the searches of all tenants share. */
interface SharedSearch {
  readonly open: () => Promise<KnowledgeBase>;
  readonly load: () => Promise<FolderDatasets>;
  readonly warmth: { isCold: boolean };
}

/** What chats search: all datasets, those that are folders brought up to date before. */
function lazySearch(shared: SharedSearch, tenant: string): KnowledgeSearch {
  const { open, load, warmth } = shared;
  let search: Promise<KnowledgeSearch> | undefined;
  const loadSearch = (): Promise<KnowledgeSearch> => {
    search ??= import('../knowledge/base/search-datasets.js').then(({ createKnowledgeSearch }) =>
      createKnowledgeSearch(open, tenant),
    );
    return search;
  };
  return {
    forTenant: (other) => lazySearch(shared, other),
    get isCold() {
      return warmth.isCold;
    },
    async search(query, signal) {
      const folders = await load();
      await folders.forTenant(tenant).followAll(signal);
      const hits = await (await loadSearch()).search(query, signal);
      warmth.isCold = false;
      return hits;
    },
    graphSearch: async (...asked) => (await (await loadSearch()).graphSearch?.(...asked)) ?? NOTHING_BY_GRAPHS,
    withGraph: async (...asked) => (await (await loadSearch()).withGraph?.(...asked)) ?? [],
    neighbours: async (...range) => (await (await loadSearch()).neighbours?.(...range)) ?? [],
  };
}

const NOTHING_BY_GRAPHS: FoundByGraphs = { hits: [], spent: { calls: 0, tokens: 0 } };

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
