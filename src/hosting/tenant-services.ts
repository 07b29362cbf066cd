/** Services of every run, bound to a tenant and to one of its runs. */
import type { Files, Services } from '../components/services.js';
import type { JsonObject } from '../json.js';
import { Newest } from '../newest.js';
import { businessOf } from '../records/business.js';
import type { FileStore } from '../records/files.js';
import type { SessionRecord } from '../records/sessions.js';
import { canvasToolsOf } from './canvas-tools.js';
import type { HostParts, HostStores } from './host-options.js';
import { createId } from './ids.js';
import { partyOf } from './shares.js';

/** What services are bound with. */
type ServicePorts = Pick<HostParts, 'services' | 'openCanvas'> & {
  readonly stores: Pick<HostStores, 'files' | 'agents' | 'sales' | 'tickets'>;
};

/** A server's services as one tenant has them: its files, its sales and tickets, its datasets, the MCP servers that are open to it, its chats, its canvases, its
 * share of sandboxes and threads, its turns at models and browsers. */
export function servicesOfTenant(ports: ServicePorts, tenant: string, isVisitor = false): Services {
  let bound = boundOf.get(ports);
  if (bound === undefined) {
    bound = new Newest({ maxCount: MAX_BOUND });
    boundOf.set(ports, bound);
  }
  const party = partyOf(tenant, isVisitor);
  const known = bound.get(party) ?? bindServices(ports, tenant, isVisitor);
  if (bound.get(party) === undefined) bound.put(party, known);
  return known;
}

/** Tenants whose services are kept, since each run needs those of its tenant. */
const MAX_BOUND = 1_000;
const boundOf = new WeakMap<ServicePorts, Newest<Services>>();

function bindServices({ services, stores, openCanvas }: ServicePorts, tenant: string, isVisitor: boolean): Services {
  const { mcp, retriever, code, threads, models, browsers, knowledge, chats, caches, steers, spending } = services;
  return {
    ...services,
    files: bindFiles(stores.files, tenant),
    ...businessOfTenant(stores, tenant),
    // Visitors talk to the canvas of their page alone.
    ...(!isVisitor && { canvases: canvasToolsOf({ agents: stores.agents, openCanvas }, tenant) }),
    ...(mcp && { mcp: mcp.forTenant(tenant) }),
    ...(retriever?.forTenant && { retriever: retriever.forTenant(tenant) }),
    ...(code?.forTenant && { code: code.forTenant(tenant) }),
    ...(models?.forTenant && { models: models.forTenant(partyOf(tenant, isVisitor)) }),
    ...(browsers?.forTenant && { browsers: browsers.forTenant(partyOf(tenant, isVisitor)) }),
    ...(threads?.forTenant && { threads: threads.forTenant(tenant) }),
    ...(knowledge?.forTenant && { knowledge: knowledge.forTenant(tenant) }),
    ...(chats?.forTenant && { chats: chats.forTenant(tenant) }),
    ...(steers && { steers: steers.forTenant(tenant) }),
    ...(spending && { spending: spending.forTenant(tenant) }),
    ...(caches?.forTenant && { caches: caches.forTenant(tenant) }),
  };
}

function businessOfTenant({ sales, tickets }: ServicePorts['stores'], tenant: string): Pick<Services, 'business'> {
  if (sales === undefined || tickets === undefined) return {};
  return { business: businessOf({ sales, tickets }, tenant, Date.now) };
}

/** Services of one run. */
export function servicesOfRun(
  ports: ServicePorts,
  tenant: string,
  session: Pick<SessionRecord, 'id' | 'agentId' | 'page' | 'dsl' | 'messages' | 'lastRun' | 'conversation'>,
  headers: JsonObject,
): Services {
  const isNew = session.messages.length === 0 && session.lastRun === undefined && session.conversation === undefined;
  return {
    ...servicesOfTenant(ports, tenant, session.page !== undefined),
    ...(session.page === undefined ? {} : { files: bindFiles(ports.stores.files, tenant, session) }),
    session: { id: session.id, agent: session.agentId, ...(isNew && { isNew }) },
    headers,
  };
}

/**
 * The files of one tenant, as components see them; in a session of a chat page, whose visitors may name any id, only what its key made, and
 * what the author of the document names.
 */
export function bindFiles(
  store: FileStore,
  tenant: string,
  { page, dsl }: Partial<Pick<SessionRecord, 'page' | 'dsl'>> = {},
): Files {
  return {
    async read(id) {
      const file = await store.find(tenant, id);
      const isOpen = page === undefined || file?.page === page || JSON.stringify(dsl).includes(JSON.stringify(id));
      return isOpen ? file : undefined;
    },
    async save({ name, mimeType, bytes, expiresAt }) {
      const id = createId();
      const about = { id, name, mimeType, bytes, createdAt: Date.now() };
      const file = page === undefined ? about : { ...about, page };
      await store.save(tenant, expiresAt === undefined ? file : { ...file, expiresAt });
      return id;
    },
  };
}
