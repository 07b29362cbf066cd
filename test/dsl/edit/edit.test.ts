import { describe, expect, it } from 'vitest';
import { toV1 } from '../../../src/dsl/convert.js';
import type { Document } from '../../../src/dsl/document.js';
import {
  addComponent,
  addVariable,
  changeId,
  changeParams,
  changeVariable,
  connect,
  copyComponents,
  disconnect,
  type Edit,
  handleErrors,
  moveComponents,
  pasteComponents,
  placeComponents,
  readersOfVariable,
  removeComponents,
  removeVariable,
  renameComponent,
  renameVariable,
  resizeContainer,
  whyNotConnected,
  wrapComponents,
} from '../../../src/dsl/edit/index.js';
import { parseDocument, readDocument } from '../../../src/dsl/read.js';
import type { Json, JsonObject } from '../../../src/json.js';

type Node = readonly [type: string, downstream: readonly string[], params?: JsonObject, parent?: string];

function documentOf(nodes: Readonly<Record<string, Node>>): Document {
  const components = Object.fromEntries(
    Object.entries(nodes).map(([id, [component_name, downstream, params = {}, parent_id]]) => [
      id,
      { obj: { component_name, params }, downstream, ...(parent_id && { parent_id }) },
    ]),
  );
  const { document } = readDocument({ components });
  if (document === undefined) throw new Error('a test document cannot be read');
  return document;
}

function done(edit: Edit): Document {
  if (edit.refused !== undefined) throw new Error(edit.refused.message);
  return edit.document;
}

const codeOf = (edit: Edit): string | undefined => edit.refused?.code;

const edgesOf = (document: Document): readonly string[] =>
  ((document.graph?.edges ?? []) as readonly JsonObject[]).map(
    ({ source, sourceHandle, target }) => `${source} ${sourceHandle} ${target}`,
  );

const nodeOf = (document: Document, id: string): JsonObject | undefined =>
  ((document.graph?.nodes ?? []) as readonly JsonObject[]).find((node) => node.id === id);

const SWITCH = {
  conditions: [
    { logical_operator: 'and', items: [{ cpn_id: 'LLM:A@content', operator: '=', value: '1' }], to: ['Message:B'] },
  ],
  end_cpn_ids: ['Message:C'],
};

const DESK = documentOf({
  begin: ['Begin', ['LLM:A']],
  'LLM:A': ['LLM', ['Switch:S'], { llm_id: 'm', prompts: [{ role: 'user', content: '{sys.query}' }] }],
  'Switch:S': ['Switch', ['Message:B', 'Message:C'], SWITCH],
  'Message:B': ['Message', [], { content: ['{LLM:A@content} and {{ llm_a@content }}, mail llm@a.org'] }],
  'Message:C': ['Message', []],
});

