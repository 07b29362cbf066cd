import { describe, expect, it } from 'vitest';
import {
  afterAnswer,
  callsMade,
  millisecondsRule,
  partsMade,
  type RoundFacts,
  requestMessages,
  spentReason,
  tokensRule,
} from '../../src/agents/round.js';
import type { ChatMessage } from '../../src/models/chat-model.js';

const facts: RoundFacts = { round: 3, messages: [], usage: { totalTokens: 100 }, elapsedMs: 2_000 };
const call = (id: string) => ({ id, name: 'find', arguments: '{}' });

describe('why no further tool may be called', () => {
  it.each([
    ['no rule', [], undefined],
    ['rules that say nothing', [() => undefined, tokensRule(101), millisecondsRule(2_001)], undefined],
    ['the first one that says something', [() => undefined, () => 'one', () => 'two'], 'one'],
    ['tokens', [tokensRule(100)], 'The budget of 100 tokens is spent.'],
    ['time', [millisecondsRule(2_000)], 'The budget of 2 seconds is spent.'],
  ])('%s', (_, rules, reason) => {
    expect(spentReason(rules, facts)).toBe(reason);
  });

  it('a conversation of more than 4 million characters, calls and parts of answers counted', () => {
    const long = 'x'.repeat(2_000_000);
    const question: ChatMessage = { role: 'user', content: long };
    const answer: ChatMessage = { role: 'assistant', content: '', toolCalls: [{ ...call('a'), arguments: long }] };
    const image = { type: 'image', mimeType: 'image/png', data: long } as const;
    const tooLong = 'The conversation with the tools has become too long.';
    expect(spentReason([], { ...facts, messages: [question, answer] })).toBeUndefined();
    expect(spentReason([], { ...facts, messages: [question, answer, { role: 'user', content: '!' }] })).toBe(tooLong);
    const drawn: ChatMessage = { role: 'assistant', content: '', parts: [image as never] };
    expect(spentReason([], { ...facts, messages: [question, drawn] })).toBe(tooLong);
  });
});

describe('what a model is asked', () => {
  it('is the conversation, and that no tool can be called when there is a reason', () => {
    const messages: ChatMessage[] = [{ role: 'user', content: 'Go.' }];
    expect(requestMessages(messages, undefined)).toBe(messages);
    expect(requestMessages(messages, 'Too much.')).toEqual([
      ...messages,
      { role: 'user', content: expect.stringMatching(/^Too much\. No more tools can be called now\./) },
    ]);
  });
});

describe('what comes of an answer', () => {
  const thoughts = [{ type: 'reasoning', text: 'hm' }] as const;
  const image = [{ type: 'image', mimeType: 'image/png', data: 'AA==' }] as never;
  it.each([
    ['text', { content: 'Yes.' }, { mayCall: true, isRetry: false }, 'answer'],
    ['calls, also behind text', { content: 'So.', toolCalls: [call('a')] }, { mayCall: true, isRetry: false }, 'calls'],
    [
      'calls that may not be made',
      { content: 'So.', toolCalls: [call('a')] },
      { mayCall: false, isRetry: false },
      'answer',
    ],
    ['nothing', { content: ' \n' }, { mayCall: true, isRetry: false }, 'again'],
    ['nothing, again', { content: '' }, { mayCall: true, isRetry: true }, 'answer'],
    ['thoughts alone', { content: '', parts: thoughts }, { mayCall: true, isRetry: false }, 'again'],
    ['a picture', { content: '', parts: image }, { mayCall: true, isRetry: false }, 'answer'],
    ['an empty list of calls', { content: '', toolCalls: [] }, { mayCall: true, isRetry: true }, 'answer'],
  ] as const)('%s', (_, answer, how, move) => {
    expect(afterAnswer(answer, how)).toBe(move);
  });

  it('is at most 64 calls', () => {
    const toolCalls = Array.from({ length: 70 }, (_, at) => call(`c${at}`));
    expect(callsMade({ toolCalls })).toEqual(toolCalls.slice(0, 64));
    expect(callsMade({})).toEqual([]);
    const parts = [
      { type: 'text', text: 'a' } as const,
      ...toolCalls.map((one) => ({ ...one, type: 'tool-call' }) as const),
    ];
    expect(partsMade(parts)).toEqual(parts.slice(0, 65));
  });
});
