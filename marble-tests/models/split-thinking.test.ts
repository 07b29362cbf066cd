import { from, of, repeat, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ChatDelta } from '../../src/models/chat-model.js';
import { splitThinking } from '../../src/models/split-thinking.js';
import { marbles } from '../support/scheduler.js';

const text = (value: string): ChatDelta => ({ type: 'text', text: value });
const thinking = (value: string): ChatDelta => ({ type: 'thinking', text: value });
const finish: ChatDelta = { type: 'finish', reason: 'stop' };

/** Neighbouring deltas of one type joined, so that where a text was cut does not matter. */
function joined(pieces: readonly string[]): ChatDelta[] {
  const deltas: ChatDelta[] = [];
  from(pieces.map(text))
    .pipe(splitThinking())
    .subscribe((delta) => {
      const last = deltas.at(-1);
      if (last?.type === delta.type && 'text' in last && 'text' in delta) {
        deltas[deltas.length - 1] = { type: last.type, text: last.text + delta.text } as ChatDelta;
      } else {
        deltas.push(delta);
      }
    });
  return deltas;
}

describe('splitThinking', () => {
  it('turns what stands between the marks into thinking', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const values = { a: text('Hi <th'), b: text('ink>so'), c: text('</think>4'), d: text('2') };
      const source = cold('--a--b--c--d--|', values);
      const sub = '        ^-------------!';
      const expected = '   --w--x--y--z--|';
      const results = { w: text('Hi '), x: thinking('so'), y: text('4'), z: text('2') };
      expectObservable(source.pipe(splitThinking())).toBe(expected, results);
      expectSubscriptions(source.subscriptions).toBe(sub);
    }));

  it('passes log probabilities without taking them for the end of a text', () =>
    marbles(({ cold, expectObservable }) => {
      const likely: ChatDelta = { type: 'log-probabilities', tokens: [{ token: '<th', logProbability: -1 }] };
      const source = cold('       a-l-b-|', { a: text('<th'), l: likely, b: text('ink>so') });
      const expected = '          --l-x-|';
      expectObservable(source.pipe(splitThinking())).toBe(expected, { l: likely, x: thinking('so') });
    }));

  it('lets a held text go before another delta', () =>
    marbles(({ cold, expectObservable }) => {
      const source = cold('--a--f---|', { a: text('1 <'), f: finish });
      const expected = '   --w--(xf)|';
      expectObservable(source.pipe(splitThinking())).toBe(expected, { w: text('1 '), x: text('<'), f: finish });
    }));

  it('lets a held text go at the end', () =>
    marbles(({ cold, expectObservable }) => {
      const source = cold('--a---|   ', { a: text('2 <think') });
      const expected = '   --w---(x|)';
      expectObservable(source.pipe(splitThinking())).toBe(expected, { w: text('2 '), x: text('<think') });
    }));

  it('passes an error at once', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('--a--#', { a: text('a<') });
      const sub = '        ^----!';
      const expected = '   --w--#';
      expectObservable(source.pipe(splitThinking())).toBe(expected, { w: text('a') });
      expectSubscriptions(source.subscriptions).toBe(sub);
    }));

  it('lets go of its source when unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('--a--a--a--|', { a: text('a') });
      const unsub = '      ------!     ';
      const sub = '        ^-----!     ';
      const expected = '   --w--w-     ';
      expectObservable(source.pipe(splitThinking()), unsub).toBe(expected, { w: text('a') });
      expectSubscriptions(source.subscriptions).toBe(sub);
    }));

  it('stops an endless synchronous source, in the middle of one text', () => {
    const heard: ChatDelta[] = [];
    of(text('a<think>b</think>c'))
      .pipe(repeat(), splitThinking(), take(4))
      .subscribe((delta) => heard.push(delta));
    expect(heard).toEqual([text('a'), thinking('b'), text('c'), text('a')]);
  });

  it('starts anew with every subscription', () => {
    const split$ = of(text('<think>a')).pipe(splitThinking());
    const heard: ChatDelta[] = [];
    split$.subscribe((delta) => heard.push(delta));
    split$.subscribe((delta) => heard.push(delta));
    expect(heard).toEqual([thinking('a'), thinking('a')]);
  });

  it.each<[string, readonly ChatDelta[]]>([
    ['plain', [text('plain')]],
    ['<think>a</think>b', [thinking('a'), text('b')]],
    ['<think></think>b', [text('b')]],
    ['<think>\n\na\n</think>\n\nb', [thinking('\n\na\n'), text('\n\nb')]],
    ['x<think>a</think>y<think>b</think>z', [text('x'), thinking('a'), text('y'), thinking('b'), text('z')]],
    ['<think>never closed', [thinking('never closed')]],
    ['a</think>b', [text('a</think>b')]],
    ['<<think>a<</think>>', [text('<'), thinking('a<'), text('>')]],
    ['<thin <thinking> < think>', [text('<thin <thinking> < think>')]],
    ['<think>a<think>b</think>c', [thinking('a<think>b'), text('c')]],
    ['<think>日</think>🙂', [thinking('日'), text('🙂')]],
    ['<think', [text('<think')]],
    ['<think>a</think', [thinking('a</think')]],
  ])('splits %j the same wherever it is cut', (whole, expected) => {
    expect(joined([whole])).toEqual(expected);
    expect(joined([...whole])).toEqual(expected);
    for (let first = 0; first <= whole.length; first += 1) {
      for (let second = first; second <= whole.length; second += 1) {
        const pieces = [whole.slice(0, first), whole.slice(first, second), whole.slice(second)];
        expect(joined(pieces), JSON.stringify(pieces)).toEqual(expected);
      }
    }
  });
});