describe('addComponent', () => {
  it('adds a component with a free id, a name and a node at its place', () => {
    const edit = addComponent(DESK, { type: 'LLM', params: { llm_id: 'x' }, place: { x: 5, y: 6 } });
    expect(edit).toMatchObject({ ids: ['LLM:1'] });
    const document = done(edit);
    expect(document.components['LLM:1']).toEqual({
      id: 'LLM:1',
      type: 'LLM',
      name: 'LLM_0',
      params: { llm_id: 'x' },
      downstream: [],
    });
    expect(nodeOf(document, 'LLM:1')).toMatchObject({
      position: { x: 5, y: 6 },
      data: { label: 'LLM', name: 'LLM_0', form: { llm_id: 'x' } },
    });
    // The others had no node: RAGFlow's editor would not have shown them.
    expect(edgesOf(document)).toEqual([
      'begin start LLM:A',
      'LLM:A start Switch:S',
      'Switch:S Case 1 Message:B',
      'Switch:S end_cpn_ids Message:C',
    ]);
  });

  it('adds a container with the start of its body, and nodes into that', () => {
    const edit = addComponent(DESK, { type: 'Loop' });
    expect(edit).toMatchObject({ ids: ['Loop:1', 'LoopItem:1'] });
    const inner = addComponent(done(edit), { type: 'LLM', parent: 'Loop:1', behind: { from: 'LoopItem:1' } });
    const document = done(inner);
    expect(document.components['LoopItem:1']).toMatchObject({ parent: 'Loop:1', downstream: ['LLM:1'] });
    expect(nodeOf(document, 'LLM:1')).toMatchObject({ parentId: 'Loop:1', extent: 'parent' });
    expect(codeOf(addComponent(DESK, { type: 'LLM', parent: 'LLM:A' }))).toBe('not-a-container');
  });

  it('puts a component into a connection, also into a case', () => {
    const plain = done(addComponent(DESK, { type: 'LLM', id: 'LLM:N', behind: { from: 'begin', to: 'LLM:A' } }));
    expect(plain.components.begin?.downstream).toEqual(['LLM:N']);
    expect(plain.components['LLM:N']?.downstream).toEqual(['LLM:A']);
    const way = { kind: 'case', index: 0 } as const;
    const chosen = done(
      addComponent(DESK, { type: 'LLM', id: 'LLM:N', behind: { from: 'Switch:S', way, to: 'Message:B' } }),
    );
    expect(chosen.components['Switch:S']).toMatchObject({
      params: { conditions: [{ to: ['LLM:N'] }] },
      downstream: ['Message:C', 'LLM:N'],
    });
    expect(edgesOf(chosen)).toContain('Switch:S Case 1 LLM:N');
    expect(edgesOf(chosen)).toContain('LLM:N start Message:B');
  });

  it.each([
    [{ type: 'Begin' }, 'second-entry'],
    [{ type: ' ' }, 'type-invalid'],
    [{ type: 'LLM', id: 'llm_a' }, 'id-taken'],
    [{ type: 'LLM', id: 'a b' }, 'id-invalid'],
    [{ type: 'LLM', id: ':a' }, 'id-invalid'],
    [{ type: 'LLM', name: '' }, 'name-invalid'],
    [{ type: 'LLM', parent: 'none' }, 'component-unknown'],
    [{ type: 'LLM', behind: { from: 'none' } }, 'component-unknown'],
    [{ type: 'LLM', behind: { from: 'begin', to: 'Message:B' } }, 'not-connected'],
  ])('refuses %j', (addition, code) => {
    expect(codeOf(addComponent(DESK, addition))).toBe(code);
  });
});

describe('connect and disconnect', () => {
  it('carry parameters, successors and the layout along', () => {
    const way = { kind: 'case', index: 0 } as const;
    const document = done(connect(DESK, { from: 'Switch:S', to: 'LLM:A', way }));
    expect(document.components['Switch:S']).toMatchObject({
      params: { conditions: [{ to: ['Message:B', 'LLM:A'] }] },
      downstream: ['Message:B', 'Message:C', 'LLM:A'],
    });
    expect(edgesOf(document)).toContain('Switch:S Case 1 LLM:A');
    const without = done(disconnect(document, { from: 'Switch:S', to: 'Message:B', way }));
    expect(without.components['Switch:S']?.downstream).toEqual(['Message:C', 'LLM:A']);
    expect(edgesOf(without)).not.toContain('Switch:S Case 1 Message:B');
  });

  it('lead out of an error', () => {
    const way = { kind: 'error' } as const;
    const document = done(connect(DESK, { from: 'LLM:A', to: 'Message:C', way }));
    expect(document.components['LLM:A']).toMatchObject({
      params: { exception_goto: ['Message:C'], exception_method: 'goto' },
      downstream: ['Switch:S'],
    });
  });

  it.each([
    [{ from: 'LLM:A', to: 'LLM:A' }, 'itself'],
    [{ from: 'LLM:A', to: 'begin' }, 'into-entry'],
    [{ from: 'LLM:A', to: 'Switch:S' }, 'already-connected'],
    [{ from: 'LLM:A', to: 'none' }, 'component-unknown'],
    [{ from: 'Switch:S', to: 'LLM:A', way: { kind: 'case', index: 7 } as const }, 'no-such-way'],
    [{ from: 'LLM:A', to: 'Message:B', way: { kind: 'category', name: 'x' } as const }, 'no-such-way'],
  ])('refuse %j', (connection, code) => {
    expect(whyNotConnected(DESK, connection)?.code).toBe(code);
    expect(codeOf(connect(DESK, connection))).toBe(code);
  });

  it('refuse to cross the border of a body', () => {
    const document = done(addComponent(DESK, { type: 'Loop' }));
    expect(codeOf(connect(document, { from: 'LoopItem:1', to: 'LLM:A' }))).toBe('other-body');
    expect(codeOf(connect(document, { from: 'Loop:1', to: 'LoopItem:1' }))).toBe('into-entry');
  });
});

