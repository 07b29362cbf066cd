import { describe, expect, expectTypeOf, it } from 'vitest';
import { type AssistantPart, type ContentPart, contentText } from '../../src/models/content-parts.js';
import {
  type AssistantChunk,
  type AssistantMessage,
  assistantMessage,
  type ChatMessage,
  systemMessage,
  toolMessage,
  userMessage,
} from '../../src/models/messages.js';

describe('messages', () => {
  it('are written in short', () => {
    const toolCalls = [{ id: '1', name: 'add', arguments: '{}' }];
    expect([
      systemMessage('Be brief.'),
      userMessage('hi', { name: 'Ann' }),
      assistantMessage('', { toolCalls, finishReason: 'tool_calls' }),
      toolMessage('42', '1', { isError: true }),
    ]).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi', name: 'Ann' },
      { role: 'assistant', content: '', toolCalls, finishReason: 'tool_calls' },
      { role: 'tool', content: '42', toolCallId: '1', isError: true },
    ]);
  });

  it('have no fields that are undefined', () => {
    expect(Object.keys(userMessage('hi', { name: undefined, id: 'u1' }))).toEqual(['role', 'content', 'id']);
  });

  it('that were written before there were parts are still messages', () => {
    const message = {
      role: 'assistant',
      content: 'x',
      toolCalls: [{ id: '1', name: 'add', arguments: '{}' }],
    } as const;
    expectTypeOf(message).toExtend<ChatMessage>();
    expectTypeOf<{ role: 'user'; content: { type: 'image_url'; url: string }[] }>().toExtend<ChatMessage>();
    expect(message.role).toBe('assistant');
  });

  it('of a model are chunks, too', () => {
    expectTypeOf<AssistantMessage>().toExtend<AssistantChunk>();
    expectTypeOf<AssistantPart & { index: number }>().toExtend<NonNullable<AssistantChunk['parts']>[number]>();
    expect(assistantMessage('x')).toEqual({ role: 'assistant', content: 'x' });
  });

  it('say where the bytes of a part are: at a URL, here, or at the provider', () => {
    // @ts-expect-error Data needs its type.
    const untyped: ContentPart = { type: 'audio', data: 'QQ==' };
    // @ts-expect-error An image is somewhere.
    const nowhere: ContentPart = { type: 'image' };
    const named: ContentPart = { type: 'file', fileId: 'file_1', name: 'a.pdf' };
    expect([untyped, nowhere, named]).toHaveLength(3);
  });

  it('have a text, which is that of their text parts', () => {
    const parts: ContentPart[] = [
      { type: 'text', text: 'a' },
      { type: 'image', url: 'https://pictures.test/1.png' },
      { type: 'text', text: 'b' },
    ];
    expect(contentText(parts)).toBe('a\nb');
    expect(contentText('c')).toBe('c');
  });
});
