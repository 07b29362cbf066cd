import type { Observable } from 'rxjs';
import { describe, it } from 'vitest';
import { message } from '../../src/components/message.js';
import { EngineError } from '../../src/errors.js';
import { delta, type NodeEvent, notice, settled } from '../../src/graph/node-events.js';
import { activationOf, nodeOf, type Surroundings } from '../../test/components/text-activation.js';
import { marbles } from '../support/scheduler.js';

const say = (content: string, around: Surroundings, params = {}) =>
  nodeOf(message, { content, ...params })(activationOf(around)) as Observable<NodeEvent>;

const text = (value: string) => delta('content', value);
const thought = (value: string) => delta('thinking', value);
const end = notice('message-ended');
const done = (content: string) => settled({ content, downloads: [] });

describe('Message', () => {
  it('writes what is settled at once and passes live text on as it comes', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const a = cold('     --x---y-|', { x: text('he'), y: text('llo') });
      const b = cold('             -k-z|', { k: thought('hm'), z: text('you') });
      const expected = '   p-x---y-qk-z(res|)';
      const around = { outputs: { a: null, b: null }, live: { 'a@content': a, 'b@content': b } };
      expectObservable(say('A:{a@content},{b@content}.', around)).toBe(expected, {
        p: text('A:'),
        x: text('he'),
        y: text('llo'),
        q: text(','),
        k: thought('hm'),
        z: text('you'),
        r: text('.'),
        e: end,
        s: done('A:hello,hmyou.'),
      });
      expectSubscriptions(a.subscriptions).toBe('^-------!');
      expectSubscriptions(b.subscriptions).toBe('--------^---!');
    }));

  it('reads a text once that it says twice', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const l = cold('     --x-y|', { x: text('o'), y: text('k') });
      const around = { outputs: { l: null }, live: { 'l@content': l } };
      const values = { x: text('o'), y: text('k'), r: text('/ok'), e: end, s: done('ok/ok') };
      expectObservable(say('{l@content}/{l@content}', around)).toBe('--x-y(res|)', values);
      expectSubscriptions(l.subscriptions).toBe('^----!');
    }));

  it('ends when the text that it reads fails, without settling', () =>
    marbles(({ cold, expectObservable }) => {
      const failure = new EngineError('MODEL_UNAVAILABLE', 'quota');
      const l = cold('     --x-#', { x: text('o') }, failure);
      const around = { outputs: { l: null }, live: { 'l@content': l } };
      expectObservable(say('{l@content}!', around)).toBe('--x-#', { x: text('o') }, failure);
    }));

  it('stops reading when it is stopped', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const l = cold('     --x-y-z-', { x: text('1'), y: text('2'), z: text('3') });
      const around = { outputs: { l: null }, live: { 'l@content': l } };
      expectObservable(say('{l@content}', around), '^----!').toBe('--x-y-', { x: text('1'), y: text('2') });
      expectSubscriptions(l.subscriptions).toBe('^----!');
    }));

  it('says everything at once when nothing is live', () =>
    marbles(({ expectObservable }) => {
      const around = { outputs: { n: { a: 'x' } } };
      expectObservable(say('{n@a}!', around)).toBe('(des|)', { d: text('x!'), e: end, s: done('x!') });
    }));
});
