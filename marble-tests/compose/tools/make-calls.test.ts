import { catchError, type Observable, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Interrupt } from '../../../src/compose/interrupt.js';
import { type CallRound, makeCalls, type ReportedCall } from '../../../src/compose/tools/make-calls.js';
import type { ToolReply } from '../../../src/compose/tools/step-tool.js';
import { EngineError } from '../../../src/errors.js';
import type { Call } from '../../../src/graph/node-events.js';
import { marbles } from '../../support/scheduler.js';

const replies: Record<string, ToolReply> = { r: { text: 'r' }, s: { text: 's' }, i: new Interrupt('sure?') };
const noLuck = new EngineError('TOOL_FAILED', 'no luck');

interface World {
  readonly made: Readonly<Record<string, Observable<ToolReply>>>;
  readonly known?: Readonly<Record<string, ToolReply>>;
  readonly concurrency?: number;
  readonly mayBegin?: () => boolean;
  readonly make?: (call: string, reported: ReportedCall) => Observable<ToolReply>;
}

/** A round whose calls are letters; all that it is told is one word. */
function roundOf({ made, known = {}, concurrency = 8, mayBegin = () => true, make }: World) {
  const told: string[] = [];
  const round: CallRound<string> = {
    concurrency,
    mayBegin,
    known: (call) => known[call],
    startOf: (id) => ({ id, kind: 'tool', name: id }),
    make: make ?? ((call) => made[call] as Observable<ToolReply>),
    isTold: () => true,
    report({ call }: Call) {
      const error = call.type === 'finished' && call.error !== undefined ? `!${call.error.message}` : '';
      told.push(`${call.id}:${call.type}${error}`);
    },
    receive: (call, reply) => told.push(`${call}:${reply instanceof Interrupt ? 'asks' : reply.text}`),
    ended: (call) => told.push(`${call}:ended`),
  };
  return { told, round };
}

describe('makeCalls', () => {
  it('makes calls side by side, and tells each from its beginning to its end', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const a$ = cold('-r----(r|)', replies);
      const b$ = cold('--s|      ', replies);
      const { told, round } = roundOf({ made: { a: a$, b: b$ } });
      expectObservable(makeCalls(['a', 'b'], round)).toBe('------|');
      expectSubscriptions(a$.subscriptions).toBe('^-----!');
      expectSubscriptions(b$.subscriptions).toBe('^--!');
      flush();
      expect(told).toEqual([
        ...['a:started', 'b:started', 'a:r', 'b:s', 'b:finished', 'b:ended'],
        ...['a:r', 'a:finished', 'a:ended'],
      ]);
    }));

  it('begins no more of them at once than it may', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a$ = cold('--(r|)', replies);
      const b$ = cold('--(s|)', replies);
      expectObservable(makeCalls(['a', 'b'], roundOf({ made: { a: a$, b: b$ }, concurrency: 1 }).round)).toBe('----|');
      expectSubscriptions(a$.subscriptions).toBe('^-!');
      expectSubscriptions(b$.subscriptions).toBe('--^-!');
    }));

  it('asks before each whether it may begin', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const b$ = cold('(s|)', replies);
      const world = roundOf({
        made: { a: cold('-(i|)', replies), b: b$ },
        concurrency: 1,
        mayBegin: () => !world.told.includes('a:asks'),
      });
      expectObservable(makeCalls(['a', 'b'], world.round)).toBe('-|');
      expectSubscriptions(b$.subscriptions).toBe([]);
      flush();
      // It goes on when it is answered, so its report has no end yet.
      expect(world.told).toEqual(['a:started', 'a:asks', 'a:ended']);
    }));

  it('neither makes nor reports a call whose result is known', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const a$ = cold('-(r|)', replies);
      const { told, round } = roundOf({ made: { a: a$ }, known: { a: { text: 'as before' } } });
      expectObservable(makeCalls(['a'], round)).toBe('|');
      expectSubscriptions(a$.subscriptions).toBe([]);
      flush();
      expect(told).toEqual(['a:as before', 'a:ended']);
    }));

  it('reports the error in place of which a call gives a text', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const made = { a: cold<ToolReply>('--#', replies, noLuck), b: cold<ToolReply>('---(s|)', replies) };
      const { told, round } = roundOf({
        made,
        make: (call, reported) =>
          made[call as 'a' | 'b'].pipe(
            catchError((error: EngineError) => {
              reported.failed(error);
              return of({ text: 'sorry', isError: true });
            }),
          ),
      });
      expectObservable(makeCalls(['a', 'b'], round)).toBe('---|');
      flush();
      expect(told).toEqual([
        ...['a:started', 'b:started', 'a:sorry', 'a:finished!no luck', 'a:ended'],
        ...['b:s', 'b:finished', 'b:ended'],
      ]);
    }));

  it('ends all calls with the first error', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const b$ = cold('-----(s|)', replies);
      const { told, round } = roundOf({ made: { a: cold('--#', replies, noLuck), b: b$ } });
      expectObservable(makeCalls(['a', 'b'], round)).toBe('--#', undefined, noLuck);
      expectSubscriptions(b$.subscriptions).toBe('^-!');
      flush();
      expect(told).toEqual(['a:started', 'b:started', 'a:finished!no luck']);
    }));

  it('ends with what the round makes of a reply that it cannot take', () =>
    marbles(({ cold, expectObservable }) => {
      const { round } = roundOf({ made: { a: cold('-r-r|', replies) } });
      const refusing: typeof round = {
        ...round,
        receive() {
          throw noLuck;
        },
      };
      expectObservable(makeCalls(['a'], refusing)).toBe('-#', undefined, noLuck);
    }));

  it('stops every call when it is unsubscribed from', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const a$ = cold('-r----(r|)', replies);
      const b$ = cold('----------', replies);
      const { told, round } = roundOf({ made: { a: a$, b: b$ } });
      expectObservable(makeCalls(['a', 'b'], round), '---!').toBe('----');
      expectSubscriptions(a$.subscriptions).toBe('^--!');
      expectSubscriptions(b$.subscriptions).toBe('^--!');
      flush();
      expect(told).toEqual(['a:started', 'b:started', 'a:r']);
    }));

  it('takes calls that are over at once', () =>
    marbles(({ expectObservable, flush }) => {
      const { told, round } = roundOf({ made: { a: of({ text: 'r' }), b: of({ text: 's' }) }, concurrency: 1 });
      expectObservable(makeCalls(['a', 'b'], round)).toBe('|');
      flush();
      expect(told).toEqual([
        ...['a:started', 'a:r', 'a:finished', 'a:ended'],
        ...['b:started', 'b:s', 'b:finished', 'b:ended'],
      ]);
    }));
});
