import type { ServerResponse } from 'node:http';
import type { ChatModel, ChatRequest } from '../../../src/models/chat-model.js';
import { anthropic } from '../../../src/models/providers/anthropic.js';
import { startServer } from '../fake-server.js';
import { all, connectionTo, hello } from '../model-at.js';

export const claudeAt = (url: string): ChatModel =>
  anthropic.chat(connectionTo(url, {}, anthropic), { streamUsage: true });

/** Server-sent events as the API writes them: the type of each as its name, too. */
export const events = (...list: { readonly type: string }[]): string =>
  list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

export const answer = (response: ServerResponse, ...list: { readonly type: string }[]): void =>
  void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events(...list));

export const start = (usage: object = { input_tokens: 10, output_tokens: 1 }) => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage },
});
export const opened = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
export const delta = (index: number, piece: object) => ({ type: 'content_block_delta', index, delta: piece });
export const closed = (index: number) => ({ type: 'content_block_stop', index });
export const end = (stop_reason: string, output_tokens = 7) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } },
  { type: 'message_stop' },
];
export const text = (index: number, piece: string) => [
  opened(index, { type: 'text', text: '' }),
  delta(index, { type: 'text_delta', text: piece }),
  closed(index),
];

/** The body that the server got for a request. */
export async function sent(request: Partial<ChatRequest>) {
  return (await arrivedFor(request))?.body;
}

/** The request that the server got. */
export async function arrivedFor(request: Partial<ChatRequest>) {
  const { url, arrived } = await startServer((response) =>
    answer(response, start(), ...text(0, 'x'), ...end('end_turn')),
  );
  await all(claudeAt(url), { ...hello, ...request });
  return arrived[0];
}
