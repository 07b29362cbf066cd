import { NEVER, type Observable, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { ChunkStream, type ChunkStreamOptions } from '../../src/operators/chunk-stream.js';
import { marbles } from '../support/scheduler.js';

const join = (texts: readonly string[]): string => texts.join('');

function stream(options: Partial<ChunkStreamOptions<string>> = {}): ChunkStream<string> {
  return new ChunkStream({ name: 'the test stream', ...options });
}

/** Writes what a source emits. */
const feeding = (into: ChunkStream<string>, source: Observable<string>): Observable<string> =>
  source.pipe(
    tap({
      next: (chunk) => into.write(chunk),
      error: (error: unknown) => into.fail(error),
      complete: () => into.end(),
    }),
  );

describe('ChunkStream, subscribed to', () => {
  it('gives every reader every chunk at the moment it is written, and the end', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const chunks = stream();
      const readers = [chunks.reader(), chunks.reader()];
      const source = cold('          -a--(bc)-d-|');
      for (const reader of readers) {
        expectObservable(reader.toObservable()).toBe('-a--(bc)-d-|');
      }
      expectObservable(feeding(chunks, source)).toBe('-a--(bc)-d-|');
      expectSubscriptions(source.subscriptions).toBe('^----------!');
    }));

  it('gives a reader that starts late what waited for it, and then follows', () =>
    marbles(({ cold, expectObservable }) => {
      const chunks = stream();
      const late = chunks.reader();
      expectObservable(late.toObservable(), '    ----^---').toBe('----(ab)-c-|');
      expectObservable(feeding(chunks, cold('    -a-b-----c-|'))).toBe('-a-b-----c-|');
    }));

  it('concatenates neighbours in a full buffer, and loses nothing', () =>
    marbles(({ cold, expectObservable }) => {
      const chunks = stream({ size: 2, concat: join });
      const late = chunks.reader();
      expectObservable(late.toObservable(), '       ------^--------').toBe('------(xy)-z|', {
        x: 'abc',
        y: 'de',
        z: 'f',
      });
      expectObservable(feeding(chunks, cold('       abcde------f|'))).toBe('abcde------f|');
    }));

  it('keeps the newest chunks only, when that is the rule', () =>
    marbles(({ cold, expectObservable }) => {
      const chunks = stream({ size: 2, whenFull: 'latest' });
      expectObservable(chunks.reader().toObservable(), '------^---').toBe('------(de|)');
      expectObservable(feeding(chunks, cold('           abcde|'))).toBe('abcde|');
    }));

  it('fails the write that finds a full buffer and no rule; the chunks before are still read', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const chunks = stream({ size: 2, whenFull: 'fail', concat: join });
      const quick = chunks.reader();
      const slow = chunks.reader();
      const tooSlow = new EngineError(
        'LIMIT_REACHED',
        'the test stream: a reader is too slow: 2 chunks wait for it, which is the most that may (whenFull: fail); ' +
          'read faster, use a producer that can be paused, give a rule that concatenates its chunks, or let more wait (size).',
      );
      const source = cold('                       abcde|');
      expectObservable(quick.toObservable()).toBe('abc');
      expectObservable(feeding(chunks, source)).toBe('ab#', undefined, tooSlow);
      expectObservable(slow.toObservable(), '     ---^').toBe('---(ab)');
      expectSubscriptions(source.subscriptions).toBe('^-!');
    }));

  it('gives an error behind the chunks before it', () =>
    marbles(({ cold, expectObservable }) => {
      const chunks = stream();
      const quick = chunks.reader();
      const late = chunks.reader();
      expectObservable(quick.toObservable()).toBe('     a-b#');
      expectObservable(late.toObservable(), '------^').toBe('------(ab#)');
      expectObservable(feeding(chunks, cold('     a-b#'))).toBe('a-b#');
    }));

  it('goes on for the others when a reader leaves, and says so when the last one has', () =>
    marbles(({ cold, expectObservable }) => {
      const left: string[] = [];
      const chunks = stream({ onUnread: () => left.push('unread') });
      const first = chunks.reader();
      const second = chunks.reader();
      expectObservable(first.toObservable(), ' ^--!--').toBe('a-b');
      expectObservable(second.toObservable(), '^-----!').toBe('a-b-cd');
      expectObservable(
        feeding(chunks, cold('                 a-b-cde---|')).pipe(tap((chunk) => left.push(chunk))),
      ).toBe('a-b-cde---|');
      expectObservable(
        cold('----------|').pipe(tap({ complete: () => expect(left).toEqual(['a', 'b', 'c', 'd', 'unread', 'e']) })),
      ).toBe('----------|');
    }));

  it('ends a subscription whose reader leaves by itself', () =>
    marbles(({ cold, expectObservable }) => {
      const chunks = stream();
      const reader = chunks.reader();
      expectObservable(reader.toObservable()).toBe('a--|');
      expectObservable(
        cold('                       a--x').pipe(tap((at) => (at === 'x' ? reader.leave() : chunks.write(at)))),
      ).toBe('a--x');
    }));

  it('gives readers that come late the kept chunks first, also more than fit into a buffer', () =>
    marbles(({ cold, expectObservable }) => {
      const chunks = stream({ size: 1, isKept: true });
      expectObservable(feeding(chunks, cold('abc--d|'))).toBe('abc--d|');
      let late: Observable<string> = NEVER;
      expectObservable(
        cold('---x').pipe(
          tap(() => {
            late = chunks.reader().toObservable();
          }),
        ),
      ).toBe('---x');
      const heard = cold('----x').pipe(
        tap(() => {
          const all: string[] = [];
          const reading = late.subscribe((chunk) => all.push(chunk));
          expect(all).toEqual(['a', 'b', 'c']);
          expect(reading.closed).toBe(false);
          chunks.write('e');
          expect(all).toEqual(['a', 'b', 'c', 'e']);
        }),
      );
      expectObservable(heard).toBe('----x');
    }));

  it('shows all readers the same order when one of them writes', () => {
    const chunks = stream();
    const heard: string[][] = [[], []];
    const [first, second] = [chunks.reader(), chunks.reader()];
    first.toObservable().subscribe((chunk) => {
      heard[0]?.push(chunk);
      if (chunk === 'a') chunks.write('b');
      if (chunk === 'b') chunks.end();
    });
    let isDone = false;
    second.toObservable().subscribe({ next: (chunk) => heard[1]?.push(chunk), complete: () => (isDone = true) });
    chunks.write('a');
    expect(heard).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(isDone).toBe(true);
  });

  it('takes chunks that are written while the waiting ones are handed over behind them', () => {
    const chunks = stream({ size: 2 });
    const reader = chunks.reader();
    chunks.write('a');
    chunks.write('b');
    const heard: string[] = [];
    reader.toObservable().subscribe((chunk) => {
      heard.push(chunk);
      if (chunk === 'a') for (const more of ['c', 'd', 'e']) chunks.write(more);
    });
    expect(heard).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('refuses a second consumer of one reader', () =>
    marbles(({ expectObservable }) => {
      const chunks = stream();
      const reader = chunks.reader();
      const taken = new EngineError(
        'STREAM_TAKEN',
        'the test stream: this reader has been read or has left; ask the stream for another reader.',
      );
      expectObservable(reader.toObservable()).toBe('');
      expectObservable(reader.toObservable()).toBe('#', undefined, taken);
    }));
});
