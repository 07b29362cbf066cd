import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/json.js';

type Node = [type: string, downstream: string[], params?: JsonObject, container?: string];

/** A document of a few nodes. */
export function canvas(nodes: Readonly<Record<string, Node>>): JsonObject {
  const components = Object.fromEntries(
    Object.entries(nodes).map(([id, [component_name, downstream, params = {}, parent_id]]) => [
      id,
      { obj: { component_name, params }, downstream, upstream: [], ...(parent_id === undefined ? {} : { parent_id }) },
    ]),
  );
  return { components, graph: { nodes: [], edges: [] }, globals: { 'sys.query': '' } };
}

/** A server whose requests a test may look at. */
export async function startUpstream(): Promise<{ url: string; seen: IncomingHttpHeaders[] }> {
  const seen: IncomingHttpHeaders[] = [];
  const http = createServer((request, response) => {
    seen.push(request.headers);
    response.end('{"ok": true}');
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => void http.close());
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, seen };
}
