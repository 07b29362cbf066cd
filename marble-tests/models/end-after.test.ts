import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { endAfter } from '../../src/models/end-after.js';
import { marbles } from '../support/scheduler.js';

const late = new EngineError('MODEL_UNAVAILABLE', 'Model "m" was still answering after 5 ms; the call was ended.');

describe('endAfter', () => {
  it('ends a lively source in time', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('--a-b-c-d-');
      const sub = '        ^----!    ';
      const expected = '   --a-b#    ';
      expectObservable(source.pipe(endAfter(5, 'm'))).toBe(expected, undefined, late);
      expectSubscriptions(source.subscriptions).toBe(sub);
    }));

  it('lets a source that is quick enough complete', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('--a-|');
      const sub = '        ^---!';
      expectObservable(source.pipe(endAfter(5, 'm'))).toBe('--a-|');
      expectSubscriptions(source.subscriptions).toBe(sub);
    }));

  it('passes an error', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('--#').pipe(endAfter(5, 'm'))).toBe('--#');
    }));

  it('lets go when unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('--a-----');
      const unsub = '      ---!    ';
      const sub = '        ^--!    ';
      expectObservable(source.pipe(endAfter(5, 'm')), unsub).toBe('--a');
      expectSubscriptions(source.subscriptions).toBe(sub);
    }));

  it('passes a synchronous source', () => {
    const heard: number[] = [];
    of(1, 2)
      .pipe(endAfter(5, 'm'))
      .subscribe((value) => heard.push(value));
    expect(heard).toEqual([1, 2]);
  });
});
