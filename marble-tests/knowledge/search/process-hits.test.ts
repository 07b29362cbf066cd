import { delay, map, type Observable, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { dedup } from '../../../src/knowledge/search/after/dedup.js';
import { diversityOf } from '../../../src/knowledge/search/after/diversity.js';
import {
  definePostProcessor,
  type FoundPassage,
  type PostProcessor,
  processorsNamed,
} from '../../../src/knowledge/search/after/post-processor.js';
import { defaultProcessors, processHits } from '../../../src/knowledge/search/after/process-hits.js';
import { truncateTo } from '../../../src/knowledge/search/after/truncate.js';
import { marbles } from '../../support/scheduler.js';

const hit = (id: string, change: Partial<FoundPassage> = {}): FoundPassage => ({
  id,
  documentId: `doc-${id[0]}`,
  text: `The text of passage ${id} is about ${id.repeat(20)}.`,
  similarity: 0.5,
  ...change,
});
const [a1, a2, a3, a4, b1] = ['a1', 'a2', 'a3', 'a4', 'b1'].map((id) => hit(id)) as [
  FoundPassage,
  FoundPassage,
  FoundPassage,
  FoundPassage,
  FoundPassage,
];

/** What one step makes of one list, at once. */
function once({ process }: PostProcessor, hits: readonly FoundPassage[]): readonly string[] {
  let ids: readonly string[] = [];
  marbles(({ cold, expectObservable, flush }) => {
    const result$: Observable<readonly FoundPassage[]> = process(cold('-h|', { h: hits }));
    expectObservable(result$.pipe(map((list) => list.length > -1))).toBe('-t|', { t: true });
    result$.subscribe((list) => {
      ids = list.map(({ id }) => id);
    });
    flush();
  });
  return ids;
}

describe('the steps after a search', () => {
  it('leave out the same id, the same text and nearly the same text', () => {
    const text =
      'Calls are tried again after a pause that doubles each time, up to five attempts in all, and then they fail.';
    const hits = [
      hit('a', { text }),
      hit('a'),
      hit('b', { text: text.toUpperCase() }),
      hit('c', { text: `${text}.` }),
      hit('d'),
    ];
    expect(once(dedup, hits)).toEqual(['a', 'd']);
  });

  it('keep the best of each document', () => {
    expect(once(diversityOf(), [a1, a2, a3, a4, b1])).toEqual(['a1', 'a2', 'a3', 'b1']);
    expect(once(diversityOf(1), [a1, a2, b1])).toEqual(['a1', 'b1']);
  });

  it('keep as many as there is room for, the first one always', () => {
    expect(once(truncateTo({ most: 2 }), [a1, a2, a3])).toEqual(['a1', 'a2']);
    const countTokens = (text: string): number => text.length;
    const [long, short] = [hit('l', { text: 'x'.repeat(90) }), hit('s', { text: 'y' })];
    expect(once(truncateTo({ maxTokens: 10, countTokens }), [long, short])).toEqual(['l']);
    expect(once(truncateTo({ maxTokens: 10, countTokens }), [short, long, { ...short, id: 't' }])).toEqual(['s', 't']);
  });

  it('give nothing for nothing', () => {
    for (const step of defaultProcessors()) expect(once(step, [])).toEqual([]);
  });
});

describe('processHits', () => {
  const slow = definePostProcessor('slow', (hits$) => hits$.pipe(delay(3)));
  const one = definePostProcessor('one', (hits$) => hits$.pipe(map((hits) => hits.slice(0, 1))));

  it('sends hits through the steps in order and tells what each did', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const source = cold('-h|', { h: [a1, a2] });
      const reports: unknown[] = [];
      const result$ = source.pipe(
        processHits([one, slow], ({ name, in: before, out }) => reports.push([name, before, out])),
      );
      expectObservable(result$).toBe('----(r|)', { r: [a1] });
      expectSubscriptions(source.subscriptions).toBe('^-!');
      flush();
      expect(reports).toEqual([
        ['one', 2, 1],
        ['slow', 1, 1],
      ]);
    }));

  it('fails with its source', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold<readonly FoundPassage[]>('--#').pipe(processHits([one]))).toBe('--#');
    }));

  it('fails with a step, and leaves the source', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-h----|', { h: [a1] });
      const broken = definePostProcessor('broken', (hits$) =>
        hits$.pipe(
          map(() => {
            throw 'error';
          }),
        ),
      );
      expectObservable(source.pipe(processHits([broken]))).toBe('-#');
      expectSubscriptions(source.subscriptions).toBe('^!');
      const never = definePostProcessor('never', () => throwError(() => 'error'));
      expectObservable(cold('-h|', { h: [] }).pipe(processHits([never]))).toBe('#');
    }));

  it('stops the step at work when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-h-----', { h: [a1] });
      expectObservable(source.pipe(processHits([slow])), '^--!').toBe('----');
      expectSubscriptions(source.subscriptions).toBe('^--!');
    }));

  it('works with a source that gives its hits at once, and without steps', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('(h|)', { h: [a1] }).pipe(processHits([one, one]))).toBe('(h|)', { h: [a1] });
      expectObservable(cold('(h|)', { h: [a1] }).pipe(processHits([]))).toBe('(h|)', { h: [a1] });
    }));
});

describe('steps by their names', () => {
  it('are found among those that are known, and refused otherwise', () => {
    const known = defaultProcessors();
    expect(processorsNamed(['truncate', 'dedup'], known).map(({ name }) => name)).toEqual(['truncate', 'dedup']);
    expect(() => processorsNamed(['none'], known)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
    expect(() => definePostProcessor('No Name', (hits$) => hits$)).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID' }),
    );
  });
});
