import { z } from 'zod';
import { newTokenSchema } from '../access/token-routes.js';
import { runtimeSchema } from '../admin/admin-routes.js';
import { MCP_METHODS } from '../mcp/mcp-routes.js';
import { WEBHOOK_METHODS } from '../webhooks/webhook-routes.js';
import type { Operation, OperationGroup } from './operation.js';
import { tokenShape } from './shapes.js';

const text = z.string();
const messageShape = z.looseObject({ jsonrpc: z.literal('2.0'), method: text });
const runtimeShape = z.looseObject({ tenant_id: text, runtime: text, source: z.enum(['override', 'default']) });

/** Calls from outside that start an agent. */
export const webhookOperations: OperationGroup = {
  name: 'webhooks',
  description: 'Calls that start an agent, as its Begin component allows. Refusals are HTTP 400.',
  operations: [
    ...webhookCalls('/agents/:id/webhook', 'Calls the webhook of an agent', 'open'),
    ...webhookCalls('/agents/:id/webhook/test', 'The same for its owner, with a record', 'key'),
    {
      method: 'get',
      path: '/agents/:id/webhook/logs',
      summary: 'What was recorded',
      query: z.object({
        since_ts: text.optional().describe('Seconds since 1970: only what is newer.'),
        webhook_id: text.optional().describe('The call to watch.'),
      }),
      data: z.looseObject({
        webhook_id: text.nullable(),
        events: z.array(z.looseObject({ ts: z.number() })),
        next_since_ts: z.number(),
        finished: z.boolean(),
      }),
    },
  ],
};

/** Agents as tools of other programs. */
export const mcpOperations: OperationGroup = {
  name: 'mcp',
  description: 'Published agents as tools of an MCP server (streamable HTTP, without sessions).',
  operations: MCP_METHODS.map((method) => ({
    method: method.toLowerCase() as Operation['method'],
    path: '/mcp',
    summary: method === 'POST' ? 'Takes one message of JSON-RPC' : 'Answers 405: there are no sessions',
    ...(method === 'POST' ? { body: messageShape } : {}),
    answers: 'any',
  })),
};

/** Keys, administration, this description. */
export const systemOperations: OperationGroup = {
  name: 'system',
  description: 'Keys, administration, and this description.',
  operations: [
    { method: 'get', path: '/openapi.json', summary: 'This description', answers: 'any', access: 'open' },
    { method: 'get', path: '/system/tokens', summary: 'Lists own keys', data: z.array(tokenShape) },
    { method: 'post', path: '/system/tokens', summary: 'Makes a pair of keys', body: newTokenSchema, data: tokenShape },
    { method: 'delete', path: '/system/tokens/:token', summary: 'Deletes a pair of keys', data: z.boolean() },
    {
      method: 'get',
      path: '/admin/canvas-runtime',
      summary: 'Which engines there are',
      data: z.looseObject({ runtimes: z.array(text), default: text }),
      access: 'admin',
    },
    {
      method: 'get',
      path: '/admin/canvas-runtime/:tenant',
      summary: "Which engine runs a tenant's canvases",
      data: runtimeShape,
      access: 'admin',
    },
    {
      method: 'post',
      path: '/admin/canvas-runtime/:tenant',
      summary: 'Gives a tenant to an engine',
      body: runtimeSchema,
      data: runtimeShape,
      access: 'admin',
    },
    {
      method: 'delete',
      path: '/admin/canvas-runtime/:tenant',
      summary: 'Gives a tenant back to the default engine',
      data: runtimeShape,
      access: 'admin',
    },
    {
      method: 'get',
      path: '/admin/metrics',
      summary: "Counts of runs in Prometheus' text format",
      answers: 'text',
      access: 'admin',
    },
  ],
};

function webhookCalls(path: string, summary: string, access: 'open' | 'key'): Operation[] {
  return WEBHOOK_METHODS.map((method) => ({
    method: method.toLowerCase() as Operation['method'],
    path,
    summary,
    takesAnything: method !== 'GET',
    answers: 'any',
    access,
  }));
}
