import type { Services } from '../components/services.js';
import type { FileStore } from '../records/stores.js';
import { bindFiles } from './bound-files.js';

/** What a server's services let one tenant see: its files, its datasets, the MCP servers that are open to it, its share of sandboxes. */
export function servicesOfTenant(
  { services, stores }: { readonly services: Services; readonly stores: { readonly files: FileStore } },
  tenant: string,
): Services {
  const { mcp, retriever, code } = services;
  return {
    ...services,
    files: bindFiles(stores.files, tenant),
    ...(mcp && { mcp: mcp.forTenant(tenant) }),
    ...(retriever?.forTenant && { retriever: retriever.forTenant(tenant) }),
    ...(code?.forTenant && { code: code.forTenant(tenant) }),
  };
}