describe('changeId', () => {
  it('follows references in every spelling, ways and the layout, and nothing else', () => {
    const laidOut = done(placeComponents(DESK, { 'LLM:A': { x: 1, y: 2 } }));
    const document = done(changeId(laidOut, 'LLM:A', 'LLM:Writer'));
    expect(Object.keys(document.components)).toEqual(['begin', 'LLM:Writer', 'Switch:S', 'Message:B', 'Message:C']);
    expect(document.components.begin?.downstream).toEqual(['LLM:Writer']);
    expect(document.components['Message:B']?.params).toEqual({
      content: ['{LLM:Writer@content} and {{ LLM:Writer@content }}, mail llm@a.org'],
    });
    expect(document.components['Switch:S']?.params).toMatchObject({
      conditions: [{ items: [{ cpn_id: 'LLM:Writer@content' }] }],
    });
    expect(JSON.stringify(document.graph)).not.toContain('LLM:A');
    expect(nodeOf(document, 'LLM:Writer')).toMatchObject({ position: { x: 1, y: 2 } });
    const other = done(changeId(DESK, 'Message:B', 'Message:Z'));
    expect(other.components['Switch:S']?.params).toMatchObject({ conditions: [{ to: ['Message:Z'] }] });
  });

  it('refuses ids that are taken, that references cannot spell, and another id for the start', () => {
    expect(codeOf(changeId(DESK, 'LLM:A', 'message:b'))).toBe('id-taken');
    expect(codeOf(changeId(DESK, 'LLM:A', 'LLM:A-1'))).toBe('id-invalid');
    expect(codeOf(changeId(DESK, 'begin', 'Start:A'))).toBe('entry-needed');
    expect(codeOf(changeId(DESK, 'LLM:A', 'llm_a'))).toBeUndefined();
  });
});

describe('renameComponent', () => {
  it('gives another display name, which is read again', () => {
    const document = done(renameComponent(DESK, 'LLM:A', 'Writer'));
    expect(parseDocument(toV1(document)).components['LLM:A']?.name).toBe('Writer');
    expect(codeOf(renameComponent(DESK, 'LLM:A', ' '))).toBe('name-invalid');
  });

  it('is refused where version 2 has no place for it', () => {
    const { document } = readDocument({
      version: 2,
      components: { begin_: { name: 'Begin', downstream: [], params: {} } },
    });
    expect(codeOf(renameComponent(document as Document, 'begin_', 'Start'))).toBe('no-names');
  });
});

