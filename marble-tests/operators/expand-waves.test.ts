import { map, type Observable, Subject, type Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { expandWaves, type Inner, type Waves, type WaveWorker } from '../../src/operators/expand-waves.js';
import { marbles } from '../support/scheduler.js';

/** Work by its name: what it gives, at once or later. A capital is the last value of work; `next` says what it leads to. */
interface World {
  readonly work: Readonly<Record<string, string | Observable<string>>>;
  readonly next?: Readonly<Record<string, string>>;
  /** Work that takes no slot. */
  readonly free?: string;
  /** Work that is performed right before other work. */
  readonly before?: Readonly<Record<string, string>>;
}

/** A worker that takes note of what it is asked to do. */
class Worker implements WaveWorker<string, string> {
  readonly noted: string[] = [];
  /** What was noted last before each pause. */
  readonly pauses: (string | undefined)[] = [];
  readonly begun = new Map<string, Subscription>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  announce(work: string): void {
    this.noted.push(`announce ${work}`);
  }
  perform(work: string, waves: Waves<string>): string | Observable<string> | undefined {
    const { before = {} } = this.#world;
    if (before[work] !== undefined) waves.performNow([...before[work]]);
    this.noted.push(`perform ${work}`);
    return this.#world.work[work];
  }
  begin(work: string, inner: Subscription): boolean {
    this.begun.set(work, inner);
    return this.#world.free?.includes(work) !== true;
  }
  continues(_work: string, _inner: Inner<string, string>): void {}
  stopped(work: string): void {
    this.noted.push(`stop ${work}`);
  }
  isLast(value: string): boolean {
    return value === value.toUpperCase();
  }
  receive(work: string, value: string): void {
    this.noted.push(`${work} gives ${value}`);
    if (value === 'x') throw new Error('no x');
  }
  apply(work: string, value: string, next: string[]): void {
    this.noted.push(`${work} ends with ${value}`);
    next.push(...(this.#world.next?.[value] ?? ''));
  }
  failure(error: unknown): string {
    return (error as Error).message.toUpperCase();
  }
  unfinished(): string {
    return 'U';
  }
  waveEnded(): void {
    this.noted.push('|');
  }
  paused(): void {
    this.pauses.push(this.noted.at(-1));
  }
}

const waves = (source$: Observable<string>): Observable<string[]> => source$.pipe(map((wave) => [...wave]));
const WAVES = { p: 'ab', q: 'c', r: 'abc' };

describe('expandWaves', () => {
  it('announces a wave before it performs it, and performs what its values lead to as the next wave', () =>
    marbles(({ cold, expectSubscriptions, flush }) => {
      const source$ = cold('p--------|', WAVES);
      const sourceSubs = '  ^--------!';
      const later$ = cold(' --B');
      const laterSubs = '   ^-!';
      const worker = new Worker({ work: { a: 'A', b: later$, c: 'C', d: 'D' }, next: { A: 'c', B: 'd' } });
      const result$ = waves(source$).pipe(expandWaves(worker, { concurrency: 5 }));
      const seen: string[] = [];
      result$.subscribe((value) => seen.push(value));
      flush();
      expect(seen).toEqual(['A', 'C', 'B', 'D']);
      expect(worker.noted.join(', ')).toBe(
        'announce a, announce b, perform a, a ends with A, perform b, |, announce c, perform c, c ends with C, |, ' +
          'b ends with B, |, announce d, perform d, d ends with D, |',
      );
      expect(worker.noted.filter((note) => note === '|')).toHaveLength(4);
      // Once for all waves that follow each other, and when the source has ended.
      expect(worker.pauses).toEqual(['|', '|', '|']);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(later$.subscriptions).toBe(laterSubs);
    }));

  it('emits last values once they are applied, and completes with the source when no work is left', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('p---q|     ', WAVES);
      const sourceSubs = '  ^----!     ';
      const a$ = cold('     --v-A      ');
      const aSubs = '       ^---!      ';
      const b$ = cold('     -B         ');
      const bSubs = '       ^!         ';
      const c$ = cold('         ---C   ');
      const cSubs = '       ----^--!   ';
      const expected = '    -B--A--(C|)';
      const worker = new Worker({ work: { a: a$, b: b$, c: c$ } });

      expectObservable(waves(source$).pipe(expandWaves(worker, { concurrency: 5 }))).toBe(expected);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(a$.subscriptions).toBe(aSubs);
      expectSubscriptions(b$.subscriptions).toBe(bSubs);
      expectSubscriptions(c$.subscriptions).toBe(cSubs);
    }));

  it('lets work wait for a slot, but not work that takes none', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('r|       ', WAVES);
      const a$ = cold('     ---A     ');
      const aSubs = '       ^--!     ';
      const b$ = cold('        --B   ');
      const bSubs = '       ---^-!   ';
      const c$ = cold('          -C  ');
      const cSubs = '       -----^!  ';
      const expected = '    ---A-B(C|)';
      const worker = new Worker({ work: { a: a$, b: b$, c: c$ } });

      expectObservable(waves(source$).pipe(expandWaves(worker, { concurrency: 1 }))).toBe(expected);
      expectSubscriptions(a$.subscriptions).toBe(aSubs);
      expectSubscriptions(b$.subscriptions).toBe(bSubs);
      expectSubscriptions(c$.subscriptions).toBe(cSubs);

      const free$ = cold('  ----F');
      const beside = new Worker({ work: { a: free$, b: 'B' }, free: 'a' });
      expectObservable(waves(cold('p', WAVES)).pipe(expandWaves(beside, { concurrency: 1 }))).toBe('B---F');
    }));

  it('begins no wave while `ready` has not settled; work under way continues', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('p---q|    ', { ...WAVES, q: 'd' });
      const sourceSubs = '  ^----!    ';
      const a$ = cold('     --A       ');
      const aSubs = '       ^-!       ';
      const room$ = cold('  ------(r|)');
      const roomSubs = '    --^-----! ';
      const expected = '    B-A-----(CD|)';
      let asked = 0;
      // The first wave finds room; the second, which the end of a leads to, waits for it together with what comes meanwhile.
      const ready = () => {
        asked += 1;
        if (asked !== 2) return undefined;
        // A promise would settle in a later turn, which virtual time does not wait for.
        const settles = (settled: () => void) => room$.subscribe({ complete: settled });
        return Object.fromEntries([['then', settles]]) as unknown as PromiseLike<void>;
      };
      const worker = new Worker({ work: { a: a$, b: 'B', c: 'C', d: 'D' }, next: { A: 'c' } });

      expectObservable(waves(source$).pipe(expandWaves(worker, { concurrency: 5, ready }))).toBe(expected);
      expectSubscriptions(a$.subscriptions).toBe(aSubs);
      expectSubscriptions(room$.subscriptions).toBe(roomSubs);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('fails with its source, and stops the work under way', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const source$ = cold('p---#', WAVES, new Error('source'));
      const sourceSubs = '  ^---!';
      const a$ = cold('     ------A');
      const aSubs = '       ^---!';
      const expected = '    B---#';
      const worker = new Worker({ work: { a: a$, b: 'B' } });

      expectObservable(waves(source$).pipe(expandWaves(worker, { concurrency: 5 }))).toBe(
        expected,
        undefined,
        new Error('source'),
      );
      flush();
      expect(worker.noted.at(-1)).toBe('stop a');
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
      expectSubscriptions(a$.subscriptions).toBe(aSubs);
    }));

  it('takes a failure of work, and its end without a last value, as a last value', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const source$ = cold('r-----|', WAVES);
      const a$ = cold('     -#     ', undefined, new Error('n'));
      const b$ = cold('     --|    ');
      const c$ = cold('     ---x--C');
      const expected = '    -NUX--|';
      const worker = new Worker({ work: { a: a$, b: b$, c: c$.pipe(map((value) => value)) } });

      const result$ = waves(source$).pipe(expandWaves(worker, { concurrency: 5 }));
      expectObservable(result$.pipe(map((value) => value[value.length - 1] as string))).toBe(expected);
      flush();
      expect(worker.noted).toContain('stop c');
      expect(worker.noted).not.toContain('stop a');
    }));

  it('stops everything when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const source$ = cold('p-------', WAVES);
      const a$ = cold('     -----A  ');
      const aSubs = '       ^--!    ';
      const worker = new Worker({ work: { a: a$, b: a$ } });

      expectObservable(waves(source$).pipe(expandWaves(worker, { concurrency: 5 })), '^--!').toBe('----');
      flush();
      expect(worker.noted.slice(-2)).toEqual(['stop a', 'stop b']);
      expectSubscriptions(a$.subscriptions).toBe([aSubs, aSubs]);
    }));

  it('takes work that is stopped from outside as if it had never been, and gives its slot on', () =>
    marbles(({ cold, flush }) => {
      const worker = new Worker({ work: { a: cold('-----A'), b: 'B', c: 'C' } });
      const more$ = new Subject<string[]>();
      const seen: string[] = [];
      more$.pipe(expandWaves(worker, { concurrency: 1 })).subscribe((value) => seen.push(value));
      more$.next(['a', 'b']);
      expect(seen).toEqual([]);
      worker.begun.get('a')?.unsubscribe();
      more$.next(['c']);
      expect(seen).toEqual(['C', 'B']);
      flush();
      expect(seen).toEqual(['C', 'B']);
    }));

  it('performs work before other work when it is asked to, within the wave', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const worker = new Worker({ work: { a: 'A', b: 'B', c: 'C' }, before: { b: 'c' } });
      expectObservable(waves(cold('p', WAVES)).pipe(expandWaves(worker, { concurrency: 5 }))).toBe('(ACB)');
      flush();
      expect(worker.noted.join(', ')).toBe(
        'announce a, announce b, perform a, a ends with A, announce c, perform c, c ends with C, perform b, b ends with B, |',
      );
    }));

  it('refuses a concurrency below 1', () => {
    expect(() => expandWaves(new Worker({ work: {} }), { concurrency: 0 })).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID' }),
    );
  });
});
