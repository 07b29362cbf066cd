import { type Observable, of } from 'rxjs';
import { describe, it } from 'vitest';
import { RESTART } from '../../src/agents/loop/ask-model.js';
import type { GuardVerdict } from '../../src/agents/middleware/guard.js';
import { passedBy } from '../../src/agents/middleware/guard-input.js';
import { checkedText, type GuardedOutput, type TextCheck } from '../../src/agents/middleware/guard-output.js';
import { EngineError } from '../../src/errors.js';
import { type AssistantMessage, assistantMessage } from '../../src/models/messages.js';
import { marbles } from '../support/scheduler.js';

const trip = { reason: 'no' };
const verdicts: Record<string, GuardVerdict> = { o: undefined, t: trip };
const failure = new EngineError('MODEL_UNAVAILABLE', 'quota');
const instead = ({ reason }: { readonly reason: string }): Observable<string> => of(`(${reason})`);

describe('passedBy', () => {
  it('holds pieces back until the check has passed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const check = cold(' -----(o|)', verdicts);
      const model = cold(' -a--b------c--|');
      const result$ = model.pipe(passedBy(check, instead, false));
      expectObservable(result$).toBe('   -----(ab)--c--|');
      expectSubscriptions(model.subscriptions).toBe('^-------------!');
    }));

  it('gives everything once a slow check has passed', () =>
    marbles(({ cold, expectObservable }) => {
      const check = cold(' -------(o|)', verdicts);
      const model = cold(' -a--b-|');
      expectObservable(model.pipe(passedBy(check, instead, false))).toBe('-------(ab|)');
    }));

  it('unsubscribes the model when the check trips', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const check = cold(' ----(t|)', verdicts);
      const model = cold(' -a--b----c--|');
      expectObservable(model.pipe(passedBy(check, instead, false))).toBe('----(x|)', { x: '(no)' });
      expectSubscriptions(model.subscriptions).toBe('^---!');
    }));

  it('does not ask the model when a check trips at once', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const model = cold(' -a--|');
      expectObservable(model.pipe(passedBy(of(trip), instead, false))).toBe('(x|)', { x: '(no)' });
      expectSubscriptions(model.subscriptions).toBe([]);
    }));

  it('asks the model behind the check', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const check = cold(' ---(o|)', verdicts);
      const model = cold('    -a-|');
      expectObservable(model.pipe(passedBy(check, instead, true))).toBe('----a-|');
      expectSubscriptions(model.subscriptions).toBe('---^--!');
    }));

  it('fails with the model, and with the check', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const slow = cold('  -------(o|)', verdicts);
      const broken = cold('-a-#', undefined, failure);
      expectObservable(broken.pipe(passedBy(slow, instead, false))).toBe('---#', undefined, failure);
      expectSubscriptions(slow.subscriptions).toBe('^--!');
      const check = cold<never>(' --#', undefined, failure);
      const model = cold(' -a--b--|');
      expectObservable(model.pipe(passedBy(check, instead, false))).toBe('--#', undefined, failure);
      expectSubscriptions(model.subscriptions).toBe('^-!');
    }));

  it('stops both when it is left', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const check = cold(' -------(o|)', verdicts);
      const model = cold(' -a--b--|');
      expectObservable(model.pipe(passedBy(check, instead, false)), '---!').toBe('----');
      expectSubscriptions(check.subscriptions).toBe('^--!');
      expectSubscriptions(model.subscriptions).toBe('^--!');
    }));
});

const pieces = Object.fromEntries(
  ['a', 'b', 'c', 'd', 'x'].map((text): [string, AssistantMessage] => [text, assistantMessage(text)]),
);
const values = { ...pieces, R: RESTART, i: assistantMessage('instead') };

/** A check that takes so long, and trips at `x`. */
function checked(verdict: (output: GuardedOutput) => Observable<GuardVerdict>, more: Partial<TextCheck> = {}) {
  return checkedText({
    everyCharacters: 2,
    holdBackCharacters: 1,
    verdict,
    refused: (_, isLive) => (isLive ? of(RESTART, assistantMessage('instead')) : of(assistantMessage('instead'))),
    ...more,
  });
}

const atOnce = ({ text }: GuardedOutput): Observable<GuardVerdict> => of(text.includes('x') ? trip : undefined);

describe('checkedText', () => {
  it('lets text pass that was checked, and holds the newest back', () =>
    marbles(({ cold, expectObservable }) => {
      const model = cold('                               -a--b--c--d---|', values);
      expectObservable(model.pipe(checked(atOnce))).toBe('----a-----(bc)(d|)', values);
    }));

  it('unsubscribes the model at a trip, and begins anew', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const model = cold('                               -a--b--c--x--d--|', values);
      expectObservable(model.pipe(checked(atOnce))).toBe('----a-----(Ri|)', values);
      expectSubscriptions(model.subscriptions).toBe('    ^---------!');
    }));

  it('has nothing to take back when nothing has left', () =>
    marbles(({ cold, expectObservable }) => {
      const model = cold('                               -a--x--c--|', values);
      expectObservable(model.pipe(checked(atOnce))).toBe('----(i|)', values);
    }));

  it('trips at the end for what only the whole shows', () =>
    marbles(({ cold, expectObservable }) => {
      const whole = ({ isWhole }: GuardedOutput) => of(isWhole ? trip : undefined);
      const model = cold('                              -a--b-|', values);
      expectObservable(model.pipe(checked(whole))).toBe('----a-(Ri|)', values);
    }));

  it('checks the whole alone where it is told to', () =>
    marbles(({ cold, expectObservable }) => {
      const model = cold('-a--b--c-|', values);
      const check = checked(atOnce, { everyCharacters: Number.POSITIVE_INFINITY });
      expectObservable(model.pipe(check)).toBe('---------(abc|)', values);
    }));

  it('waits for a slow check, and stops it with the model when it is left', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const check = cold('    -----(o|)', verdicts);
      const model = cold('-a--b--c--------|', values);
      expectObservable(model.pipe(checked(() => check)), '------------!').toBe('---------a---', values);
      expectSubscriptions(check.subscriptions).toBe(['----^----!']);
      expectSubscriptions(model.subscriptions).toBe('^-----------!');
    }));

  it('begins anew with a model that does', () =>
    marbles(({ cold, expectObservable }) => {
      const model = cold('                               -a--R--c--|', values);
      expectObservable(model.pipe(checked(atOnce))).toBe('----R-----(c|)', values);
    }));

  it('fails with its source, without what was not checked', () =>
    marbles(({ cold, expectObservable }) => {
      const model = cold('                               -a--#', values, failure);
      expectObservable(model.pipe(checked(atOnce))).toBe('----#', values, failure);
    }));

  it('lets a text pass that comes at once', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('(abc|)', values).pipe(checked(atOnce))).toBe('(abc|)', values);
    }));
});
