import type { Observable, OperatorFunction } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type AnyStep, DEFINITION } from '../../src/compose/step.js';
import { as, passthrough, pick } from '../../src/compose/steps.js';
import { marbles } from '../support/scheduler.js';

const through = (step: AnyStep, chunks: Observable<unknown>): Observable<unknown> => {
  const definition = step[DEFINITION];
  if (definition.type !== 'operator') throw new Error(`${step.name} is no operator`);
  return (definition.operator as OperatorFunction<unknown, unknown>)(chunks);
};
const picked = { a: { a: 1 }, b: { b: 2 }, c: { a: 3, b: 4 }, '1': 1, '3': 3, n: null, t: 'text' };

describe('pick', () => {
  it('gives the chunks of one key as they come, and nothing for chunks without it', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const chunks = cold('                          a-b-c-n-t-|', picked);
      expectObservable(through(pick<{ a: number }, 'a'>('a'), chunks)).toBe('1---3-----|', picked);
      expectSubscriptions(chunks.subscriptions).toBe('^---------!');
    }));

  it('reads own properties only', () =>
    marbles(({ cold, expectObservable }) => {
      const step: AnyStep = pick<Record<string, unknown>, 'constructor'>('constructor');
      expectObservable(through(step, cold('a-|', picked))).toBe('--|');
    }));

  it('fails with its producer', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(through(pick<{ a: number }, 'a'>('a'), cold('a-#', picked))).toBe('1-#', picked);
    }));

  it('lets go of its producer when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const chunks = cold('                          a-b-c---|', picked);
      expectObservable(through(pick<{ a: number }, 'a'>('a'), chunks), '^----!').toBe('1---3', picked);
      expectSubscriptions(chunks.subscriptions).toBe('^----!');
    }));

  it('takes chunks that are all there at once', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(through(pick<{ a: number }, 'a'>('a'), cold('(abc|)', picked))).toBe('(13|)', picked);
    }));
});

describe('as', () => {
  it('makes every chunk an object of one key', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const chunks = cold('                               1---3-|', picked);
      expectObservable(through(as<'a', number>('a'), chunks)).toBe('a---x-|', { a: { a: 1 }, x: { a: 3 } });
      expectSubscriptions(chunks.subscriptions).toBe('^-----!');
    }));

  it('makes an own property of any key', () =>
    marbles(({ cold, expectObservable }) => {
      const step: AnyStep = as<'__proto__', unknown>('__proto__');
      const made = Object.fromEntries([['__proto__', 1]]);
      expectObservable(through(step, cold('1|', picked))).toBe('a|', { a: made });
    }));

  it('fails with its producer, and lets go of it when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      expectObservable(through(as<'a', number>('a'), cold('-#'))).toBe('-#');
      const chunks = cold('1--3--|', picked);
      expectObservable(through(as<'a', number>('a'), chunks), '^-!').toBe('a', picked);
      expectSubscriptions(chunks.subscriptions).toBe('^-!');
    }));
});

describe('passthrough', () => {
  it('is its producer itself', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const chunks = cold('                             a-b#');
      expect(through(passthrough<string>(), chunks)).toBe(chunks);
      expectObservable(through(passthrough<string>(), chunks)).toBe('a-b#');
      expectSubscriptions(chunks.subscriptions).toBe('^--!');
    }));
});