describe('changeParams', () => {
  it('lets edges follow the choices, and the form follow the parameters', () => {
    const laidOut = done(placeComponents(DESK, {}));
    const document = done(changeParams(laidOut, 'Switch:S', { conditions: [], end_cpn_ids: ['LLM:A'] }));
    expect(document.components['Switch:S']?.downstream).toEqual(['LLM:A']);
    expect(edgesOf(document).filter((edge) => edge.startsWith('Switch:S'))).toEqual(['Switch:S end_cpn_ids LLM:A']);
    expect(nodeOf(document, 'Switch:S')).toMatchObject({ data: { form: { conditions: [], end_cpn_ids: ['LLM:A'] } } });
  });

  it('never keeps headers of a run, nor what would move the component into a body', () => {
    const document = done(changeParams(DESK, 'LLM:A', { custom_header: { a: 'secret' }, parent_id: 'Switch:S', x: 1 }));
    expect(document.components['LLM:A']?.params).toEqual({ x: 1 });
  });

  it('makes nodes of sub-agents, each with an id of its own', () => {
    const helper = { component_name: 'Agent', name: 'Helper', params: { llm_id: 'm', tools: [] } };
    const one = addComponent(DESK, { type: 'Agent', id: 'Agent:One', params: { tools: [helper] } });
    const two = done(addComponent(done(one), { type: 'Agent', id: 'Agent:Two', params: { tools: [helper] } }));
    expect(edgesOf(two)).toEqual(
      expect.arrayContaining(['Agent:One agentBottom Agent:1', 'Agent:Two agentBottom Agent:2']),
    );
    const without = done(changeParams(two, 'Agent:One', { tools: [] }));
    expect(nodeOf(without, 'Agent:1')).toBeUndefined();
    expect(nodeOf(without, 'Agent:2')).toBeDefined();
  });
});

describe('removeComponents', () => {
  it('deletes bodies, ways and nodes with a container, and leaves references as they are', () => {
    const wrapped = done(wrapComponents(DESK, ['LLM:A'], { type: 'Loop' }));
    const document = done(removeComponents(wrapped, ['Loop:1']));
    expect(Object.keys(document.components)).toEqual(['begin', 'Switch:S', 'Message:B', 'Message:C']);
    expect(document.components.begin?.downstream).toEqual([]);
    expect(document.components['Message:B']?.params).toEqual(DESK.components['Message:B']?.params);
    expect(((document.graph?.nodes ?? []) as readonly Json[]).length).toBe(4);
    const chosen = done(removeComponents(DESK, ['Message:B']));
    expect(chosen.components['Switch:S']).toMatchObject({
      params: { conditions: [{ to: [] }] },
      downstream: ['Message:C'],
    });
  });

  it('refuses the start, of the document and of a body', () => {
    const document = done(addComponent(DESK, { type: 'Loop' }));
    expect(codeOf(removeComponents(document, ['begin']))).toBe('entry-needed');
    expect(codeOf(removeComponents(document, ['LoopItem:1']))).toBe('entry-needed');
    expect(codeOf(removeComponents(document, ['Loop:1', 'LoopItem:1']))).toBeUndefined();
    expect(codeOf(removeComponents(document, []))).toBe('nothing');
    expect(codeOf(removeComponents(document, ['none']))).toBe('component-unknown');
  });
});

describe('wrapComponents', () => {
  it('leads into the container what led to its members, and out what they led to', () => {
    const laidOut = done(placeComponents(DESK, { 'LLM:A': { x: 500, y: 300 } }));
    const edit = wrapComponents(laidOut, ['LLM:A'], { type: 'Loop', params: { maximum_loop_count: 3 } });
    expect(edit).toMatchObject({ ids: ['Loop:1', 'LoopItem:1'] });
    const document = done(edit);
    expect(document.components.begin?.downstream).toEqual(['Loop:1']);
    expect(document.components['Loop:1']).toMatchObject({
      downstream: ['Switch:S'],
      params: { maximum_loop_count: 3 },
    });
    expect(document.components['LoopItem:1']).toMatchObject({ parent: 'Loop:1', downstream: ['LLM:A'] });
    expect(document.components['LLM:A']).toMatchObject({ parent: 'Loop:1', downstream: [] });
    // Where the member stood, it stands.
    const at = (id: string) => nodeOf(document, id)?.position as { x: number; y: number };
    expect({ x: at('Loop:1').x + at('LLM:A').x, y: at('Loop:1').y + at('LLM:A').y }).toEqual({ x: 500, y: 300 });
  });

  it('refuses starts, members of several bodies, and choices that lead out', () => {
    expect(codeOf(wrapComponents(DESK, ['begin', 'LLM:A'], { type: 'Loop' }))).toBe('second-entry');
    expect(codeOf(wrapComponents(DESK, ['Switch:S', 'Message:B'], { type: 'Loop' }))).toBe('leads-out');
    expect(codeOf(wrapComponents(DESK, [], { type: 'Loop' }))).toBe('nothing');
    const inside = done(wrapComponents(DESK, ['LLM:A'], { type: 'Parallel' }));
    expect(codeOf(wrapComponents(inside, ['LLM:A', 'Message:B'], { type: 'Loop' }))).toBe('other-body');
  });
});

