import { from } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Interrupt } from '../../../src/compose/interrupt.js';
import type { ToolReply } from '../../../src/compose/tools/step-tool.js';
import { wholeReply } from '../../../src/compose/tools/tool-output.js';
import { marbles } from '../../support/scheduler.js';

const IMAGE = { type: 'image', url: 'https://x.test/1.png' } as const;

const REPLIES: Readonly<Record<string, ToolReply>> = {
  a: { text: 'a', extra: { from: 1 } },
  b: { text: 'b' },
  p: { text: '', parts: [IMAGE], extra: { to: 2 } },
  f: { text: '!', isError: true },
  i: new Interrupt('sure?'),
};

describe('wholeReply', () => {
  it('joins texts, parts, facts and the mark of an error', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-a-p-f|', REPLIES);
      expectObservable(source.pipe(wholeReply())).toBe('------(w|)', {
        w: {
          text: 'a!',
          parts: [{ type: 'text', text: 'a' }, IMAGE, { type: 'text', text: '!' }],
          extra: { from: 1, to: 2 },
          isError: true,
        },
      });
      expectSubscriptions(source.subscriptions).toBe('^-----!');
    }));

  it('ends with a question at once', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-i---', REPLIES);
      expectObservable(source.pipe(wholeReply())).toBe('-(i|)', REPLIES);
      expectSubscriptions(source.subscriptions).toBe('^!');
    }));

  it('gives a reply without text for a source without pieces', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold<ToolReply>('--|').pipe(wholeReply())).toBe('--(w|)', { w: { text: '' } });
    }));

  it('fails with its source', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('a-#', REPLIES).pipe(wholeReply())).toBe('--#');
    }));

  it('stops its source when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('a----b', REPLIES);
      expectObservable(source.pipe(wholeReply()), '^--!').toBe('---');
      expectSubscriptions(source.subscriptions).toBe('^--!');
    }));

  it('takes what comes at once', () => {
    const heard: ToolReply[] = [];
    from<readonly ToolReply[]>([{ text: 'a' }, { text: 'b' }])
      .pipe(wholeReply())
      .subscribe((reply) => heard.push(reply));
    expect(heard).toEqual([{ text: 'ab' }]);
  });
});
