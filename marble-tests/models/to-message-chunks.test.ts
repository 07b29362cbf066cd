import { describe, expect, it } from 'vitest';
import type { ChatDelta } from '../../src/models/chat-model.js';
import { concatMessages } from '../../src/models/concat-messages.js';
import type { AssistantChunk, AssistantMessage } from '../../src/models/messages.js';
import { collectMessage, toMessageChunks } from '../../src/models/to-message-chunks.js';
import { marbles } from '../support/scheduler.js';

const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 };
const deltas: Record<string, ChatDelta> = {
  h: { type: 'thinking', text: 'hm' },
  s: { type: 'part', part: { type: 'reasoning', text: '', signature: 'sig' } },
  r: { type: 'part', part: { type: 'reasoning', text: '', signature: 'hidden', isRedacted: true } },
  t: { type: 'text', text: 'a' },
  q: { type: 'part', part: { type: 'text', text: '', citations: ['page 1'] } },
  c: { type: 'tool-call', index: 0, id: '1', name: 'add', arguments: '{}' },
  d: { type: 'tool-call', index: 1, id: '2', name: 'sub', arguments: '{}' },
  w: { type: 'part', part: { type: 'server-tool-call', id: 'w', name: 'search', arguments: { query: 'x' } } },
  a: { type: 'part', part: { type: 'audio', data: 'QQ==', mimeType: 'audio/wav', transcript: 'A' } },
  l: { type: 'log-probabilities', tokens: [{ token: 'a', logProbability: -1 }] },
  u: { type: 'usage', ...usage },
  f: { type: 'finish', reason: 'stop', id: 'm1' },
};

const role = 'assistant';
const thought = { role, reasoning: 'hm' } as const;
const text = { role, content: 'a' } as const;
const ended = { role, finishReason: 'stop', id: 'm1' } as const;

describe('toMessageChunks', () => {
  it('gives a chunk for each delta, without parts while none are needed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-h-t-t-c-d-l-u-f|', deltas);
      const sub = '        ^---------------!';
      const expected = '   -h-t-t-c-d-l-u-f|';
      expectObservable(source.pipe(toMessageChunks())).toBe(expected, {
        h: thought,
        t: text,
        c: { role, toolCalls: [{ id: '1', name: 'add', arguments: '{}', index: 0 }] },
        d: { role, toolCalls: [{ id: '2', name: 'sub', arguments: '{}', index: 1 }] },
        l: { role, logProbabilities: [{ token: 'a', logProbability: -1 }] },
        u: { role, usage },
        f: ended,
      });
      expectSubscriptions(source.subscriptions).toBe(sub);
    }));

  it('carries what came before as parts, once a delta needs to be one', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-h-h-s-t-t-w-t-c-f|', deltas);
      const sub = '        ^-----------------!';
      const expected = '   -h-h-s-t-t-w-x-c-f|';
      expectObservable(source.pipe(toMessageChunks())).toBe(expected, {
        h: thought,
        s: { role, parts: [{ type: 'reasoning', text: 'hmhm', signature: 'sig', index: 0 }] },
        t: { ...text, parts: [{ type: 'text', text: 'a', index: 1 }] },
        w: {
          role,
          parts: [{ type: 'server-tool-call', id: 'w', name: 'search', arguments: { query: 'x' }, index: 2 }],
        },
        x: { ...text, parts: [{ type: 'text', text: 'a', index: 3 }] },
        c: {
          role,
          toolCalls: [{ id: '1', name: 'add', arguments: '{}', index: 0 }],
          parts: [{ type: 'tool-call', id: '1', name: 'add', arguments: '{}', index: 4 }],
        },
        f: ended,
      });
      expectSubscriptions(source.subscriptions).toBe(sub);
    }));

  it('fails with its source, after the chunks before', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-t-#', deltas);
      expectObservable(source.pipe(toMessageChunks())).toBe('-t-#', { t: text });
      expectSubscriptions(source.subscriptions).toBe('^--!');
    }));

  it('lets go of its source when unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-t---t', deltas);
      expectObservable(source.pipe(toMessageChunks()), '---!').toBe('-t', { t: text });
      expectSubscriptions(source.subscriptions).toBe('^--!');
    }));

  it('starts anew with every subscription, also of a synchronous source', () =>
    marbles(({ cold, expectObservable }) => {
      const chunks$ = cold('(tc|)', deltas).pipe(toMessageChunks());
      const values = { t: text, c: { role, toolCalls: [{ id: '1', name: 'add', arguments: '{}', index: 0 }] } };
      expectObservable(chunks$).toBe('(tc|)', values);
      expectObservable(chunks$, '--^').toBe('--(tc|)', values);
    }));
});

