import { describe, it } from 'vitest';
import { userFillUp } from '../../src/components/user-fill-up.js';
import { interrupt, settled, warning } from '../../src/graph/node-events.js';
import { checkpointOf, run } from '../../src/graph/run.js';
import type { RunOutcome } from '../../src/graph/run-options.js';
import type { Checkpoint } from '../../src/graph/state.js';
import { createNode, fakeActivation, perform } from '../support/activation.js';
import { marbles } from '../support/scheduler.js';
import { flow, words } from './flow-run.js';

const COLOR = { type: 'line', name: 'Color', optional: false };
const NOTE = { type: 'line', name: 'Note', optional: true };
const FORM = { tips: 'Which {env.what}?', inputs: { color: COLOR, note: NOTE } };
const variables = { 'env.what': 'color' };

const open = (field: object) => ({ ...field, value: null });

describe('UserFillUp', () => {
  it('waits for an answer', () =>
    marbles(({ expectObservable }) => {
      const node = createNode(userFillUp, FORM);
      const inputs = { color: open(COLOR), note: open(NOTE) };
      const values = { w: interrupt({ kind: 'form', inputs, tips: 'Which color?' }, { tips: 'Which color?' }) };

      expectObservable(perform(node, fakeActivation({ variables }))).toBe('(w|)', values);
    }));

  it('settles with what it is given, however little', () =>
    marbles(({ expectObservable }) => {
      const node = createNode(userFillUp, FORM);
      const asked = { variables, outputs: { node: { tips: 'Which color?' } } };
      const values = { s: settled({ tips: 'Which color?', note: 'n' }), e: settled({ tips: 'Which color?' }) };

      const partly$ = perform(node, fakeActivation({ ...asked, answer: { inputs: { note: 'n' } } }));
      const empty$ = perform(node, fakeActivation({ ...asked, answer: { inputs: {} } }));

      expectObservable(partly$).toBe('(s|)', values);
      expectObservable(empty$).toBe('(e|)', values);
    }));

  it('warns about tips that read nothing, and asks nevertheless', () =>
    marbles(({ expectObservable }) => {
      const node = createNode(userFillUp, { ...FORM, inputs: { color: COLOR } });
      const values = {
        n: warning('"env.what" names no value; it reads as empty text.'),
        w: interrupt({ kind: 'form', inputs: { color: open(COLOR) }, tips: 'Which ?' }, { tips: 'Which ?' }),
      };

      expectObservable(perform(node, fakeActivation())).toBe('(nw|)', values);
    }));

  it('stops a run beside other work, which goes on; the run waits when that is done', () =>
    marbles(({ expectObservable }) => {
      const plan = flow({
        begin: ['Begin', {}, ['ask', 'a']],
        ask: ['UserFillUp', FORM, ['b']],
        a: ['Work', { ms: 4 }],
        b: ['Work', { ms: 1 }],
      });
      const values = { w: 'ask?', a: 'a', i: 'run?' };

      expectObservable(words(run(plan, { input: {} }), 'ask', 'a', 'b', 'run')).toBe('w---(ai|)', values);
    }));

  it('goes on when the run is resumed with answers', () => {
    const plan = flow({ begin: ['Begin', {}, ['ask']], ask: ['UserFillUp', FORM, ['b']], b: ['Work', { ms: 2 }] });
    let checkpoint: Checkpoint | undefined;
    const whenEnded = ({ state }: RunOutcome): void => {
      checkpoint = checkpointOf(plan, state, 'r', 0, 0);
    };
    marbles(({ expectObservable, flush }) => {
      expectObservable(words(run(plan, { input: {} }, { whenEnded }), 'run')).toBe('(i|)', { i: 'run?' });
      flush();
      const start = { checkpoint: checkpoint as Checkpoint, answers: { inputs: { color: 'red' } } };
      expectObservable(words(run(plan, start), 'begin', 'ask', 'b', 'run')).toBe('a-(br|)', {
        a: 'ask',
        b: 'b',
        r: 'run',
      });
    });
  });

  it('never runs out of time', () =>
    marbles(({ expectObservable }) => {
      const plan = flow({
        begin: ['Begin', {}, ['ask', 'a']],
        ask: ['UserFillUp', FORM],
        a: ['Work', { ms: 500_000 }],
      });

      expectObservable(words(run(plan, { input: {} }), 'ask', 'run')).toBe('w 499999ms (i|)', { w: 'ask?', i: 'run?' });
    }));
});