describe('copying and pasting', () => {
  it('gives new ids, keeps what the components say of each other and leaves out ways to others', () => {
    const clip = JSON.parse(JSON.stringify(copyComponents(DESK, ['begin', 'LLM:A', 'Switch:S', 'Message:B'])));
    const edit = pasteComponents(DESK, clip);
    expect(edit).toMatchObject({ ids: ['LLM:1', 'Switch:1', 'Message:1'] });
    const document = done(edit);
    expect(document.components['LLM:1']?.downstream).toEqual(['Switch:1']);
    expect(document.components['Switch:1']).toMatchObject({
      params: { conditions: [{ items: [{ cpn_id: 'LLM:1@content' }], to: ['Message:1'] }], end_cpn_ids: [] },
      downstream: ['Message:1'],
    });
    expect(document.components['Message:1']?.params).toMatchObject({
      content: ['{LLM:1@content} and {{ LLM:1@content }}, mail llm@a.org'],
    });
  });

  it('goes from one document to another, also of the other version', () => {
    const clip = copyComponents(done(wrapComponents(DESK, ['LLM:A'], { type: 'Loop' })), ['Loop:1']);
    const { document } = readDocument({
      version: 2,
      components: { begin_: { name: 'Begin', downstream: [], params: {} } },
    });
    const pasted = done(pasteComponents(document as Document, clip));
    expect(Object.values(pasted.components).map(({ id, parent }) => [id, parent])).toEqual([
      ['begin_', undefined],
      ['llm_1', 'loop_1'],
      ['loop_1', undefined],
      ['loopitem_1', 'loop_1'],
    ]);
  });

  it.each([
    ['text', 'hello'],
    ['another object', { kind: 'other' }],
    ['no components', { kind: 'runnel/components', components: [] }],
    ['a body that is not there', { kind: 'runnel/components', components: [{ ...one('A'), parent: 'Z' }] }],
    [
      'bodies in each other',
      {
        kind: 'runnel/components',
        components: [
          { ...one('A'), parent: 'B' },
          { ...one('B'), parent: 'A' },
        ],
      },
    ],
    ['one id twice', { kind: 'runnel/components', components: [one('A'), one('A')] }],
    ['a start', { kind: 'runnel/components', components: [{ ...one('A'), type: 'Begin' }] }],
  ])('refuses %s', (_, clip) => {
    expect(codeOf(pasteComponents(DESK, clip))).toBe('clip-invalid');
  });

  it('refuses more than a document may have', () => {
    const params = { list: Array.from({ length: 60_000 }, () => 0) };
    const clip = { kind: 'runnel/components', components: [{ ...one('A'), params }] };
    expect(codeOf(pasteComponents(DESK, clip))).toBe('too-large');
  });
});

function one(id: string) {
  return { id, type: 'LLM', name: id, params: {}, downstream: [] };
}

describe('placeComponents', () => {
  it('moves what it names, notes too, and nothing else', () => {
    const note = {
      id: 'Note:1',
      type: 'noteNode',
      position: { x: 0, y: 0 },
      data: { label: 'Note', form: { text: 'x' } },
    };
    const first = done(placeComponents({ ...DESK, graph: { nodes: [note], edges: [], zoom: 3 } }, {}));
    const next = done(
      placeComponents(first, { 'Note:1': { x: 7, y: 8 }, 'LLM:A': { x: 1, y: 2 }, gone: { x: 1, y: 1 } }),
    );
    expect(nodeOf(next, 'Note:1')).toEqual({ ...note, position: { x: 7, y: 8 } });
    expect(nodeOf(next, 'LLM:A')).toMatchObject({ position: { x: 1, y: 2 } });
    expect(nodeOf(next, 'Switch:S')).toEqual(nodeOf(first, 'Switch:S'));
    expect(next.graph?.zoom).toBe(3);
  });
});

