import { defer, NEVER, type Observable } from 'rxjs';
import { describe, it } from 'vitest';
import type { EgressClient, EgressResponse } from '../../src/adapters/egress/egress-client.js';
import { invoke } from '../../src/components/invoke.js';
import { EngineError } from '../../src/errors.js';
import { settled, warning } from '../../src/graph/node-events.js';
import { createNode, type FakeOptions, fakeActivation, perform } from '../support/activation.js';
import { marbles } from '../support/scheduler.js';

const ANSWER: EgressResponse = {
  status: 200,
  headers: {},
  contentType: 'text/plain',
  url: 'http://server.example/',
  bytes: new Uint8Array(),
  text: () => 'text',
};
const RESULT = { r: settled({ result: 'text' }) };

const LATE = new EngineError('EGRESS_TIMEOUT', 'too late', { retryable: true });
const BLOCKED = new EngineError('URL_BLOCKED', 'not there');

/** What an Invoke says whose requests give one Observable after the other. */
function call(answers: readonly Observable<EgressResponse>[], params = {}, options: FakeOptions = {}) {
  let next = 0;
  const http: EgressClient = {
    fetch: () => defer(() => answers[next++] as Observable<EgressResponse>),
    connect: () => NEVER,
    close: () => {},
  };
  const node = createNode(invoke, { url: 'http://server.example/', delay_after_error: 0.003, ...params });
  return perform(node, fakeActivation({ ...options, services: { http } }));
}

describe('Invoke', () => {
  it('settles with the answer when it comes', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('--(a|)', { a: ANSWER });
      const subs = '        ^-!   ';
      const expected = '    --(r|)';

      expectObservable(call([answer$])).toBe(expected, RESULT);
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }));

  it('settles in the same frame with an answer that is there at once', () =>
    marbles(({ cold, expectObservable }) => {
      const answer$ = cold('(a|)', { a: ANSWER });
      const expected = '    (r|)';

      expectObservable(call([answer$])).toBe(expected, RESULT);
    }));

  it('tries again after a failure that may pass, with a fixed pause', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first$ = cold<EgressResponse>(' --#        ', {}, LATE);
      const second$ = cold<EgressResponse>('     -#    ', {}, LATE);
      const third$ = cold('         -(a|)', { a: ANSWER });
      const firstSubs = '   ^-!        ';
      const secondSubs = '  -----^!    ';
      const thirdSubs = '   ---------^!';
      const expected = '    ----------(r|)';

      expectObservable(call([first$, second$, third$], { max_retries: 2 })).toBe(expected, RESULT);
      expectSubscriptions(first$.subscriptions).toBe(firstSubs);
      expectSubscriptions(second$.subscriptions).toBe(secondSubs);
      expectSubscriptions(third$.subscriptions).toBe(thirdSubs);
    }));

  it('fails with the last error when the attempts run out', () =>
    marbles(({ cold, expectObservable }) => {
      const first$ = cold<EgressResponse>(' -#  ', {}, LATE);
      const second$ = cold<EgressResponse>('    -#', {}, LATE);
      const expected = '    -----#';

      expectObservable(call([first$, second$], { max_retries: 1 })).toBe(expected, {}, LATE);
    }));

  it('does not try again by itself', () =>
    marbles(({ cold, expectObservable }) => {
      const answer$ = cold<EgressResponse>('--#', {}, LATE);
      const expected = '    --#';

      expectObservable(call([answer$])).toBe(expected, {}, LATE);
    }));

  it('never tries again what the policy refuses', () =>
    marbles(({ cold, expectObservable }) => {
      const answer$ = cold<EgressResponse>('--#', {}, BLOCKED);
      const expected = '    --#';

      expectObservable(call([answer$], { max_retries: 5 })).toBe(expected, {}, BLOCKED);
    }));

  it('ends the request when it is stopped', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('-----(a|)', { a: ANSWER });
      const stop = '        ---!';
      const subs = '        ^--!';
      const expected = '    ----';

      expectObservable(call([answer$]), stop).toBe(expected);
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }));

  it('asks no more when it is stopped between two attempts', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first$ = cold<EgressResponse>('-#', {}, LATE);
      const second$ = cold('(a|)', { a: ANSWER });
      const stop = '       --!';
      const expected = '   ---';

      expectObservable(call([first$, second$], { max_retries: 1 }), stop).toBe(expected);
      expectSubscriptions(second$.subscriptions).toBe([]);
    }));

  it('warns before it asks', () =>
    marbles(({ cold, expectObservable }) => {
      const answer$ = cold('--(a|)', { a: ANSWER });
      const expected = '    w-(r|)';

      const said$ = call([answer$], { headers: { 'X-A': '{a@typo}' } }, { outputs: { a: {} } });

      const told = warning('"a@typo" names no value; it reads as empty text.');
      expectObservable(said$).toBe(expected, { ...RESULT, w: told });
    }));
});
