import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import type { RunTrace } from './case.js';
import { compareCase, type Golden } from './compare.js';
import { call, check, document, GOLDEN, node, RUN, VALUES } from './support/golden.js';

describe('every parity', () => {
  check([
    { name: 'accepts the golden run itself', change: {} },
    {
      name: 'tells the outcome',
      change: { outcome: 'failed', error: 'boom' },
      differs: 'run 1.outcome: expected "finished", received "failed" (boom)',
    },
    { name: 'tells the answer', change: { answer: 'one  two' }, differs: 'run 1.answer' },
    {
      name: 'tells an output',
      change: { nodes: { ...RUN.nodes, begin: node({ n: 6 }) } },
      differs: 'nodes.begin.outputs.n: expected 5, received 6',
    },
    {
      name: 'tells a number from its text',
      change: { nodes: { ...RUN.nodes, begin: node({ n: '5' }) } },
      differs: 'nodes.begin.outputs.n',
    },
    {
      name: 'tells an output too many',
      change: { nodes: { ...RUN.nodes, begin: node({ n: 5, x: 1 }) } },
      differs: 'nodes.begin.outputs.x',
    },
    {
      name: 'lets an output that is null be absent',
      change: { nodes: { ...RUN.nodes, begin: node({ n: 5, x: null }) } },
    },
    { name: 'lets private outputs be', change: { nodes: { ...RUN.nodes, begin: node({ n: 5, _cost: 1 }) } } },
    {
      name: 'compares the branch taken',
      change: { nodes: { ...RUN.nodes, begin: node({ n: 5, _next: ['m'] }) } },
      differs: 'nodes.begin.outputs._next',
    },
    { name: 'lets empty downloads be absent', change: { nodes: { ...RUN.nodes, m: node({ content: 'one two' }) } } },
    {
      name: 'tells downloads',
      change: { nodes: { ...RUN.nodes, m: node({ content: 'one two', downloads: [1] }) } },
      differs: 'nodes.m.outputs.downloads',
    },
    {
      name: 'tells how often a node ran',
      change: { nodes: { ...RUN.nodes, m: node({ content: 'one two' }, { runs: 2 }) } },
      differs: 'nodes.m.runs: expected 1, received 2',
    },
    {
      name: 'tells a node that did not run',
      change: { nodes: { begin: node({ n: 5 }) } },
      differs: 'nodes.m: did not run',
    },
    {
      name: 'tells a node that ran',
      change: { nodes: { ...RUN.nodes, z: node({}) } },
      differs: 'nodes.z: must not have run',
    },
    {
      name: 'tells an error',
      change: { nodes: { ...RUN.nodes, begin: node({ n: 5 }, { error: 'x' }) } },
      differs: 'nodes.begin.error',
    },
    { name: 'tells a global', change: { globals: { ...RUN.globals, 'sys.query': '' } }, differs: 'globals.sys.query' },
    { name: 'tells a global too many', change: { globals: { ...RUN.globals, 'env.k': 1 } }, differs: 'globals.env.k' },
    {
      name: 'tells the history',
      change: { globals: { ...RUN.globals, 'sys.history': ['user: q'] } },
      differs: 'globals.sys.history',
    },
    { name: 'tells the user inputs', change: { user_inputs: { inputs: {}, tips: '' } }, differs: 'user_inputs' },
    { name: 'tells a model call', change: { model_calls: [call('first'), call('third')] }, differs: 'model_calls[1]' },
    { name: 'tells a missing model call', change: { model_calls: [call('first')] }, differs: 'model_calls' },
    {
      name: 'lets calls be that nobody observes',
      golden: { ...GOLDEN, observe_calls: false },
      change: { model_calls: [] },
    },
  ]);

  it('tells a run that is missing', () => {
    expect(compareCase(GOLDEN, { runs: [] })).toEqual(['number of runs: expected 1, received 0']);
  });

  it('tells a document that was refused', () => {
    expect(compareCase(GOLDEN, { loadError: 'no' })).toEqual([
      'load: expected the document to load, but it was refused: no',
    ]);
  });

  it('wants a broken document refused, whatever the words', () => {
    const refused: Golden = { ...GOLDEN, expect: undefined, expect_load_error: "Python's words" };
    expect(compareCase(refused, { loadError: 'ours' })).toEqual([]);
    expect(compareCase(refused, { runs: [RUN] })).toEqual([
      'load: expected the document to be refused, but it was loaded',
    ]);
  });
});