describe('moveComponents', () => {
  const LOOPED = documentOf({
    begin: ['Begin', ['LLM:A']],
    'LLM:A': ['LLM', ['Switch:S']],
    'Switch:S': ['Switch', ['Message:B', 'Loop:L'], { ...SWITCH, end_cpn_ids: ['Loop:L'] }],
    'Loop:L': ['Loop', ['Message:C']],
    'LoopItem:I': ['LoopItem', ['LLM:In'], {}, 'Loop:L'],
    'LLM:In': ['LLM', ['LLM:Last'], {}, 'Loop:L'],
    'LLM:Last': ['LLM', [], {}, 'Loop:L'],
    'Message:B': ['Message', []],
    'Message:C': ['Message', []],
  });

  it('cuts what would cross the border of the body, and keeps the rest', () => {
    const edit = moveComponents(LOOPED, ['LLM:A', 'Switch:S'], { parent: 'Loop:L' });
    const document = done(edit);
    expect(edit).toMatchObject({
      ids: ['LLM:A', 'Switch:S'],
      cut: [
        { from: 'begin', to: 'LLM:A' },
        { from: 'Switch:S', to: 'Message:B' },
        { from: 'Switch:S', to: 'Loop:L' },
      ],
    });
    expect(document.components['LLM:A']).toMatchObject({ parent: 'Loop:L', downstream: ['Switch:S'] });
    expect(document.components['Switch:S']).toMatchObject({ parent: 'Loop:L', downstream: [] });
    expect(document.components['Switch:S']?.params).toMatchObject({ conditions: [{ to: [] }], end_cpn_ids: [] });
    expect(document.components.begin?.downstream).toEqual([]);
  });

  it('takes out of a body, into the one around it or none, with its own body', () => {
    const out = done(moveComponents(LOOPED, ['LLM:In', 'LLM:Last']));
    expect(out.components['LLM:In']).toEqual({ ...LOOPED.components['LLM:In'], parent: undefined });
    expect(Object.hasOwn(out.components['LLM:In'] as object, 'parent')).toBe(false);
    expect(out.components['LoopItem:I']?.downstream).toEqual([]);
    const outer = done(addComponent(LOOPED, { type: 'Iteration' }));
    const nested = done(moveComponents(outer, ['Loop:L', 'LLM:In'], { parent: 'Iteration:1' }));
    expect(nested.components['Loop:L']?.parent).toBe('Iteration:1');
    expect(nested.components['LLM:In']).toBe(outer.components['LLM:In']);
    expect(nested.components['LoopItem:I']).toBe(outer.components['LoopItem:I']);
  });

  it('keeps where everything stands on the canvas, and nodes of bodies behind their containers', () => {
    const placed = done(
      placeComponents(LOOPED, { 'LLM:A': { x: 500, y: 300 }, 'Loop:L': { x: 400, y: 100, width: 600, height: 300 } }),
    );
    const inside = done(moveComponents(placed, ['LLM:A'], { parent: 'Loop:L' }));
    expect(nodeOf(inside, 'LLM:A')).toMatchObject({
      parentId: 'Loop:L',
      extent: 'parent',
      position: { x: 100, y: 200 },
    });
    const order = ((inside.graph?.nodes ?? []) as readonly JsonObject[]).map(({ id }) => id);
    expect(order.indexOf('LLM:A')).toBeGreaterThan(order.indexOf('Loop:L'));
    const out = done(moveComponents(inside, ['LLM:A']));
    expect(nodeOf(out, 'LLM:A')).toMatchObject({ position: { x: 500, y: 300 } });
    expect(nodeOf(out, 'LLM:A')).not.toHaveProperty('parentId');
    expect(nodeOf(out, 'LLM:A')).not.toHaveProperty('extent');
    const there = done(moveComponents(placed, ['LLM:A'], { parent: 'Loop:L', places: { 'LLM:A': { x: 7, y: 8 } } }));
    expect(nodeOf(there, 'LLM:A')).toMatchObject({ position: { x: 7, y: 8 } });
  });

  it.each([
    [['none'], 'Loop:L', 'component-unknown'],
    [['LLM:A'], 'none', 'component-unknown'],
    [['LLM:A'], 'Message:B', 'not-a-container'],
    [['Loop:L'], 'Loop:L', 'itself'],
    [['begin'], 'Loop:L', 'second-entry'],
    [['LoopItem:I'], undefined, 'entry-needed'],
    [['LLM:In'], 'Loop:L', 'nothing'],
    [[], 'Loop:L', 'nothing'],
  ])('refuses %j into %s', (ids, parent, code) => {
    expect(codeOf(moveComponents(LOOPED, ids, { parent }))).toBe(code);
  });
});

