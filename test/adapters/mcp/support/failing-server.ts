/** An MCP server of raw answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '../../../../src/json.js';
import { serve, textOf } from '../../egress/support/servers.js';
import { declare } from './using.js';

/** The key of the operator, which no message repeats. */
export const SECRET = 'sk-very-secret';

/** A request as it came. */
export interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params: JsonObject;
}

/** Answers one request. */
export type Answer = (response: ServerResponse, message: Message) => void;

/** A result in one body. */
export const json = (response: ServerResponse, id: number | undefined, result: object): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
};

/** A server that can be talked to, until a tool is called. */
export async function failing(
  answer: Answer,
  { onList, onOther, timeout = 10 }: { onList?: Answer; onOther?: (message: Message) => void; timeout?: number } = {},
) {
  const listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const message = JSON.parse(await textOf(request)) as Message;
    if (message.method === 'initialize') {
      const { protocolVersion } = message.params;
      const serverInfo = { name: 'failing', version: '1' };
      json(response, message.id, { protocolVersion: protocolVersion ?? '', capabilities: { tools: {} }, serverInfo });
    } else if (message.method === 'tools/list') onList?.(response, message);
    else if (message.method === 'tools/call') answer(response, message);
    else {
      onOther?.(message);
      response.writeHead(202).end();
    }
  };
  const { origin, server, asked } = await serve((request, response) => void listener(request, response));
  const servers = declare({
    s: { type: 'streamable-http', url: `${origin}/`, timeout, authorization_token: SECRET },
  });
  return { servers, server, asked, origin };
}

/** Begins an event stream. */
export const stream = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });
