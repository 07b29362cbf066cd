/** What can go wrong on a stream edge: writers that fail, ask or come late, readers that fail, ask or cannot start. */
import { concat, map, mergeMap, type Observable, of, throwError, timer, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EngineError } from '../../src/errors.js';
import type { RunEvent } from '../../src/graph/events.js';
import type { NodeFunction } from '../../src/graph/node.js';
import { delta, interrupt, type NodeEvent, settled } from '../../src/graph/node-events.js';
import type { Plan } from '../../src/graph/plan.js';
import type { Start } from '../../src/graph/run-options.js';
import { draw, type SpecParts } from './support/specs.js';
import { lines, watch, written } from './support/watch.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const busy = () => new EngineError('MODEL_UNAVAILABLE', 'Busy.', { retryable: true });

/** Says `ab` in two pieces and settles, a millisecond each. */
const write = () => slowly(delta('content', 'a'), delta('content', 'b'), settled({ content: 'ab' }));

const read: NodeFunction = (at) =>
  at.stream('p@content').pipe(
    map(({ text }) => text),
    toArray(),
    map((pieces) => settled({ content: pieces.join('') })),
  );

const plan = (p: SpecParts, c: SpecParts = {}, drawing = 'p -> c -> z'): Plan =>
  draw(drawing, { p: { streams: ['content'], activate: write, ...p }, c: { consumes: ['p'], activate: read, ...c } });

describe('a writer', () => {
  it('that is tried again is read from its new beginning, once', () => {
    const events = through(
      plan({
        retry: { attempts: 2, delayMs: 1 },
        activate: ({ attempt }) => (attempt === 1 ? concat(slowly(delta('content', 'x')), throwError(busy)) : write()),
      }),
    );
    expect(settledIn(events)).toEqual([
      ['p', 'ab'],
      ['c', 'ab'],
      ['z', undefined],
    ]);
  });

  it('that asks leaves nobody waiting, and is read from its beginning after the answer', () => {
    const asking = plan({
      activate: (at) => (at.answer === undefined ? slowly(delta('content', 'x'), interrupt({ ask: 1 })) : write()),
    });
    const watched = watch(asking);
    vi.advanceTimersByTime(20);
    expect(lines(watched.events).slice(-2)).toEqual(['node-interrupted p', 'run-interrupted']);
    const events = through(asking, { checkpoint: written(asking, watched.outcome!.state), answers: 'yes' });
    expect(settledIn(events)).toEqual([
      ['p', 'ab'],
      ['c', 'ab'],
      ['z', undefined],
    ]);
  });

  it('whose default value stands in before its first word is read as that value', () => {
    const onError = { method: 'default', outputs: { content: 'sorry' }, targets: [] } as const;
    const events = through(plan({ onError, activate: () => timer(1).pipe(mergeMap(() => throwError(busy))) }));
    expect(settledIn(events)).toEqual([
      ['p', 'sorry'],
      ['c', 'sorry'],
      ['z', undefined],
    ]);
  });

  it('that fails the run stops its readers', () => {
    let stopped = 0;
    const events = through(
      plan(
        { activate: () => concat(slowly(delta('content', 'x')), throwError(busy)) },
        {
          activate: (at) => {
            at.signal.addEventListener('abort', () => stopped++);
            return at.stream('p@content');
          },
        },
      ),
    );
    expect(lines(events).slice(-2)).toEqual(['node-failed p', 'run-failed']);
    expect(stopped).toBe(1);
  });
});

describe('a reader', () => {
  it('that lacks another value is not started early, nor passed over for it', () => {
    const q: SpecParts = { activate: () => slowly(settled({ content: 'q' })) };
    const late = draw('p -> c; q', {
      p: { streams: ['content'], activate: write },
      c: { consumes: ['p'], needs: ['p', 'q'], activate: read },
      q,
    });
    expect(settledIn(through(late))).toEqual([
      ['q', 'q'],
      ['p', 'ab'],
      ['c', 'ab'],
    ]);
  });

  it('that is tried again while the writer writes misses nothing', () => {
    const retry = { attempts: 2, delayMs: 1 };
    const flaky: NodeFunction = (at) => {
      if (at.attempt === 1) throw busy();
      return read(at);
    };
    expect(settledIn(through(plan({}, { retry, activate: flaky })))).toEqual([
      ['p', 'ab'],
      ['c', 'ab'],
      ['z', undefined],
    ]);
  });

  it('that asks while the writer writes asks when that is done, and reads what was settled', () => {
    const asking = plan({}, { activate: (at) => (at.answer === undefined ? interrupt({ ask: 1 }) : read(at)) });
    const watched = watch(asking);
    vi.advanceTimersByTime(20);
    expect(lines(watched.events).slice(-3)).toEqual(['node-interrupted c', 'node-settled p', 'run-interrupted']);
    const events = through(asking, { checkpoint: written(asking, watched.outcome!.state), answers: 'yes' });
    expect(settledIn(events)).toEqual([
      ['c', 'ab'],
      ['z', undefined],
    ]);
  });

  it('that is done before the writer settles after it', () => {
    expect(settledIn(through(plan({}, { activate: () => ({ content: 'quick' }) })))).toEqual([
      ['p', 'ab'],
      ['c', 'quick'],
      ['z', undefined],
    ]);
  });

  it('of a reader of a reader is served as well, however long the chain', () => {
    const ids = Array.from({ length: 60 }, (_, at) => `n${at}`);
    const relay = (source: string): SpecParts => ({
      streams: ['content'],
      consumes: [source],
      activate: (at) => {
        let content = '';
        return concat(
          at.stream(`${source}@content`).pipe(
            map((piece) => {
              content += piece.text;
              return piece;
            }),
          ),
          of(null).pipe(map(() => settled({ content }))),
        );
      },
    });
    const parts = Object.fromEntries(
      ids.map((id, at) => [id, at === 0 ? { streams: ['content'], activate: write } : relay(`n${at - 1}`)]),
    );
    const events = through(draw(ids.join(' -> '), parts));
    expect(settledIn(events)).toEqual(ids.map((id) => [id, 'ab']));
  });
});

/** The events one after the other, each a millisecond later. */
function slowly(...events: readonly NodeEvent[]): Observable<NodeEvent> {
  return concat(...events.map((event) => timer(1).pipe(map(() => event))));
}

function through(given: Plan, start: Start = { input: null }): RunEvent[] {
  const watched = watch(given, start);
  vi.advanceTimersByTime(200);
  expect(watched.isOver, lines(watched.events).join(', ')).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
  return watched.events;
}

function settledIn(events: readonly RunEvent[]): unknown[] {
  return events.flatMap((event) => (event.type === 'node-settled' ? [[event.node, event.outputs.content]] : []));
}
