import { concatMap, type Observable, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { answerTelling } from '../../src/agents/loop/answer-events.js';
import { RESTART, UNFINISHED } from '../../src/agents/loop/ask-model.js';
import { EngineError } from '../../src/errors.js';
import { type AssistantMessage, assistantMessage } from '../../src/models/messages.js';
import { marbles } from '../support/scheduler.js';

const piece = (content: string): AssistantMessage => assistantMessage(content);
const values = {
  a: piece('a'),
  b: piece('b'),
  c: piece('c'),
  R: RESTART,
  U: UNFINISHED,
};
const failure = new EngineError('MODEL_UNAVAILABLE', 'quota');

/** An answer through `outer` alone, which stands before the place; what is kept of it goes to `kept`. */
function told(
  model: Observable<AssistantMessage>,
  outer: (pieces: Observable<AssistantMessage>) => Observable<AssistantMessage>,
  kept: AssistantMessage[] = [],
): Observable<AssistantMessage> {
  const { passing, toldFor } = answerTelling();
  return outer(model.pipe(passing)).pipe(toldFor((message) => kept.push(message)));
}

const upper = (pieces: Observable<AssistantMessage>): Observable<AssistantMessage> =>
  pieces.pipe(
    toArray(),
    concatMap((all) => of(piece(all.map(({ content }) => content.toUpperCase()).join('')))),
  );

describe('answerTelling', () => {
  it('tells what passes the place as it comes, and keeps what comes out', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const kept: AssistantMessage[] = [];
      const model = cold('         -a--b---|', values);
      expectObservable(told(model, upper, kept)).toBe('-a--b---|', values);
      expectSubscriptions(model.subscriptions).toBe('  ^-------!');
      flush();
      expect(kept.map(({ content }) => content)).toEqual(['AB']);
    }));

  it('begins anew when the place is passed again', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const kept: AssistantMessage[] = [];
      const first = cold('  -a-b|', values);
      const second = cold('     --(c|)', values);
      const { passing, toldFor } = answerTelling();
      const tries = of(first, second).pipe(concatMap((model) => model.pipe(passing)));
      const result$ = tries.pipe(toldFor((message) => kept.push(message)));
      expectObservable(result$).toBe('-a-b--(Rc|)', values);
      expectSubscriptions(second.subscriptions).toBe('----^-!');
      flush();
      expect(kept.map(({ content }) => content)).toEqual(['abc']);
    }));

  it('does not tell where the answer began anew outside of the place, and keeps what is behind', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const kept: AssistantMessage[] = [];
      const model = cold('-a--b|', values);
      const guarded = (pieces: Observable<AssistantMessage>): Observable<AssistantMessage> =>
        pieces.pipe(concatMap((one) => (one === values.b ? of(RESTART, piece('no')) : of(one))));
      expectObservable(told(model, guarded, kept)).toBe('-a--b|', values);
      flush();
      expect(kept.map(({ content }) => content)).toEqual(['no']);
    }));

  it('tells that an answer was dropped', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const kept: AssistantMessage[] = [];
      const { toldFor } = answerTelling();
      const pieces = cold('-a--(U|)', values);
      expectObservable(pieces.pipe(toldFor((message) => kept.push(message)))).toBe('----(U|)', values);
      flush();
      expect(kept).toMatchObject([{ content: 'a', extra: { unfinished: true } }]);
    }));

  it('passes an error on, and keeps nothing', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const kept: AssistantMessage[] = [];
      const model = cold('-a--#', values, failure);
      expectObservable(told(model, upper, kept)).toBe('-a--#', values, failure);
      flush();
      expect(kept).toEqual([]);
    }));

  it('ends with its reader', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const kept: AssistantMessage[] = [];
      const model = cold('                         -a--b--c--|', values);
      expectObservable(told(model, upper, kept), '^----!').toBe('-a--b', values);
      expectSubscriptions(model.subscriptions).toBe('^----!');
      flush();
      expect(kept).toEqual([]);
    }));

  it('tells a synchronous answer before its end', () =>
    marbles(({ expectObservable }) => {
      expectObservable(told(of(values.a, values.b), upper)).toBe('(ab|)', values);
    }));
});