describe('collectMessage', () => {
  const whole = (marble: string, message: Omit<AssistantMessage, 'role'>): void =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold(marble, deltas);
      const end = marble.length - 1;
      expectObservable(source.pipe(collectMessage())).toBe(`${'-'.repeat(end)}(m|)`, { m: { role, ...message } });
      expectSubscriptions(source.subscriptions).toBe(`^${'-'.repeat(end - 1)}!`);
    });

  it('gives the message of an answer that needs no parts', () =>
    whole('-h-t-t-c-d-u-f|', {
      content: 'aa',
      reasoning: 'hm',
      toolCalls: [
        { id: '1', name: 'add', arguments: '{}' },
        { id: '2', name: 'sub', arguments: '{}' },
      ],
      usage,
      finishReason: 'stop',
      id: 'm1',
    }));

  it('gives all parts in order; a signature and citations end the part before', () =>
    whole('-h-s-h-s-r-t-q-t-a-a-w|', {
      content: 'aa',
      reasoning: 'hmhm',
      parts: [
        { type: 'reasoning', text: 'hm', signature: 'sig' },
        { type: 'reasoning', text: 'hm', signature: 'sig' },
        { type: 'reasoning', text: '', signature: 'hidden', isRedacted: true },
        { type: 'text', text: 'a', citations: ['page 1'] },
        { type: 'text', text: 'a' },
        { type: 'audio', data: 'QUE=', mimeType: 'audio/wav', transcript: 'AA' },
        { type: 'server-tool-call', id: 'w', name: 'search', arguments: { query: 'x' } },
      ],
    }));

  it('keeps thoughts apart from hidden ones that follow', () =>
    whole('-h-r-h|', {
      content: '',
      reasoning: 'hmhm',
      parts: [
        { type: 'reasoning', text: 'hm' },
        { type: 'reasoning', text: '', signature: 'hidden', isRedacted: true },
        { type: 'reasoning', text: 'hm' },
      ],
    }));

  it('keeps calls apart that come before the first part', () =>
    whole('-c-d-w|', {
      content: '',
      toolCalls: [
        { id: '1', name: 'add', arguments: '{}' },
        { id: '2', name: 'sub', arguments: '{}' },
      ],
      parts: [
        { type: 'tool-call', id: '1', name: 'add', arguments: '{}' },
        { type: 'tool-call', id: '2', name: 'sub', arguments: '{}' },
        { type: 'server-tool-call', id: 'w', name: 'search', arguments: { query: 'x' } },
      ],
    }));

  it('gives a message without content for an empty source', () => whole('---|', { content: '' }));

  it('gives nothing when its source fails', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('-t-#', deltas).pipe(collectMessage())).toBe('---#');
    }));

  it('lets go of its source when unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-t---t', deltas);
      expectObservable(source.pipe(collectMessage()), '---!').toBe('');
      expectSubscriptions(source.subscriptions).toBe('^--!');
    }));

  it('gives what its chunks give, joined in the middle or not', () =>
    marbles(({ cold, flush }) => {
      const chunks: AssistantChunk[] = [];
      cold('(hsttwtcf|)', deltas)
        .pipe(toMessageChunks())
        .subscribe((chunk) => chunks.push(chunk));
      flush();
      const inTwo = concatMessages([concatMessages(chunks.slice(0, 4)), concatMessages(chunks.slice(4))]);
      expect(chunks).toHaveLength(8);
      expect(inTwo).toEqual(concatMessages(chunks));
    }));
});
