import type { Observable } from 'rxjs';
import { map } from 'rxjs';
import { describe, it } from 'vitest';
import { EngineError } from '../../../src/errors.js';
import type { JsonObject } from '../../../src/json.js';
import { drift } from '../../../src/knowledge/graph/by-model/drift.js';
import { mapReports } from '../../../src/knowledge/graph/by-model/map-reports.js';
import { SearchBudget } from '../../../src/knowledge/graph/by-model/search-budget.js';
import type { GraphModel, GraphModelQuestion } from '../../../src/knowledge/graph/calls/graph-model.js';
import type { RatedReport } from '../../../src/knowledge/graph/graph-answers.js';
import { marbles } from '../../support/scheduler.js';

/** Reports so long that each is a group of its own. */
function reportsOf(...ids: readonly string[]): readonly RatedReport[] {
  return ids.map((id) => ({
    ...{ community: id, level: 0, size: 2, title: `About ${id}`, summary: 'long '.repeat(1_500), rating: 5 },
    ...{ findings: [], fingerprint: id, by: 'model', relevance: 30 },
  }));
}

/** A model that answers about the first report of a group. */
function modelOf(answers: Readonly<Record<string, Observable<JsonObject>>>): GraphModel {
  return {
    name: 'reader',
    ask: ({ input }: GraphModelQuestion) => {
      const [first] = input.reports as { id: string }[];
      return answers[first?.id ?? ''] as Observable<JsonObject>;
    },
  };
}

const points = (id: string, score: number): JsonObject => ({ points: [{ text: id, score, reports: [id] }] });
const question = 'Which directions are there?';

describe('mapReports', () => {
  it('reads four groups at once, and gives the best points first', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const calls = {
        a: cold('---(v|)', { v: points('a', 30) }),
        b: cold('-----(v|)', { v: points('b', 90) }),
        c: cold('-----(v|)', { v: points('c', 10) }),
        d: cold('-----(v|)', { v: points('d', 20) }),
        e: cold('----(v|)', { v: points('e', 50) }),
      };
      const budget = new SearchBudget({});
      const mapped$ = mapReports({ question, reports: reportsOf(...'abcde'), model: modelOf(calls), budget });
      const told$ = mapped$.pipe(map(({ points: all, ...rest }) => ({ ...rest, points: all.map(({ text }) => text) })));
      expectObservable(told$).toBe('-------(r|)', { r: { read: 5, isDegraded: false, points: ['b', 'e', 'a', 'd'] } });
      expectSubscriptions(calls.d.subscriptions).toBe('^----!');
      expectSubscriptions(calls.e.subscriptions).toBe('---^---!');
    }));

  it('waits for what is at work when the budget has no room for another group', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const calls = {
        a: cold('---(v|)', { v: points('a', 30) }),
        b: cold('-----(v|)', { v: points('b', 90) }),
        c: cold('-(v|)', { v: points('c', 90) }),
      };
      const budget = new SearchBudget({ calls: 2 });
      const mapped$ = mapReports({ question, reports: reportsOf(...'abc'), model: modelOf(calls), budget });
      const told$ = mapped$.pipe(
        map(({ points: all, read }) => [read, ...all.map(({ text }) => text), budget.spent.calls]),
      );
      expectObservable(told$).toBe('-----(r|)', { r: [2, 'b', 'a', 2] });
      expectSubscriptions(calls.c.subscriptions).toBe([]);
    }));

  it('asks once more for an answer of no use, then rates by words; of a model that is away it asks nothing more', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const useless$ = cold('--(v|)', { v: { points: 7 } });
      const told$ = mapReports({
        ...{ question, reports: reportsOf('a'), model: modelOf({ a: useless$ }), budget: new SearchBudget({}) },
      }).pipe(map(({ points: all, read, isDegraded }) => [read, isDegraded, all.map(({ score }) => score)]));
      expectObservable(told$).toBe('----(r|)', { r: [1, true, [30]] });
      expectSubscriptions(useless$.subscriptions).toBe(['^-!', '--^-!']);

      const calls = {
        a: cold<JsonObject>('-#', {}, new EngineError('MODEL_UNAVAILABLE', 'away')),
        b: cold('--(v|)', { v: points('b', 60) }),
        c: cold('--(v|)', { v: points('c', 60) }),
        d: cold('--(v|)', { v: points('d', 60) }),
        e: cold('-(v|)', { v: points('e', 90) }),
      };
      const budget = new SearchBudget({});
      const away$ = mapReports({ question, reports: reportsOf(...'abcde'), model: modelOf(calls), budget });
      const short$ = away$.pipe(map(({ points: all, read, isDegraded }) => [read, isDegraded, all.length]));
      expectObservable(short$).toBe('--(r|)', { r: [4, true, 4] });
      expectSubscriptions(calls.e.subscriptions).toBe([]);
    }));

  it('closes all connections when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const calls = { a: cold<JsonObject>('-----'), b: cold<JsonObject>('-----') };
      const budget = new SearchBudget({});
      expectObservable(
        mapReports({ question, reports: reportsOf('a', 'b'), model: modelOf(calls), budget }),
        '--!',
      ).toBe('');
      expectSubscriptions(calls.a.subscriptions).toBe('^-!');
      expectSubscriptions(calls.b.subscriptions).toBe('^-!');
    }));

  it('reads nothing without reports, and with a model that answers at once', () =>
    marbles(({ cold, expectObservable }) => {
      const budget = new SearchBudget({});
      const none$ = mapReports({ question, reports: [], model: modelOf({}), budget });
      expectObservable(none$).toBe('(r|)', { r: { points: [], read: 0, isDegraded: false } });
      const model = modelOf({ a: cold('(v|)', { v: points('a', 40) }) });
      const one$ = mapReports({ question, reports: reportsOf('a'), model, budget });
      expectObservable(one$.pipe(map(({ read }) => read))).toBe('(r|)', { r: 1 });
    }));
});

