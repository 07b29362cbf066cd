/** MCP servers as a run uses them. */
import { lastValueFrom, type Observable, toArray } from 'rxjs';
import { onTestFinished } from 'vitest';
import { createMcpServers, type McpConnection, type McpServers } from '../../../../src/adapters/mcp/mcp-servers.js';
import { readMcpSettings } from '../../../../src/adapters/mcp/mcp-settings.js';
import type { JsonObject } from '../../../../src/json.js';
import type { ToolEvent } from '../../../../src/tools/tool.js';

/** Servers as an operator declares them; closed with the test. */
export function declare(servers: JsonObject): McpServers {
  const made = createMcpServers(readMcpSettings(JSON.stringify({ mcpServers: servers }), 'test'));
  onTestFinished(() => made.close());
  return made;
}

/** One server over streamable HTTP, called `s`. */
export const over = (url: string, more: JsonObject = {}): McpServers =>
  declare({ s: { type: 'streamable-http', url, ...more } });

export interface Using {
  readonly id?: string;
  readonly run?: string;
  readonly headers?: JsonObject;
}

/** What work over a connection of a run gives. */
export function use<T>(
  servers: McpServers,
  work: (connection: McpConnection) => Observable<T>,
  { id = 's', run = 'run', headers = {} }: Using = {},
): Observable<T> {
  const server = servers.find(id);
  if (server === undefined) throw new Error(`there is no server ${id}`);
  return server.use({ run, headers, trace: {} }, work);
}

/** Everything that one call says, in a run of its own. */
export function callOnce(
  servers: McpServers,
  name: string,
  args: JsonObject = {},
  using: Using = {},
): Promise<ToolEvent[]> {
  const call = { name, args, trace: {}, files: undefined };
  return lastValueFrom(use(servers, (connection) => connection.call(call), using).pipe(toArray()));
}

/** The text of a call's result. */
export async function textOfCall(...given: Parameters<typeof callOnce>): Promise<string> {
  const last = (await callOnce(...given)).at(-1);
  if (last?.type !== 'result') throw new Error('there is no result');
  return last.text;
}
