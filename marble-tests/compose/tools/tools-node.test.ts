import { EMPTY, type Observable, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Interrupt } from '../../../src/compose/interrupt.js';
import { defineTool } from '../../../src/compose/tools/define-tool.js';
import { type ToolsNodeOptions, toolsNode } from '../../../src/compose/tools/tools-node.js';
import { EngineError } from '../../../src/errors.js';
import { concatMessageLists } from '../../../src/models/concat-messages.js';
import { assistantMessage, type ToolMessage } from '../../../src/models/messages.js';
import { marbles } from '../../support/scheduler.js';
import { chunksOf, stepActivation } from '../../support/step-activation.js';

/** A tool whose calls, by the argument `of`, are these streams. */
function streaming(calls: Readonly<Record<string, Observable<string>>>) {
  return defineTool({
    name: 'stream',
    description: 'Streams.',
    input: { properties: { of: { type: 'string' } } },
    run: ({ of: name }) => calls[String(name)] ?? EMPTY,
  });
}

const asks = defineTool({
  name: 'ask',
  description: 'Asks.',
  run: (_, call) => call.answer ?? call.interrupt('sure?'),
});

/** Calls of tools: `a` and `b` of the streams, `?` of the tool that asks. */
function callsOf(letters: string) {
  return assistantMessage('', {
    toolCalls: [...letters].map((letter) => ({
      id: letter,
      name: letter === '?' ? 'ask' : 'stream',
      arguments: letter === '?' ? '' : JSON.stringify({ of: letter }),
    })),
  });
}

function round(letters: string, calls: Readonly<Record<string, Observable<string>>>, options: ToolsNodeOptions = {}) {
  const node = toolsNode({ tools: [streaming(calls), asks], ...options });
  return chunksOf<ToolMessage[]>(node, callsOf(letters), stepActivation());
}

/** The list of messages of a chunk: texts by position. */
function list(letters: string, ...texts: readonly string[]): ToolMessage[] {
  return texts.map((content, at) => {
    const id = letters[at] as string;
    return { role: 'tool', content, toolCallId: id, name: id === '?' ? 'ask' : 'stream' };
  });
}

describe('toolsNode as a stream', () => {
  it('gives pieces at the places of their calls, from the moment on at which no call can ask any more', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('--x--y--z|');
      const b = cold('------(u|)');
      const expected = '------1-2|';
      expectObservable(round('ab', { a, b })).toBe(expected, {
        1: list('ab', 'xy', 'u'),
        2: list('ab', 'z', ''),
      });
      expectSubscriptions(a.subscriptions).toBe('^--------!');
      expectSubscriptions(b.subscriptions).toBe('^-----!');
    }));

  it('gives one list when every call gives one piece', () =>
    marbles(({ expectObservable }) => {
      expectObservable(round('ab', { a: of('1'), b: of('2') })).toBe('(1|)', { 1: list('ab', '1', '2') });
    }));

  it('counts a call that ends without a piece as one without text', () =>
    marbles(({ cold, expectObservable }) => {
      const a = cold('--|');
      const b = cold('x---y|');
      expectObservable(round('ab', { a, b })).toBe('--1-2|', { 1: list('ab', '', 'x'), 2: list('ab', '', 'y') });
    }));

  it('makes calls one after the other, each after the end of the one before', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('--x--y|');
      const b = cold('      -u-v|');
      const expected = '-------1-2|';
      expectObservable(round('ab', { a, b }, { concurrency: 1 })).toBe(expected, {
        1: list('ab', 'xy', 'u'),
        2: list('ab', '', 'v'),
      });
      expectSubscriptions(a.subscriptions).toBe('^-----!');
      expectSubscriptions(b.subscriptions).toBe('------^---!');
    }));

  it('fails with the first call that fails, and stops the others at once', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('x-----y|');
      const b = cold('--#', {}, new Error('no'));
      expectObservable(round('ab', { a, b })).toBe(
        '--#',
        {},
        new EngineError('TOOL_FAILED', 'Tool "stream" (call b) failed: no'),
      );
      expectSubscriptions(a.subscriptions).toBe('^-!');
    }));

  it('puts the text of an error behind the pieces that came, when errors are text', () =>
    marbles(({ cold, expectObservable }) => {
      const a = cold('x--y|');
      const b = cold('u-#', { u: 'u' }, new Error('no'));
      const failed = list('ab', '', 'no').map((message) =>
        message.content === 'no' ? { ...message, isError: true } : message,
      );
      expectObservable(round('ab', { a, b }, { errorsAsText: true })).toBe('1-23|', {
        1: list('ab', 'x', 'u'),
        2: failed,
        3: list('ab', 'y', ''),
      });
    }));

  it('stops all calls when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('x-----');
      const b = cold('-u----');
      expectObservable(round('ab', { a, b }), '^--!').toBe('-1', { 1: list('ab', 'x', 'u') });
      expectSubscriptions(a.subscriptions).toBe('^--!');
      expectSubscriptions(b.subscriptions).toBe('^--!');
    }));

  it('lets the others work to their ends when a call asks, and gives nothing but the questions', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const a = cold('--x--y|');
      const given: unknown[] = [];
      expectObservable(round('a?', { a })).toBe('------(i|)', { i: expect.any(Interrupt) });
      round('a?', { a }).subscribe((chunk) => given.push(chunk));
      flush();
      const [asked] = given as [Interrupt];
      expect(asked.parts).toEqual([{ id: '?', interrupt: new Interrupt('sure?') }]);
      expect(asked.options.memo).toMatchObject({ calls: [{ id: 'a', result: { text: 'xy' } }, { id: '?' }] });
      expectSubscriptions(a.subscriptions).toBe(['^-----!', '^-----!']);
    }));

  it('begins no call behind one that asks when calls are made one after the other', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('--x|');
      expectObservable(round('?a', { a }, { concurrency: 1 })).toBe('(i|)', { i: expect.any(Interrupt) });
      expectSubscriptions(a.subscriptions).toBe([]);
    }));

  it('ends a call that is not done within its time', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const slow = cold('x----------');
      const tool = defineTool({ name: 'slow', description: 'Is slow.', timeoutMs: 5, run: () => slow });
      const node = toolsNode({ tools: [tool] });
      const message = assistantMessage('', { toolCalls: [{ id: '1', name: 'slow', arguments: '' }] });
      expectObservable(chunksOf(node, message, stepActivation())).toBe(
        '1----#',
        { 1: [{ role: 'tool', content: 'x', toolCallId: '1', name: 'slow' }] },
        new EngineError('TOOL_FAILED', 'Tool "slow" (call 1) failed: slow gave no result within 5 ms.'),
      );
      expectSubscriptions(slow.subscriptions).toBe('^----!');
    }));

  it('gives lists whose concatenation is what the calls gave', () =>
    marbles(({ cold, flush }) => {
      const a = cold('--x--y--z|');
      const b = cold('u-----v|');
      const lists: ToolMessage[][] = [];
      round('ab', { a, b }).subscribe((chunk) => lists.push(chunk as ToolMessage[]));
      flush();
      expect(lists.length).toBeGreaterThan(1);
      expect(concatMessageLists(lists)).toEqual(list('ab', 'xyz', 'uv'));
    }));
});