describe('resizeContainer', () => {
  const BOX = documentOf({ begin: ['Begin', ['Parallel:P']], 'Parallel:P': ['Parallel', []], 'LLM:A': ['LLM', []] });

  it('changes nothing but the size of one node, as RAGFlow keeps it', () => {
    const placed = done(placeComponents(BOX, { 'Parallel:P': { x: 1, y: 2, width: 560, height: 260 } }));
    const nodes = ((placed.graph?.nodes ?? []) as readonly JsonObject[]).map((node) =>
      node.id === 'Parallel:P' ? { ...node, measured: { width: 560, height: 260 }, dragging: false } : node,
    );
    const before: Document = { ...placed, graph: { ...placed.graph, nodes, viewport: { zoom: 2 } } };
    const after = done(resizeContainer(before, 'Parallel:P', { width: 900, height: 500 }));
    const expected = JSON.parse(JSON.stringify(toV1(before)).replaceAll('560', '900').replaceAll('260', '500'));
    expect(JSON.stringify(toV1(after))).toBe(JSON.stringify(expected));
  });

  it('gives a document without a layout one, and refuses what has no body', () => {
    const document = done(resizeContainer(BOX, 'Parallel:P', { width: 900, height: 500 }));
    expect(nodeOf(document, 'Parallel:P')).toMatchObject({ width: 900, height: 500 });
    expect(codeOf(resizeContainer(BOX, 'LLM:A', { width: 1, height: 1 }))).toBe('not-a-container');
    expect(codeOf(resizeContainer(BOX, 'none', { width: 1, height: 1 }))).toBe('component-unknown');
  });
});

describe('handleErrors', () => {
  it('gives a component an exit, a value, or neither', () => {
    const exit = done(handleErrors(DESK, 'LLM:A', 'goto'));
    expect(exit.components['LLM:A']?.params).toEqual({ ...DESK.components['LLM:A']?.params, exception_method: 'goto' });
    const led = done(connect(exit, { from: 'LLM:A', to: 'Message:C', way: { kind: 'error' } }));
    expect(led.components['LLM:A']?.params).toMatchObject({
      exception_method: 'goto',
      exception_goto: ['Message:C'],
    });
    const value = done(handleErrors(led, 'LLM:A', 'comment'));
    expect(value.components['LLM:A']?.params).toMatchObject({
      exception_method: 'comment',
      exception_default_value: '',
      exception_goto: ['Message:C'],
    });
    const none = done(handleErrors(value, 'LLM:A', 'none'));
    expect(none.components['LLM:A']?.params).toEqual(DESK.components['LLM:A']?.params);
  });

  it('keeps a value that is there, and refuses starts', () => {
    const given = done(changeParams(DESK, 'LLM:A', { exception_default_value: 'sorry' }));
    const value = done(handleErrors(given, 'LLM:A', 'comment'));
    expect(value.components['LLM:A']?.params).toEqual({
      exception_default_value: 'sorry',
      exception_method: 'comment',
    });
    expect(codeOf(handleErrors(DESK, 'begin', 'goto'))).toBe('no-such-way');
    expect(codeOf(handleErrors(DESK, 'none', 'goto'))).toBe('component-unknown');
  });
});

