import { describe, it } from 'vitest';
import { offloading } from '../../../../src/agents/middleware/files/offload.js';
import type { ToolRequest } from '../../../../src/compose/tools/run-tool-call.js';
import type { ToolReply } from '../../../../src/compose/tools/step-tool.js';
import { EngineError } from '../../../../src/errors.js';
import { marbles } from '../../../support/scheduler.js';

const failure = new EngineError('TOOL_FAILED', 'no');
const values: Record<string, ToolReply> = {
  a: { text: 'ab' },
  b: { text: 'cd' },
  w: { text: 'abcd' },
  c: { text: 'abc\n[The result has 4 characters; the rest is left out. Ask for less at a time.]' },
};
const cut = (at: number) => offloading({ space: undefined, request: {} as ToolRequest, at, language: 'en' });

describe('offloading', () => {
  it('gives a short result whole, when all of it is there', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const replies = cold('                    --a--b--|', values);
      expectObservable(replies.pipe(cut(4))).toBe('--------(w|)', values);
      expectSubscriptions(replies.subscriptions).toBe('^-------!');
    }));

  it('cuts a long one where there is no space, also of a synchronous tool', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('--a--b--|', values).pipe(cut(3))).toBe('--------(c|)', values);
      expectObservable(cold('(ab|)', values).pipe(cut(3))).toBe('(c|)', values);
    }));

  it('fails with its tool', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const replies = cold('                    --a--#', values, failure);
      expectObservable(replies.pipe(cut(4))).toBe('-----#', values, failure);
      expectSubscriptions(replies.subscriptions).toBe('^----!');
    }));

  it('leaves its tool in the frame in which it is left', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const replies = cold('                            --a--b--|', values);
      expectObservable(replies.pipe(cut(4)), '---!').toBe('----', values);
      expectSubscriptions(replies.subscriptions).toBe('  ^--!');
    }));
});
