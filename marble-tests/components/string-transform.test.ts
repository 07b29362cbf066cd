import { isObservable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { stringTransform } from '../../src/components/string-transform.js';
import { planOf } from '../../src/graph/build.js';
import { type NodeEvent, settled, warning } from '../../src/graph/node-events.js';
import { activationOf, nodeOf } from '../../test/components/text-activation.js';
import { marbles } from '../support/scheduler.js';
import { said } from './data-run.js';

const work = (params: object) => {
  const outputs = { n: { list: ['a', 'b'], text: 'a,b' } };
  return nodeOf(stringTransform, params as never)(activationOf({ outputs }));
};

describe('StringTransform', () => {
  it('splits in no time, without an Observable', () => {
    expect(work({ split_ref: 'n@text' })).toEqual(settled({ result: ['a', 'b'] }));
  });

  it('merges in no time, without an Observable', () => {
    expect(work({ method: 'merge', script: '<{n@list}>' })).toEqual(settled({ result: '<a,b>' }));
  });

  it('warns in the same tick before it settles', () =>
    marbles(({ expectObservable }) => {
      const result = work({ method: 'merge', script: '<{n@none}>' });
      expect(isObservable(result)).toBe(true);
      if (!isObservable(result)) return;
      const values: Record<string, NodeEvent> = {
        w: warning('"n@none" names no value; it reads as empty text.'),
        s: settled({ result: '<>' }),
      };
      expectObservable(result).toBe('(ws|)', values);
    }));

  it('fails by throwing, before anything is subscribed', () => {
    expect(() => work({ split_ref: 'n@list' })).toThrow(/Only a text can be split/);
  });

  it('works in the frame in which its text comes, and does not run when the run is left before', () =>
    marbles(({ cold, expectObservable }) => {
      const given$ = cold<NodeEvent>('--(s|)', { s: settled({ text: 'a,b' }) });
      const plan = planOf(
        { given: () => given$, x: nodeOf(stringTransform, { split_ref: 'given@text' }), after: () => ({}) },
        [
          ['given', 'x'],
          ['x', 'after'],
        ],
      );
      const values = { x: { x: { result: ['a', 'b'] } }, a: { after: {} } };

      expectObservable(said(plan, ['x', 'after'])).toBe('--(xa|)', values);
      expectObservable(said(plan, ['x', 'after']), '^!').toBe('-');
    }));

  it('does not run when what gives its text fails', () =>
    marbles(({ cold, expectObservable }) => {
      const given$ = cold<NodeEvent>('--#');
      const plan = planOf({ given: () => given$, x: nodeOf(stringTransform, { split_ref: 'given@text' }) }, [
        ['given', 'x'],
      ]);

      expectObservable(said(plan, ['x'])).toBe('--|');
    }));
});
