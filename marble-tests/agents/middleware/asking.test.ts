/** Hooks that work as streams before a round: requests that come later, and models asked beside the conversation. */
import { concatMap, EMPTY, map, type Observable, of, throwError, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { joinAnswer } from '../../../src/agents/loop/ask-model.js';
import { agent, defineMiddleware, type HookView, type RoundRequest } from '../../../src/entries/agents.js';
import { inVirtualTime } from '../../../src/entries/testing.js';
import { EngineError } from '../../../src/errors.js';
import type { ChatModel } from '../../../src/models/chat-model.js';

const ENDS = { e: 'run-settled', x: 'run-failed', c: 'run-cancelled' } as const;
const equal = (actual: unknown, expected: unknown) => expect(actual).toEqual(expected);

/** A middleware whose request comes by this stream. */
function later(change: (request: RoundRequest, view: HookView) => Observable<RoundRequest>) {
  return defineMiddleware<unknown>({ name: 'later', beforeModel: change });
}

/** Asks a model first, and puts what it says into the instructions. */
function advised(by: ChatModel) {
  return later((request, view) =>
    view.ask({ ...request, model: by, messages: [{ role: 'user', content: 'Advise.' }], tools: [] }).pipe(
      toArray(),
      map((pieces) => ({ ...request, instructions: joinAnswer(pieces).content })),
    ),
  );
}

describe('beforeModel as a stream', () => {
  it('asks the model once the request is there', () =>
    inVirtualTime(
      ({ model, cold, run, expectEvents, expectSubscriptions }) => {
        const main = model(['--a|'], { a: 'A' });
        const wait = cold('---(w|)');
        const clerk = agent({
          name: 'clerk',
          model: main,
          use: [later((request) => wait.pipe(map(() => ({ ...request, instructions: 'Late.' }))))],
        });
        expectEvents(run(clerk, 'Go.'), ENDS).toBe('------(e|)');
        expectSubscriptions(wait.subscriptions).toBe('^--!');
        expectSubscriptions(main.subscriptions[0] ?? []).toBe('---^--!');
      },
      { equal },
    ));

  it('takes the first request of several, and leaves the stream there', () =>
    inVirtualTime(
      ({ model, cold, run, expectEvents, expectSubscriptions, flush }) => {
        const main = model(['a|'], { a: 'A' });
        const wait = cold('--a--b--|');
        const clerk = agent({
          name: 'clerk',
          model: main,
          use: [later((request) => wait.pipe(map((instructions) => ({ ...request, instructions }))))],
        });
        expectEvents(run(clerk, 'Go.'), ENDS).toBe('---(e|)');
        expectSubscriptions(wait.subscriptions).toBe('^-!');
        flush();
        expect(main.requests[0]?.messages[0]).toEqual({ role: 'system', content: 'a' });
      },
      { equal },
    ));

  it('keeps the request when the stream ends without one', () =>
    inVirtualTime(
      ({ model, cold, run, expectEvents, flush }) => {
        const main = model(['a|'], { a: 'A' });
        const clerk = agent({
          name: 'clerk',
          model: main,
          instructions: 'Own.',
          use: [later(() => cold<RoundRequest>('--|'))],
        });
        expectEvents(run(clerk, 'Go.'), ENDS).toBe('---(e|)');
        flush();
        expect(main.requests[0]?.messages[0]).toEqual({ role: 'system', content: 'Own.' });
      },
      { equal },
    ));

  it('is a part of the chain: one stream begins when the one before has given its request', () =>
    inVirtualTime(
      ({ model, cold, run, expectEvents, expectSubscriptions }) => {
        const [one, two] = [cold('--(w|)'), cold('---(w|)')];
        const delayed = (name: string, wait: Observable<string>) =>
          defineMiddleware<unknown>({ name, beforeModel: (request) => wait.pipe(map(() => request)) });
        const use = [delayed('one', one), delayed('two', two)];
        const clerk = agent({ name: 'clerk', model: model(['a|'], { a: 'A' }), use });
        expectEvents(run(clerk, 'Go.'), ENDS).toBe('------(e|)');
        expectSubscriptions(one.subscriptions).toBe('^-!');
        expectSubscriptions(two.subscriptions).toBe('--^--!');
      },
      { equal },
    ));

  it('fails the run with its error, before the model is asked', () =>
    inVirtualTime(
      ({ model, cold, run, expectEvents, expectSubscriptions }) => {
        const main = model(['a|'], { a: 'A' });
        const broken = cold<RoundRequest>('--#', undefined, new EngineError('OPTION_INVALID', 'no'));
        const clerk = agent({ name: 'clerk', model: main, use: [later(() => broken)] });
        expectEvents(run(clerk, 'Go.'), ENDS).toBe('--(x|)');
        expectSubscriptions(broken.subscriptions).toBe('^-!');
        expectSubscriptions(main.subscriptions[0] ?? []).toBe([]);
      },
      { equal },
    ));

  it('is unsubscribed in the frame in which the run is left', () =>
    inVirtualTime(
      ({ model, cold, run, expectEvents, expectSubscriptions }) => {
        const main = model(['a|'], { a: 'A' });
        const wait = cold<RoundRequest>('-------(w|)');
        const clerk = agent({ name: 'clerk', model: main, use: [later(() => wait)] });
        expectEvents(run(clerk, 'Go.'), ENDS, '---!').toBe('----');
        expectSubscriptions(wait.subscriptions).toBe('^--!');
        expectSubscriptions(main.subscriptions[0] ?? []).toBe([]);
      },
      { equal },
    ));
});

describe('HookView.ask', () => {
  it('asks beside the conversation: its text is no chunk of the run, its cost is', () =>
    inVirtualTime(
      ({ model, run, expectEvents, expectSubscriptions, flush }) => {
        const usage = { type: 'usage', promptTokens: 3, completionTokens: 2, totalTokens: 5 } as const;
        const side = model(['--a-u|'], { a: 'Be kind.', u: usage });
        const main = model(['-b-u|'], { b: 'B', u: usage });
        const seen: number[] = [];
        const spy = defineMiddleware<unknown>({
          name: 'spy',
          afterModel: (_, { usage: { totalTokens } }) => {
            seen.push(totalTokens);
            return undefined;
          },
        });
        const clerk = agent({ name: 'clerk', model: main, use: [advised(side), spy] });
        const says = (text: string) => (event: { readonly type: string }) =>
          event.type === 'node-chunk' && JSON.stringify(event).includes(`"${text}"`);
        const letters = { s: says('Be kind.'), t: says('B'), ...ENDS };
        expectEvents(run(clerk, 'Go.'), letters).toBe('------t--(e|)');
        expectSubscriptions(side.subscriptions[0] ?? []).toBe('^----!');
        expectSubscriptions(main.subscriptions[0] ?? []).toBe('-----^---!');
        flush();
        expect(seen).toEqual([10]);
        expect(main.requests[0]?.messages[0]).toEqual({ role: 'system', content: 'Be kind.' });
      },
      { equal },
    ));

  it('is cold: what is not subscribed to asks no model', () =>
    inVirtualTime(
      ({ model, run, expectEvents, flush }) => {
        const side = model(['a|']);
        const clerk = agent({
          name: 'clerk',
          model: model(['b|']),
          use: [
            later((request, view) => {
              view.ask({ ...request, model: side });
              return EMPTY;
            }),
          ],
        });
        expectEvents(run(clerk, 'Go.'), ENDS).toBe('-(e|)');
        flush();
        expect(side.requests).toEqual([]);
      },
      { equal },
    ));

  it('gives the error of its model to the hook, which may go on without', () =>
    inVirtualTime(
      ({ model, run, expectEvents, expectSubscriptions }) => {
        const [side, main] = [model(['---#']), model(['-b|'])];
        expectEvents(run(agent({ name: 'clerk', model: main, use: [advised(side)] }), 'Go.'), ENDS).toBe('---(x|)');
        expectSubscriptions(side.subscriptions[0] ?? []).toBe('^--!');
        expectSubscriptions(main.subscriptions[0] ?? []).toBe([]);
      },
      { equal },
    ));

  it('ends in the frame in which the run is left', () =>
    inVirtualTime(
      ({ model, run, expectEvents, expectSubscriptions }) => {
        const side = model(['-----a|']);
        const clerk = agent({ name: 'clerk', model: model(['b|']), use: [advised(side)] });
        expectEvents(run(clerk, 'Go.'), ENDS, '--!').toBe('---');
        expectSubscriptions(side.subscriptions[0] ?? []).toBe('^-!');
      },
      { equal },
    ));

  it('may be asked several times one after the other, each call an own one', () =>
    inVirtualTime(
      ({ model, run, expectEvents, expectSubscriptions }) => {
        const side = model(['-a|', '--b|']);
        const twice = later((request, view) => {
          const asked = { ...request, model: side, tools: [] };
          const answer = (): Observable<string> =>
            view.ask(asked).pipe(
              toArray(),
              map((pieces) => joinAnswer(pieces).content),
            );
          return answer().pipe(
            concatMap((first) => answer().pipe(map((second) => first + second))),
            concatMap((both) => (both === 'ab' ? of(request) : throwError(() => new Error(both)))),
          );
        });
        const clerk = agent({ name: 'clerk', model: model(['c|']), use: [twice] });
        expectEvents(run(clerk, 'Go.'), ENDS).toBe('------(e|)');
        expectSubscriptions(side.subscriptions[0] ?? []).toBe('^-!');
        expectSubscriptions(side.subscriptions[1] ?? []).toBe('--^--!');
      },
      { equal },
    ));
});