describe('drift', () => {
  const passage = (chunkId: string) => ({ chunkId, score: 1, why: { entities: [], steps: [] } });

  it('asks twice at most, searches side by side, and keeps the order of the questions', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const asked: JsonObject[] = [];
      const rounds = [
        cold('--(v|)', { v: { questions: ['one', 'two', 'one'] } }),
        cold('--(v|)', { v: { questions: ['Two', 'three'] } }),
      ];
      const model: GraphModel = {
        name: 'reader',
        ask: ({ input }) => rounds[asked.push(input) - 1] as Observable<JsonObject>,
      };
      const searches = { one: cold('---(s|)', { s: [passage('1')] }), two: cold('-(s|)', { s: [] }) };
      const third$ = cold('-(s|)', { s: [passage('3')] });
      const led$ = drift({
        ...{ question, points: ['a point'], model, budget: new SearchBudget({}) },
        local: (one) => ({ ...searches, three: third$ })[one as 'one'],
        texts: (passages) => cold('(t|)', { t: passages.map(({ chunkId }) => `text ${chunkId}`) }),
      });
      expectObservable(
        led$.pipe(map(({ passages, questions }) => [questions, passages.map((one) => one.chunkId), asked])),
      ).toBe('--------(r|)', {
        r: [
          ['one', 'two', 'three'],
          ['1', '3'],
          [
            { question, findings: ['a point'], missing: [] },
            { question, findings: ['a point', 'text 1'], missing: ['two'] },
          ],
        ],
      });
      expectSubscriptions(searches.one.subscriptions).toBe('--^--!');
      expectSubscriptions(searches.two.subscriptions).toBe('--^!');
    }));

  it('ends without room for a call, and when its model is away', () =>
    marbles(({ cold, expectObservable }) => {
      const model: GraphModel = {
        name: 'reader',
        ask: () => cold('-#', {}, new EngineError('MODEL_UNAVAILABLE', 'away')),
      };
      const none = () => cold<never>('|');
      const given = { question, points: [], model, local: none, texts: none };
      expectObservable(drift({ ...given, budget: new SearchBudget({ calls: 0 }) })).toBe('(r|)', {
        r: { questions: [], passages: [], isDegraded: false },
      });
      expectObservable(drift({ ...given, budget: new SearchBudget({}) })).toBe('-(r|)', {
        r: { questions: [], passages: [], isDegraded: true },
      });
    }));
});
