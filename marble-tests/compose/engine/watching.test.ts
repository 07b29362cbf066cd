import { map, type Observable, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { audienceOf, Watch } from '../../../src/compose/engine/watching.js';
import type { AnyCallbacks } from '../../../src/compose/observer.js';
import { marbles } from '../../support/scheduler.js';

const STEP = { name: 'words', kind: 'function', path: 'words', rule: undefined } as const;
const AT = {
  path: 'words',
  run: 'r1',
  key: 'r1/1',
  attempt: 1,
  isResumed: false,
  canTell: true,
  lateness: undefined,
  emit: () => {},
};

/** The watch of one observer, and its warnings. */
function watchOf(...callbacks: AnyCallbacks[]) {
  const warnings: string[] = [];
  const run = { chunks: undefined, warn: (_: unknown, __: unknown, message: string) => void warnings.push(message) };
  return { watch: new Watch(run, audienceOf(callbacks), STEP, AT), warnings };
}

/** Keeps the chunks that an observer is given. */
function keep(seen: { chunks?: Observable<unknown> }) {
  return (chunks: Observable<unknown>) => {
    seen.chunks = chunks;
  };
}

describe('the chunks of a step for its observers', () => {
  it('pass as they come, and each observer gets its own copy', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const source = cold('         -a-b--c|');
      const told: string[] = [];
      const copy = (name: string) => (chunks: Observable<unknown>) => {
        chunks.subscribe({ next: (chunk) => told.push(`${name}${chunk}`), complete: () => told.push(`${name}|`) });
      };
      const { watch } = watchOf({ endChunks: copy('1') }, { endChunks: copy('2') });
      expectObservable(watch.outputs(source)).toBe('-a-b--c|');
      expectSubscriptions(source.subscriptions).toBe('^------!');
      flush();
      expect(told).toEqual(['1a', '2a', '1b', '2b', '1c', '2c', '1|', '2|']);
    }));

  it('are given on unchanged where nobody asks for them', () =>
    marbles(({ cold }) => {
      const source = cold('ab|');
      const { watch } = watchOf({ error: () => {} });
      expect([watch.outputs(source), watch.inputs(source)]).toEqual([source, source]);
    }));

  it('fail with the step: the stream errors and error is told', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const told: unknown[] = [];
      const { watch, warnings } = watchOf({
        endChunks: (chunks) => chunks.subscribe(),
        error: (error) => told.push(error),
      });
      expectObservable(watch.outputs(cold('-a-#'))).toBe('-a-#');
      flush();
      expect([told, warnings]).toEqual([['error'], []]);
    }));

  it('fail in an observer: a warning, while the step and other observers go on', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const told: unknown[] = [];
      const fail = () => {
        throw new Error('mine');
      };
      const { watch, warnings } = watchOf(
        { endChunks: (chunks) => chunks.pipe(map(fail)).subscribe() },
        { endChunks: (chunks) => chunks.subscribe((chunk) => told.push(chunk)) },
      );
      expectObservable(watch.outputs(cold('-a-b-|'))).toBe('-a-b-|');
      flush();
      expect(told).toEqual(['a', 'b']);
      expect(warnings).toEqual(['An observer of "words" failed in "endChunks": mine. The run goes on without it.']);
    }));

  it('are not read on when the reader has left, and the copies end', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const source = cold('           -a-b--c|');
      const told: string[] = [];
      const { watch } = watchOf({
        startChunks: (chunks) => chunks.subscribe({ next: (c) => told.push(c), complete: () => told.push('|') }),
      });
      expectObservable(watch.inputs(source), '^---!').toBe('-a-b');
      expectSubscriptions(source.subscriptions).toBe('     ^---!');
      flush();
      expect(told).toEqual(['a', 'b', '|']);
    }));

  it('of a synchronous source are all told to who subscribes during the call, and none to who subscribes later', () =>
    marbles(({ expectObservable, flush }) => {
      const late: { chunks?: Observable<unknown> } = {};
      const early: unknown[] = [];
      const { watch } = watchOf(
        { endChunks: keep(late) },
        { endChunks: (chunks) => chunks.subscribe((chunk) => early.push(chunk)) },
      );
      expectObservable(watch.outputs(of('a', 'b'))).toBe('(ab|)');
      flush();
      expect(early).toEqual(['a', 'b']);
      const missed: unknown[] = [];
      late.chunks?.subscribe({ next: (chunk) => missed.push(chunk), complete: () => missed.push('|') });
      expect(missed).toEqual(['|']);
    }));
});
