import { describe, expect, it } from 'vitest';
import type { ReadResult } from '../../src/dsl/document.js';
import { readDocument } from '../../src/dsl/read.js';
import { documentText } from './load-document.js';

const begin = { obj: { component_name: 'Begin', params: {} }, downstream: [], upstream: [] };

/** `severity code path` of every issue. */
function summary(result: ReadResult): string[] {
  return result.issues.map((issue) => `${issue.severity} ${issue.code} ${issue.path}`);
}

/** A version 1 document with a Begin and the given other components. */
function withComponents(others: object, top: object = {}): object {
  return { components: { begin, ...others }, ...top };
}

function component(fields: object = {}, params: unknown = {}): object {
  return { obj: { component_name: 'LLM', params }, downstream: [], ...fields };
}

describe('reading version 1', () => {
  const result = readDocument(documentText('parcel-desk.json'));
  const document = result.document;

  it('finds nothing wrong in a good document', () => expect(result.issues).toEqual([]));

  it('keeps declaration order, types and display names', () => {
    const components = Object.values(document?.components ?? {});
    expect(components.map(({ id, type, name }) => [id, type, name])).toEqual([
      ['begin', 'Begin', 'Start'],
      ['Categorize:Intent', 'Categorize', 'Categorize'],
      ['Loop:Tries', 'Loop', 'Loop'],
      ['LoopItem:First', 'LoopItem', 'LoopItem'],
      ['LLM:Guess', 'LLM', 'Guess the place'],
      ['Message:Found', 'Message', 'Message'],
      ['Message:Sorry', 'Message', 'Message'],
    ]);
  });

  it('names each successor once and takes bodies from entries and from the layout', () => {
    expect(document?.components['Categorize:Intent']?.downstream).toEqual(['Loop:Tries', 'Message:Sorry']);
    expect(document?.components['LoopItem:First']?.parent).toBe('Loop:Tries');
    expect(document?.components['LLM:Guess']?.parent).toBe('Loop:Tries');
  });

  it('strips bookkeeping and headers, and keeps what it does not know', () => {
    expect(document?.components.begin?.params).not.toHaveProperty('custom_header');
    expect(document?.components['Categorize:Intent']?.extra).toEqual({ colour: 'teal' });
    expect(document?.components['LLM:Guess']?.extra).toEqual({ obj: { note: 'kept' } });
    expect(document?.extra).toEqual({ reference: [], owner: 'logistics' });
  });

  it('reads the flat form, a template file, a byte order mark and a parsed value alike', () => {
    const flat = {
      components: { begin: { id: 'begin', name: 'Begin', params: { a: 1 }, downstream: ['x'] }, x: component() },
    };
    const expected = readDocument(withComponents({ x: component() })).document?.components.x;
    for (const source of [flat, { title: 't', dsl: flat }, JSON.stringify(flat), `\uFEFF${JSON.stringify(flat)}`]) {
      const read = readDocument(source);
      expect(read.issues).toEqual([]);
      expect(read.document?.components.begin?.params).toEqual({ a: 1 });
      expect(read.document?.components.x).toEqual(expected);
    }
  });

  it('neither changes nor shares what it is given', () => {
    const source = JSON.parse(documentText('parcel-desk.json'));
    const before = JSON.stringify(source);
    const read = readDocument(source).document;
    source.components.begin.obj.params.inputs.parcel.type = 'changed';
    expect(read?.components.begin?.params.inputs).toMatchObject({ parcel: { type: 'line' } });
    source.components.begin.obj.params.inputs.parcel.type = 'line';
    expect(JSON.stringify(source)).toBe(before);
  });

  it('uses the inner list of successors when the outer one is empty', () => {
    const x = { obj: { component_name: 'LLM', downstream: ['y'] }, downstream: [] };
    const read = readDocument(withComponents({ x, y: component() })).document;
    expect(read?.components.x?.downstream).toEqual(['y']);
  });

  it('gives successors and bodies the spelling of their keys', () => {
    const x = component({ downstream: ['loop_body'], parent_id: 'LOOP:Body' });
    const read = readDocument(withComponents({ x, 'Loop:Body': component() })).document;
    expect(read?.components.x).toMatchObject({ downstream: ['Loop:Body'], parent: 'Loop:Body' });
  });

  it('takes an empty list for no variables, as the editor writes it', () => {
    expect(readDocument(withComponents({}, { variables: [] })).issues).toEqual([]);
  });

  it.each([[[]], [[1]]])('refuses globals that are the list %j', (globals) => {
    const { issues } = readDocument(withComponents({}, { globals }));
    expect(issues).toMatchObject([{ code: 'wrong-type', severity: 'error', path: '$.globals' }]);
  });
});

