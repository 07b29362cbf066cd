/** The MCP servers whose tools documents of a tenant may use; asking starts what has to be started, and changes nothing. */
import { catchError, lastValueFrom, map, of, TimeoutError, timeout } from 'rxjs';
import { z } from 'zod';
import type { McpServers, McpTool } from '../../adapters/mcp/mcp-servers.js';
import { EngineError, shownMessage } from '../../errors.js';
import { servicesOfTenant } from '../../hosting/tenant-services.js';
import { Newest } from '../../newest.js';
import { within } from '../../operators/within.js';
import { success } from '../envelope.js';
import { PAGE_BYTES, text } from '../http/input.js';
import { type RouteGroup, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { type ListedMcpServer, mcpServerShape } from './server-shapes.js';

/** How long a client waits for a server that does not answer; the question goes on, for those who ask again. */
const PATIENCE_MS = 5_000;

/** When such a question ends: before the next one may be asked. */
const MOST_MS = 20_000;

/** How long an answer is told again, a failure too. */
const FRESH_MS = 30_000;

/** Servers of a tenant that are asked, and answers that are kept. */
const MAX_SERVERS = 64;
const MAX_ANSWERS = 1_000;

/** Routes about the servers that this one is a client of. */
export function mcpServerRoutes(): RouteGroup {
  const answers = new WeakMap<ServerParts, Newest<Asked>>();
  return {
    name: 'mcp servers',
    description: 'MCP servers that agents may use.',
    routes: [
      route('GET /mcp/servers', {
        summary: 'Lists the MCP servers that agents may use, with their tools',
        reserves: PAGE_BYTES,
        query: z.object({ id: text.describe('The one server to ask; default all.') }),
        data: z.array(mcpServerShape),
        handle: async ({ tenant, query }, parts) => {
          const known = answers.get(parts) ?? new Newest<Asked>({ maxCount: MAX_ANSWERS });
          answers.set(parts, known);
          const { mcp } = servicesOfTenant(parts, tenant);
          const ids = (mcp?.ids() ?? [])
            .filter((id) => query.id === undefined || query.id === id)
            .slice(0, MAX_SERVERS);
          const asked = ids.map((id) => listed(mcp as McpServers, { tenant, id }, known, parts.now));
          return success(withinPage(await Promise.all(asked)));
        },
      }),
    ],
  };
}

/** Servers whose tools would make the answer too large come without them. */
function withinPage(servers: readonly ListedMcpServer[]): readonly ListedMcpServer[] {
  let left = PAGE_BYTES;
  return servers.map((server) => {
    left -= Buffer.byteLength(JSON.stringify(server));
    if (left >= 0) return server;
    return { ...server, error: 'Its tools are left out for their size; ask for it alone with `id`.', tools: [] };
  });
}

/** A question that was asked, and when. */
interface Asked {
  readonly at: number;
  readonly answer: Promise<ListedMcpServer>;
}

function listed(
  mcp: McpServers,
  { tenant, id }: { readonly tenant: string; readonly id: string },
  known: Newest<Asked>,
  now: () => number,
): Promise<ListedMcpServer> {
  const key = JSON.stringify([tenant, id]);
  const before = known.get(key);
  const at = now();
  const isFresh = before !== undefined && at - before.at >= 0 && at - before.at < FRESH_MS;
  const asked = isFresh ? before : { at, answer: ask(mcp, id) };
  if (!isFresh) known.put(key, asked);
  return within<ListedMcpServer, ListedMcpServer>(PATIENCE_MS, asked.answer, { id, status: 'late', tools: [] });
}

function ask(mcp: McpServers, id: string): Promise<ListedMcpServer> {
  const server = mcp.find(id);
  if (server === undefined) return Promise.resolve({ id, status: 'failed', error: 'It is gone.', tools: [] });
  const answer$ = server
    .use({ run: 'list of servers', headers: {}, trace: {} }, (connection) => connection.tools())
    .pipe(
      timeout({ first: MOST_MS }),
      map((tools): ListedMcpServer => ({ id, status: 'ok', tools: tools.map(writeTool) })),
      catchError((error: unknown) => of<ListedMcpServer>({ id, status: 'failed', error: reasonOf(error), tools: [] })),
    );
  return lastValueFrom(answer$, { defaultValue: { id, status: 'failed', error: 'It gave no list.', tools: [] } });
}

function writeTool({ name, description, inputSchema }: McpTool): ListedMcpServer['tools'][number] {
  return { name, description, parameters: inputSchema };
}

/** Failures of servers leave out what is secret; others are not for clients. */
function reasonOf(error: unknown): string {
  if (error instanceof TimeoutError) return `It did not answer within ${MOST_MS / 1000} s.`;
  return EngineError.is(error) ? shownMessage(error) : 'It could not be asked.';
}
