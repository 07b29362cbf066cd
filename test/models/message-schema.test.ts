import { describe, expect, it } from 'vitest';
import type { AssistantPart, ContentPart, ToolOutputPart } from '../../src/models/content-parts.js';
import { messageSchema } from '../../src/models/message-schema.js';
import {
  assistantMessage,
  type ChatMessage,
  systemMessage,
  toolMessage,
  userMessage,
} from '../../src/models/messages.js';

const extra = { facts: [1, { deep: null }] };

const output: ToolOutputPart[] = [
  { type: 'text', text: 'a', citations: ['page 1', { url: 'u' }], extra },
  { type: 'image_url', url: 'u' },
  { type: 'image', url: 'u', detail: 'low', extra },
  { type: 'audio', data: 'QQ==', mimeType: 'audio/wav', id: 'a', transcript: 'A' },
  { type: 'video', fileId: 'f', mimeType: 'video/mp4' },
  { type: 'file', url: 'u', name: 'a.pdf' },
  { type: 'tool-reference', name: 'paint' },
];

const content: ContentPart[] = [
  ...output.filter((part) => part.type !== 'tool-reference'),
  { type: 'tool-result', toolCallId: 't', name: 'look', content: output, isError: true },
  { type: 'tool-result', toolCallId: 't', content: 'seen' },
  { type: 'mcp-approval', requestId: 'r', isApproved: false, reason: 'too dear' },
];

const parts: AssistantPart[] = [
  ...output.filter((part) => part.type !== 'tool-reference' && part.type !== 'image_url'),
  { type: 'reasoning', text: '', signature: 's', id: 'r', isRedacted: true, extra },
  { type: 'tool-call', id: 'c', name: 'add', arguments: '{}', kind: 'custom', extra },
  { type: 'server-tool-call', id: 's', name: 'search', arguments: { query: 'x' } },
  { type: 'server-tool-result', callId: 's', name: 'search', content: [1, null] },
  { type: 'mcp-list', id: 'l', server: 'shop', tools: [{ name: 'a', description: 'b', parameters: {} }], error: 'e' },
  { type: 'mcp-call', id: 'm', server: 'shop', name: 'find', arguments: '{}', approvalRequestId: 'r' },
  { type: 'mcp-result', callId: 'm', server: 'shop', name: 'find', content: 'x', error: 'gone' },
  { type: 'mcp-approval-request', id: 'r', server: 'shop', name: 'buy', arguments: '{}' },
];

const messages: ChatMessage[] = [
  systemMessage('be nice', { name: 'house', id: 'm0', extra }),
  userMessage('hi'),
  userMessage(content, { name: 'Ann' }),
  assistantMessage('plain'),
  assistantMessage('a', {
    parts,
    toolCalls: [{ id: 'c', name: 'add', arguments: '{}' }],
    reasoning: 'hm',
    finishReason: 'stop',
    usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3, cachedTokens: 1, reasoningTokens: 1 },
    logProbabilities: [
      { token: 'a', logProbability: -1, bytes: [97], alternatives: [{ token: 'b', logProbability: -2 }] },
    ],
  }),
  toolMessage('seen', 't', { parts: output, isError: false }),
];

describe('messageSchema', () => {
  it('reads every message back that JSON has stored', () => {
    for (const message of messages) {
      expect(messageSchema.parse(JSON.parse(JSON.stringify(message)))).toEqual(message);
    }
  });

  it('leaves out what is no field of a message', () => {
    expect(messageSchema.parse({ role: 'user', content: 'hi', admin: true })).toEqual(userMessage('hi'));
  });

  it.each<[string, unknown, string]>([
    ['no role', { content: 'hi' }, 'role'],
    ['another role', { role: 'boss', content: 'hi' }, 'role'],
    ['a part of another type', { role: 'user', content: [{ type: 'smell' }] }, 'content'],
    [
      'bytes in two places',
      { role: 'assistant', content: '', parts: [{ type: 'image', url: 'u', fileId: 'f' }] },
      'parts',
    ],
    ['bytes without a type', { role: 'assistant', content: '', parts: [{ type: 'audio', data: 'QQ==' }] }, 'parts'],
    [
      'a call in a question',
      { role: 'user', content: [{ type: 'tool-call', id: 'c', name: 'a', arguments: '' }] },
      'content',
    ],
    ['a result without its call', { role: 'tool', content: 'x' }, 'toolCallId'],
    ['fewer than no tokens', { role: 'assistant', content: '', usage: { promptTokens: -1 } }, 'usage'],
  ])('refuses %s', (_, value, field) => {
    const issues = messageSchema.safeParse(value).error?.issues ?? [];
    expect(issues.map(({ path }) => path[0])).toContain(field);
  });
});