describe('problems of version 1', () => {
  it.each<[string, object, string[]]>([
    [
      'a successor that does not exist',
      { x: component({ downstream: ['ghost'] }) },
      ['error downstream-unknown $.components.x.downstream'],
    ],
    ['an unknown body', { x: component({ parent_id: 'ghost' }) }, ['error parent-unknown $.components.x.parent_id']],
    ['an entry that is no object', { x: 'LLM' }, ['error wrong-type $.components.x']],
    ['params that are a list', { x: component({}, []) }, ['error wrong-type $.components.x.obj.params']],
    [
      'obj that is a text',
      { x: { obj: 'LLM' } },
      ['error wrong-type $.components.x.obj', 'warning name-missing $.components.x.obj.component_name'],
    ],
    [
      'downstream that is a text',
      { x: component({ downstream: 'y' }) },
      ['error wrong-type $.components.x.downstream'],
    ],
    [
      'a successor that is a number',
      { 'LLM:x': component({ downstream: [7] }) },
      ['error wrong-type $.components["LLM:x"].downstream[0]'],
    ],
    [
      'a class name that is a number',
      { x: { obj: { component_name: 7 } } },
      ['error wrong-type $.components.x.obj.component_name'],
    ],
    [
      'an empty class name',
      { x: { obj: { component_name: ' ' } } },
      ['error name-empty $.components.x.obj.component_name'],
    ],
    [
      'no class name',
      { 'LLM:x': { downstream: [] } },
      ['warning name-missing $.components["LLM:x"].obj.component_name'],
    ],
    ['an empty id', { '': component() }, ['error id-invalid $.components[""]']],
    [
      'ids that differ only in spelling',
      { 'LLM:x': component(), llm_x: component() },
      ['warning id-duplicate $.components.llm_x'],
    ],
    ['an edge to itself', { x: component({ downstream: ['x'] }) }, ['warning self-edge $.components.x.downstream']],
    [
      'an edge into a body',
      { x: component({ downstream: ['y'] }), l: component(), y: component({ parent_id: 'l' }) },
      ['warning border-crossed $.components.x.downstream'],
    ],
    [
      'an edge out of a body',
      { l: component(), y: component({ parent_id: 'l', downstream: ['x'] }), x: component() },
      ['warning border-crossed $.components.y.downstream'],
    ],
    [
      'a circle of bodies',
      { a: component({ parent_id: 'b' }), b: component({ parent_id: 'a' }) },
      ['error parent-cycle $.components.a.parent_id'],
    ],
    [
      'a claimed predecessor that is none',
      { x: component({ upstream: ['begin'] }) },
      ['warning upstream-differs $.components.x.upstream'],
    ],
    ['a second Begin', { 'Begin:b': { ...begin } }, ['warning several-entries $.components']],
  ])('%s', (_, others, issues) => expect(summary(readDocument(withComponents(others)))).toEqual(issues));

  it.each<[string, object]>([
    [
      'a container that leads to its own first node',
      { l: component({ downstream: ['y'] }), y: component({ parent_id: 'l' }) },
    ],
    ['a way back', { x: component({ downstream: ['y'] }), y: component({ downstream: ['x'] }) }],
    [
      'a predecessor that leads here by a case',
      { x: component({}, { cases: [{ to: ['y'] }] }), y: component({ upstream: ['x'] }) },
    ],
    ['an id like a built-in name', { constructor: component({ downstream: ['toString'] }), toString: component() }],
  ])('allows %s', (_, others) => expect(readDocument(withComponents(others)).issues).toEqual([]));

  it.each<[string, object, string[]]>([
    ['history of a wrong type', { history: 'x' }, ['error wrong-type $.history']],
    [
      'several wrong parts at once',
      { path: {}, memory: 3, retrieval: 'r', graph: [] },
      [
        'error wrong-type $.path',
        'error wrong-type $.retrieval',
        'error wrong-type $.memory',
        'error wrong-type $.graph',
      ],
    ],
    ['a graph with wrong nodes', { graph: { nodes: {} } }, ['error wrong-type $.graph.nodes']],
    ['a variable that is a text', { variables: { 'my city': 'Oslo' } }, ['error wrong-type $.variables["my city"]']],
    ['globals that are a list of values', { globals: [1] }, ['error wrong-type $.globals']],
    ['globals that are an empty list', { globals: [] }, ['error wrong-type $.globals']],
  ])('%s', (_, top, issues) => {
    const result = readDocument(withComponents({}, top));
    expect(summary(result)).toEqual(issues);
    expect(result.document?.components.begin).toBeDefined();
  });

  it('says what was expected and what was received', () => {
    const { issues } = readDocument(withComponents({ x: component({ downstream: 'y' }) }));
    expect(issues[0]).toMatchObject({ message: 'expected a list, received the text "y"', component: 'x' });
  });

  it.each<[string, object, RegExp]>([
    ['no Begin', { x: component() }, /no Begin component/],
    ['Begin under another id', { start: begin }, /called "start"; runs start at the id "begin"/],
    ['an entry of another class', { begin: component() }, /no Begin component/],
  ])('refuses %s', (_, components, message) => {
    const { issues } = readDocument({ components });
    expect(issues).toMatchObject([{ code: 'no-entry', severity: 'error', message: expect.stringMatching(message) }]);
  });

  it.each(['begin', 'Begin', 'Begin:a', 'begin_'])('starts at %s', (id) =>
    expect(readDocument({ components: { [id]: begin } }).issues).toEqual([]),
  );

  it('refuses ingestion pipelines by name', () => {
    const file = { obj: { component_name: 'File' }, downstream: ['Parser:A'] };
    const parser = { obj: { component_name: 'Parser' } };
    const { issues } = readDocument({ components: { File: file, 'Parser:A': parser } });
    expect(issues).toMatchObject([{ code: 'ingestion-pipeline', message: expect.stringContaining('File, Parser') }]);
  });
});

