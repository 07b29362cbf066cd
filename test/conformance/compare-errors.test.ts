import { describe, expect, it } from 'vitest';
import type { RunTrace } from './case.js';
import { compareCase, type Golden } from './compare.js';
import { check, GOLDEN, node, RUN } from './support/golden.js';

describe('an answer that quotes an error', () => {
  const rescued = (error: string, text: string): RunTrace => ({
    ...RUN,
    events: [],
    nodes: { bad: node({ _ERROR: error }, { error }), m: node({ content: text }) },
    answer: text,
    globals: { 'sys.history': ['user: q', `assistant: ${text}`] },
    workflow_outputs: { content: text },
  });
  const golden: Golden = { ...GOLDEN, expect: [rescued('not a list', 'sorry: not a list')] };
  check([
    { name: 'may quote our words', golden, change: rescued('no list at all', 'sorry: no list at all') },
    {
      name: 'must quote them in their place',
      golden,
      change: rescued('no list at all', 'no list at all, sorry'),
      differs: 'answer',
    },
    { name: 'must quote them', golden, change: rescued('no list at all', 'sorry: '), differs: 'answer' },
    {
      name: 'must quote the error that happened',
      golden,
      change: rescued('no list at all', 'sorry: empty'),
      differs: 'answer',
    },
  ]);

  it('may quote them in a later run', () => {
    const later = (text: string): RunTrace => ({ ...RUN, answer: text });
    const twice: Golden = { ...golden, expect: [rescued('a', 'x a'), later('before: a')] };
    expect(compareCase(twice, { runs: [rescued('ours', 'x ours'), later('before: ours')] })).toEqual([]);
    expect(compareCase(twice, { runs: [rescued('ours', 'x ours'), later('before: b')] })).not.toEqual([]);
  });
});
