import { map, of, range, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { mergeNamed } from '../../src/operators/merge-named.js';
import { marbles } from '../support/scheduler.js';

/** `a:1` for a chunk, `a|` for an end. */
const told = map((said: { type: string; name: string; chunk?: unknown }) =>
  said.type === 'chunk' ? `${said.name}:${String(said.chunk)}` : `${said.name}|`,
);

describe('mergeNamed', () => {
  it('gives chunks in order of arrival with the name of their source, and says when one ends', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('           -1---3-|');
      const b = cold('           ---2---------4|');
      expectObservable(mergeNamed({ a, b }).pipe(told)).toBe('-u-v-w-x-----y(z|)', {
        u: 'a:1',
        v: 'b:2',
        w: 'a:3',
        x: 'a|',
        y: 'b:4',
        z: 'b|',
      });
      expectSubscriptions(a.subscriptions).toBe('^------!');
      expectSubscriptions(b.subscriptions).toBe('^-------------!');
    }));

  it('says of an empty source that it has ended', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(mergeNamed({ a: cold('--|'), b: cold('|') }).pipe(told)).toBe('x-(y|)', { x: 'b|', y: 'a|' });
    }));

  it('is empty without sources', () =>
    marbles(({ expectObservable }) => {
      expectObservable(mergeNamed({})).toBe('|');
    }));

  it('fails with one source, says which it was, and stops the others', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('-1-#', undefined, new TypeError('gone'));
      const b = cold('--2---|');
      const failed = new EngineError('STREAM_FAILED', 'mergeNamed: the source "a" failed: gone');
      expectObservable(mergeNamed({ a, b }).pipe(told)).toBe('-xy#', { x: 'a:1', y: 'b:2' }, failed);
      expectSubscriptions(b.subscriptions).toBe('^--!');
    }));

  it('keeps the code of an error that has one', () =>
    marbles(({ cold, expectObservable }) => {
      const a = cold('#', undefined, new EngineError('MODEL_UNAVAILABLE', 'asleep', { retryable: true }));
      const failed = new EngineError('MODEL_UNAVAILABLE', 'mergeNamed: the source "a" failed: asleep');
      expectObservable(mergeNamed({ a, b: cold('---|') })).toBe('#', undefined, failed);
    }));

  it('stops all sources when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('1-----|');
      const b = cold('-2----|');
      expectObservable(mergeNamed({ a, b }).pipe(told), '^--!').toBe('xy', { x: 'a:1', y: 'b:2' });
      expectSubscriptions(a.subscriptions).toBe('^--!');
      expectSubscriptions(b.subscriptions).toBe('^--!');
    }));

  it('takes sources that emit at once, and stops them there', () => {
    const heard: string[] = [];
    mergeNamed({ a: of(1, 2), b: of(3) })
      .pipe(told)
      .subscribe((said) => heard.push(said));
    mergeNamed({ a: range(0, Number.POSITIVE_INFINITY), b: of(1) })
      .pipe(told, take(2))
      .subscribe((said) => heard.push(said));
    expect(heard).toEqual(['a:1', 'a:2', 'a|', 'b:3', 'b|', 'a:0', 'a:1']);
  });
});
