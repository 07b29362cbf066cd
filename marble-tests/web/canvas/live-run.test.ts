import { map } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { expect, it } from 'vitest';
import type { NodePicture, RunPicture } from '../../../src/canvas/picture/picture.js';
import { LiveRun } from '../../../web/canvas/live/live-run.js';

const node = (id: string): NodePicture => ({ id }) as NodePicture;

const picture = (nodes: readonly NodePicture[], lastAtMs = 0): RunPicture =>
  ({
    lastSeq: 1,
    lastAtMs,
    nodes: new Map(nodes.map((one) => [one.id, one])),
    edges: new Map(),
  }) as unknown as RunPicture;

const scheduler = () => new TestScheduler((actual, expected) => expect(actual).toEqual(expected));

it('shows the first change at once, and of those within 100 ms the last', () => {
  const a = node('A');
  const b = { ...a };
  const c = { ...a };
  scheduler().run(({ cold, expectObservable }) => {
    const live = new LiveRun(() => 0);
    cold('abc 200ms a', { a: picture([a]), b: picture([b]), c: picture([c]) }).subscribe((one) => live.show(one, true));
    expectObservable(live.node('A'), '150ms !').toBe('a 99ms c', { a, c });
  });
});

it('tells a node only of what changed in it', () => {
  const a = node('A');
  scheduler().run(({ cold, expectObservable }) => {
    const live = new LiveRun(() => 0);
    const pictures = { a: picture([a]), b: picture([a, node('B')]) };
    cold('a 299ms b', pictures).subscribe((one) => live.show(one, true));
    expectObservable(live.node('A'), '600ms !').toBe('a', { a });
  });
});

it('goes on with the time while a run is followed, and stands still in the past', () => {
  const test = scheduler();
  test.run(({ cold, expectObservable }) => {
    const live = new LiveRun(() => test.now());
    cold('a 349ms b').subscribe((one) => live.show(picture([], 5_000), one === 'a'));
    const time$ = live.time$.pipe(map((ms) => ms - 5_000));
    expectObservable(time$, '700ms !').toBe('a 99ms b 99ms c 99ms d 49ms a', { a: 0, b: 100, c: 200, d: 300 });
  });
});