describe('nodes that are special', () => {
  const branch = golden('s', 'Switch', { next: ['Yes'], _next: ['y'] });
  const item = golden('li', 'LoopItem', {}, 3);
  const sheet = golden('x', 'ExcelProcessor', { markdown: null, attachment: { format: 'csv', file_name: 'a.csv' } });
  const dump: Golden = {
    ...GOLDEN,
    expect: [{ ...RUN, globals: { 'sys.history': ['user: q', 'assistant: {"n": 5}'] } }],
  };
  check([
    {
      name: 'display names of a branch may be absent',
      golden: branch,
      change: { nodes: { s: node({ _next: ['y'] }) } },
    },
    {
      name: 'display names that are there must match',
      golden: branch,
      change: { nodes: { s: node({ next: ['No'], _next: ['y'] }) } },
      differs: 'nodes.s.outputs.next',
    },
    {
      name: 'the branch itself must be there',
      golden: branch,
      change: { nodes: { s: node({}) } },
      differs: 'nodes.s.outputs',
    },
    {
      name: 'an item node may leave out its closing visit',
      golden: item,
      change: { nodes: { li: node({}, { runs: 2 }) } },
    },
    {
      name: 'an item node may leave out no pass',
      golden: item,
      change: { nodes: { li: node({}, { runs: 1 }) } },
      differs: 'nodes.li.runs',
    },
    {
      name: 'an item node has no visit more',
      golden: item,
      change: { nodes: { li: node({}, { runs: 4 }) } },
      differs: 'nodes.li.runs',
    },
    {
      name: 'a sheet may be laid out in any way, its file have any id',
      golden: sheet,
      change: {
        nodes: { x: node({ markdown: '|a|', attachment: { doc_id: 'f', format: 'csv', file_name: 'a.csv' } }) },
      },
    },
    {
      name: 'the name of a file must match',
      golden: sheet,
      change: { nodes: { x: node({ attachment: { format: 'csv', file_name: 'b.csv' } }) } },
      differs: 'attachment.file_name',
    },
    {
      name: 'dumps in the history may differ',
      golden: dump,
      change: { globals: { 'sys.history': ['user: q', 'assistant: {n: 5}'] } },
    },
    {
      name: 'other lines of the history may not',
      golden: dump,
      change: { globals: { 'sys.history': ['user: p', 'assistant: {n: 5}'] } },
      differs: 'history[0]',
    },
    {
      name: 'a dump must have its line',
      golden: dump,
      change: { globals: { 'sys.history': ['user: q'] } },
      differs: 'sys.history',
    },
  ]);
});

describe('a failed run', () => {
  const model: Golden['model'] = { rules: [{ when: {}, error: 'quota' }] };
  const failed: RunTrace = {
    ...RUN,
    outcome: 'failed',
    nodes: { m: node({}, { error: '**ERROR**: quota' }) },
    answer: 'so far',
  };
  const golden: Golden = { ...GOLDEN, model, expect: [failed] };
  check([
    {
      name: 'may differ in everything but its errors and its answer',
      golden,
      change: {
        events: [],
        globals: {},
        workflow_outputs: null,
        nodes: { m: node({ x: 1 }, { error: 'Model: quota' }), z: node({}) },
      },
    },
    {
      name: 'must mention what the model said',
      golden,
      change: { nodes: { m: node({}, { error: 'failed' }) } },
      differs: 'nodes.m.error: expected a text that mentions "quota"',
    },
    {
      name: 'may have any other text of an error',
      golden: { ...golden, model: null },
      change: { nodes: { m: node({}, { error: 'failed' }) } },
    },
    {
      name: 'must have the error on its node',
      golden,
      change: { nodes: { begin: node({}, { error: 'quota' }) } },
      differs: 'nodes.m.error',
    },
    {
      name: 'must have no error more',
      golden,
      change: { nodes: { ...failed.nodes, begin: node({}, { error: 'quota' }) } },
      differs: 'nodes.begin.error',
    },
    { name: 'must have said the same', golden, change: { answer: '' }, differs: 'answer' },
  ]);
});

describe('a canceled run', () => {
  const golden: Golden = { ...VALUES, expect: [{ ...RUN, outcome: 'canceled' }] };
  check([
    { name: 'may have done less', golden, change: { nodes: {}, events: [], answer: '' } },
    {
      name: 'must not have gone on',
      golden,
      change: { nodes: { after: node({}) } },
      differs: 'nodes.after: must not have run',
    },
    { name: 'must be canceled', golden, change: { outcome: 'finished' }, differs: 'outcome' },
  ]);
});

describe('a quirk', () => {
  const quirk: Golden = {
    ...GOLDEN,
    parity: 'quirk',
    clean: {
      any_of: [
        { load_error: true },
        { runs: [{ outcome: 'failed' }] },
        { runs: [{ outcome: 'finished', answer: 'clean' }] },
      ],
    },
  };
  check([
    { name: 'may end as one of the clean results', golden: quirk, change: { answer: 'clean', nodes: {}, events: [] } },
    { name: 'may give any answer where none is named', golden: quirk, change: { outcome: 'failed' } },
    { name: "need not be Python's trace", golden: quirk, change: {}, differs: 'quirk: expected one of' },
    { name: 'must be listed', golden: quirk, change: { outcome: 'waiting' }, differs: 'quirk: expected one of' },
  ]);

  it('may be refused where that is listed, and only there', () => {
    expect(compareCase(quirk, { loadError: 'no' })).toEqual([]);
    const runsOnly: Golden = { ...quirk, clean: { any_of: [{ runs: [{ outcome: 'failed' }] }] } };
    expect(compareCase(runsOnly, { loadError: 'no' })).toHaveLength(1);
  });

  it('must have as many runs as the result', () => {
    const failed: RunTrace = { ...RUN, outcome: 'failed' };
    expect(compareCase(quirk, { runs: [failed, failed] })).toHaveLength(1);
  });
});

/** A case whose only node is of one type. */
function golden(id: string, type: string, outputs: JsonObject, runs = 1): Golden {
  return {
    ...GOLDEN,
    dsl: document({ [id]: [type, []] }),
    expect: [{ ...RUN, events: [], nodes: { [id]: node(outputs, { runs }) } }],
  };
}