describe('variables', () => {
  const USED = done(
    placeComponents(
      {
        ...documentOf({
          begin: ['Begin', ['LLM:A']],
          'LLM:A': ['LLM', ['Message:B'], { sys_prompt: 'Say {env.tone} or {{ env.tone.loud }}, not {env.tone_two}.' }],
          'Message:B': ['Message', [], { content: ['env.tone'], note: 'env.tone is a variable', ref: 'ENV.tone' }],
          'Message:C': ['Message', [], { content: ['{env.tone_two}'] }],
        }),
        variables: { tone: { name: 'tone', type: 'string', value: 'soft' }, tone_two: { type: 'number', value: 1 } },
        globals: { 'sys.query': '', 'env.tone': 'soft', 'env.tone_two': 1 },
      },
      {},
    ),
  );

  it('get another name in every reference, in the layout and in what runs begin with, and nothing else', () => {
    const document = done(renameVariable(USED, 'tone', 'voice'));
    expect(document.components['LLM:A']?.params.sys_prompt).toBe(
      'Say {env.voice} or {{ env.voice.loud }}, not {env.tone_two}.',
    );
    expect(document.components['Message:B']?.params).toEqual({
      content: ['env.voice'],
      note: 'env.tone is a variable',
      ref: 'ENV.voice',
    });
    expect(document.components['Message:C']).toBe(USED.components['Message:C']);
    expect(Object.entries(document.variables)).toEqual([
      ['voice', { name: 'voice', type: 'string', value: 'soft' }],
      ['tone_two', { type: 'number', value: 1 }],
    ]);
    expect(Object.keys(document.globals ?? {})).toEqual(['sys.query', 'env.voice', 'env.tone_two']);
    expect(JSON.stringify(nodeOf(document, 'LLM:A'))).toContain('{env.voice}');
    const back = done(renameVariable(document, 'voice', 'tone'));
    expect(JSON.stringify(toV1(back))).toBe(JSON.stringify(toV1(USED)));
  });

  it('are added, changed and removed, and say what names them', () => {
    const added = done(addVariable(USED, 'mood', { type: 'number', value: 2 }));
    expect(added.variables.mood).toEqual({ name: 'mood', type: 'number', value: 2 });
    const changed = done(changeVariable(added, 'mood', { name: 'mood', type: 'string', value: 'x' }));
    expect(changed.variables.mood).toEqual({ name: 'mood', type: 'string', value: 'x' });
    expect(readersOfVariable(USED, 'tone')).toEqual(['LLM:A', 'Message:B']);
    expect(readersOfVariable(USED, 'tone_two')).toEqual(['LLM:A', 'Message:C']);
    expect(readersOfVariable(added, 'mood')).toEqual([]);
    const removed = done(removeVariable(USED, 'tone'));
    expect(Object.keys(removed.variables)).toEqual(['tone_two']);
    expect(Object.keys(removed.globals ?? {})).toEqual(['sys.query', 'env.tone_two']);
    expect(removed.components).toBe(USED.components);
  });

  it('are refused under names that references cannot spell or that are taken', () => {
    expect(codeOf(addVariable(USED, 'tone', {}))).toBe('id-taken');
    expect(codeOf(addVariable(USED, 'a b', {}))).toBe('name-invalid');
    expect(codeOf(renameVariable(USED, 'tone', 'tone_two'))).toBe('id-taken');
    expect(codeOf(renameVariable(USED, 'tone', ''))).toBe('name-invalid');
    expect(codeOf(renameVariable(USED, 'none', 'x'))).toBe('variable-unknown');
    expect(codeOf(removeVariable(USED, 'none'))).toBe('variable-unknown');
    expect(codeOf(changeVariable(USED, 'none', {}))).toBe('variable-unknown');
    expect(codeOf(addVariable({ ...USED, version: 2 }, 'x', {}))).toBe('no-names');
  });
});