describe('bodies that only a drawing or a parameter names', () => {
  const loop = component();

  it('warns about a frame that is no component', () => {
    const graph = { nodes: [{ id: 'x', parentId: 'frame' }] };
    expect(summary(readDocument(withComponents({ x: component() }, { graph })))).toEqual([
      'warning parent-unknown $.components.x.parent_id',
    ]);
  });

  it('takes a parameter for a body only when it names a component', () => {
    const read = readDocument(
      withComponents({
        'Loop:l': loop,
        x: component({}, { parent_id: 'loop_l' }),
        y: component({}, { parent_id: 'folder-7' }),
      }),
    );
    expect(read.issues).toEqual([]);
    expect(read.document?.components.x).toMatchObject({ parent: 'Loop:l', params: {} });
    expect(read.document?.components.y).not.toHaveProperty('parent');
    expect(read.document?.components.y?.params).toEqual({ parent_id: 'folder-7' });
  });

  it('lets the entry win over the drawing', () => {
    const graph = { nodes: [{ id: 'x', parentId: 'Loop:a' }] };
    const others = { 'Loop:a': loop, 'Loop:b': loop, x: component({ parent_id: 'Loop:b' }) };
    expect(readDocument(withComponents(others, { graph })).document?.components.x?.parent).toBe('Loop:b');
  });
});
