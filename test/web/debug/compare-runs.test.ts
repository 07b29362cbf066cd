import { describe, expect, it } from 'vitest';
import type { RunPicture } from '../../../src/canvas/picture/picture.js';
import { PictureFold } from '../../../src/canvas/picture/picture-fold.js';
import { compareRuns } from '../../../web/debug/compare-runs.js';
import { planFork } from '../../../web/debug/fork-plan.js';
import { changesOf, editables, textOf } from '../../../web/debug/value-edits.js';
import { RunScript } from '../support/run-script.js';

const pictureOf = ({ events }: RunScript, until = Number.POSITIVE_INFINITY): RunPicture => {
  const fold = new PictureFold({ nodes: ['ask', 'write', 'send'].map((id) => ({ id })) });
  for (const event of events) if (event.seq <= until) fold.add(event);
  return fold.picture;
};

const told = (steps: ReturnType<typeof compareRuns>) =>
  steps.map(({ node, within = '', place, difference }) => `${within}/${node.id}#${place} ${difference}`);

describe('compareRuns', () => {
  it('aligns by node and pass, whatever else ran in between', () => {
    const [a, b] = [new RunScript('a'), new RunScript('b')];
    for (const round of ['0', '1']) a.settle(a.start('write', `loop/${round}`), 5, { text: `draft ${round}` });
    b.settle(b.start('ask'), 5);
    for (const round of ['0', '1', '2']) b.settle(b.start('write', `loop/${round}`), 9, { text: 'draft 0' });
    expect(told(compareRuns(pictureOf(a), pictureOf(b)))).toEqual([
      '/ask#1 only-b',
      'loop/0/write#1 same',
      'loop/1/write#1 different',
      'loop/2/write#1 only-b',
    ]);
  });

  it('says what a fork took over, and what it did otherwise', () => {
    const [a, b] = [new RunScript('a'), new RunScript('b')];
    a.settle(a.start('ask'), 5, { text: 'how old?' });
    const forkedAt = a.events.length;
    a.fail(a.start('write'), 5);
    b.settle(b.start('write'), 5, { text: '89 years' });
    expect(told(compareRuns(pictureOf(a), pictureOf(b), { forkedAt }))).toEqual(['/ask#1 kept', '/write#1 different']);
    expect(told(compareRuns(pictureOf(a), pictureOf(b)))).toEqual(['/ask#1 only-a', '/write#1 different']);
  });

  it('takes the last of several tries', () => {
    const [a, b] = [new RunScript('a'), new RunScript('b')];
    a.fail(a.start('write'), 5);
    a.settle(a.start('write', undefined, 2), 5, { text: 'x' });
    b.settle(b.start('write'), 5, { text: 'x' });
    expect(told(compareRuns(pictureOf(a), pictureOf(b)))).toEqual(['/write#1 same']);
  });
});

describe('planFork', () => {
  it('keeps what had finished, repeats what was at work or failed, and names what has not begun', () => {
    const script = new RunScript();
    script.settle(script.start('ask'), 5);
    script.start('write');
    const { kept, again, later } = planFork(pictureOf(script));
    expect([kept, again, later].map((nodes) => nodes.map(({ node }) => node.id))).toEqual([
      ['ask'],
      ['write'],
      ['send'],
    ]);
  });

  it('counts what is not paid for again', () => {
    const script = new RunScript();
    const ask = script.start('ask');
    script.add({ type: 'node-usage', ...ask, promptTokens: 10, completionTokens: 2, totalTokens: 12 });
    script.settle(ask, 5);
    const failed = script.start('write');
    script.add({ type: 'node-usage', ...failed, promptTokens: 50, completionTokens: 0, totalTokens: 50 });
    script.fail(failed, 5);
    expect(planFork(pictureOf(script))).toMatchObject({ savedTokens: 12, savedCalls: 1 });
  });
});

describe('changes before a run goes on', () => {
  const values = editables({ 'LLM:A': { content: 'old', count: 3 } }, { 'sys.query': 'q', list: [1] });

  it('are texts for texts and JSON for everything else, and only what was changed', () => {
    const edits = new Map([
      ['output LLM:A@content', '{"not": "read"}'],
      ['output LLM:A@count', '4'],
      ['variable sys.query', 'q'],
      ['variable list', '[1, 2]'],
    ]);
    expect(changesOf(values, edits)).toEqual({
      outputs: { 'LLM:A': { content: '{"not": "read"}', count: 4 } },
      variables: { list: [1, 2] },
      broken: [],
    });
  });

  it('name what is no JSON', () => {
    expect(changesOf(values, new Map([['variable list', '[1,']]))).toEqual({ broken: ['variable list'] });
    expect(textOf([1])).toBe('[\n  1\n]');
  });
});
