import { describe, expect, it } from 'vitest';
import { formatDocument, toV1, toV2, v1ToV2, v2ToV1 } from '../../src/dsl/convert.js';
import { parseDocument, readDocument } from '../../src/dsl/read.js';
import type { JsonObject } from '../../src/json.js';
import { documentText } from './load-document.js';

const v1 = JSON.parse(documentText('parcel-desk.json')) as JsonObject;
const v2 = JSON.parse(documentText('parcel-short.v2.json')) as JsonObject;

function componentsOf(value: JsonObject): Record<string, Record<string, unknown>> {
  return value.components as unknown as Record<string, Record<string, unknown>>;
}

describe('v1ToV2', () => {
  const { canvas, sidecar } = v1ToV2(v1);

  it('writes strict version 2 that reads without a complaint', () => {
    expect(readDocument(canvas).issues).toEqual([]);
    expect(Object.keys(canvas)).toEqual(['version', 'components']);
  });

  it('maps ids, successors and bodies, and keeps the text of parameters', () => {
    expect(componentsOf(canvas).categorize_intent).toMatchObject({
      id: 'categorize_intent',
      name: 'Categorize',
      downstream: ['loop_tries', 'message_sorry'],
      params: { category_description: { where: { to: ['Loop:Tries'] } } },
    });
    expect(componentsOf(canvas).llm_guess?.params).toMatchObject({
      parent_id: 'loop_tries',
      prompts: [{ content: 'Where is {begin@parcel}? Last: {LoopItem:First@note}' }],
    });
  });

  it('puts what version 2 cannot hold into the sidecar', () => {
    expect(sidecar).toMatchObject({
      keys: { begin_: 'begin', llm_guess: 'LLM:Guess' },
      globals: { 'env.city': 'Rome' },
      variables: { city: { value: 'Oslo' } },
      path: ['begin', 'Categorize:Intent'],
      extra: { owner: 'logistics' },
    });
  });

  it.each<[string, unknown, JsonObject]>([
    ['no obj', { downstream: [] }, { id: 'x_y', name: 'X', downstream: [], params: {} }],
    [
      'null params',
      { obj: { component_name: 'Q', params: null } },
      { id: 'x_y', name: 'Q', downstream: [], params: {} },
    ],
    [
      'bookkeeping at every level',
      {
        _feeded_deprecated_params: [],
        obj: {
          component_name: 'Q',
          _is_raw_conf: true,
          params: {
            k: 5,
            _user_feeded_params: { k: 7 },
            deep: [{ _deprecated_params: [], kept: 1 }],
            custom_header: {},
          },
        },
      },
      { id: 'x_y', name: 'Q', downstream: [], params: { k: 5, deep: [{ kept: 1 }] } },
    ],
    [
      'headers of tools',
      {
        obj: {
          component_name: 'Q',
          params: { tools: [{ params: { custom_header: { a: 1 }, b: { custom_header: 2 } } }] },
        },
      },
      { id: 'x_y', name: 'Q', downstream: [], params: { tools: [{ params: { b: { custom_header: 2 } } }] } },
    ],
  ])('%s', (_, entry, expected) => {
    expect(componentsOf(v1ToV2({ components: { 'X:y': entry } }).canvas).x_y).toEqual(expected);
  });

  it.each<[string, unknown, RegExp]>([
    ['nothing', null, /received null/],
    ['no components', { components: {} }, /no components/],
    ['an empty key', { components: { '': {} } }, /empty text as its id/],
    ['a key without a name', { components: { ':x': {} } }, /no name before/],
    ['a key without a second half', { components: { 'Agent:': {} } }, /nothing after/],
    ['keys that differ by case', { components: { 'A:x': {}, 'A:X': {} } }, /"A:x" and "A:X" would both become "a_x"/],
    ['a dangling successor', { components: { 'A:x': { downstream: ['B:y'] } } }, /"A:x" leads to "B:y"/],
  ])('refuses %s', (_, value, message) => {
    expect(() => v1ToV2(value)).toThrow(expect.objectContaining({ code: 'DOCUMENT_NOT_CONVERTIBLE' }));
    expect(() => v1ToV2(value)).toThrow(message);
  });
});

describe('v2ToV1', () => {
  it('writes an envelope that RAGFlow loads', () => {
    const result = v2ToV1(v2);
    expect(Object.keys(result)).toEqual([
      'components',
      'path',
      'history',
      'retrieval',
      'globals',
      'variables',
      'memory',
    ]);
    expect(Object.keys(componentsOf(result))).toEqual(['begin', 'Llm:x_y', 'Loop:a', 'Loopitem:x', 'Message:0']);
    expect(componentsOf(result)['Loop:a']).toEqual({
      downstream: ['Message:0'],
      obj: { component_name: 'Loop', params: {}, downstream: ['Message:0'] },
      upstream: ['begin'],
    });
    expect(componentsOf(result)['Llm:x_y']).toMatchObject({ parent_id: 'Loop:a', obj: { component_name: 'LLM' } });
    expect(readDocument(result).issues).toEqual([]);
  });

  it('gives components alone in the layout of the old converter', () => {
    const result = v2ToV1(v2, { componentsOnly: true });
    expect(Object.keys(result)).toEqual(['components']);
    expect(JSON.stringify(componentsOf(result).Begin)).toBe(
      '{"downstream":["Loop:a"],"obj":{"component_name":"Begin","params":{"prologue":"hi"},"downstream":["Loop:a"]}}',
    );
    expect(JSON.stringify(componentsOf(result)['Message:0'])).toBe(
      '{"downstream":[],"obj":{"component_name":"Message","params":{},"downstream":[]}}',
    );
  });

  it('gives the same bytes whatever the order of the input', () => {
    const reordered = {
      components: Object.fromEntries(
        Object.entries(v2.components as JsonObject)
          .reverse()
          .map(([id, entry]) => [id, Object.fromEntries(Object.entries(entry as JsonObject).reverse())]),
      ),
      version: 2,
    };
    const shuffledParams = { z: 1, a: { y: 2, b: 3 } };
    const sortedParams = { a: { b: 3, y: 2 }, z: 1 };
    const canvas = (params: object) => ({ version: 2, components: { begin_: { name: 'Begin', params } } });
    const bytes = (value: unknown, componentsOnly = false) => formatDocument(v2ToV1(value, { componentsOnly }));
    expect(bytes(reordered)).toBe(bytes(v2));
    expect(bytes(reordered, true)).toBe(bytes(v2, true));
    expect(bytes(canvas(shuffledParams), true)).toBe(bytes(canvas(sortedParams), true));
    // The order of form fields and categories means something, so whole documents keep it.
    expect(bytes(canvas(shuffledParams))).not.toBe(bytes(canvas(sortedParams)));
  });

  it('puts entries first, then orders by key', () => {
    const names = ['agent_a', 'begin_z', 'begin_', 'zeta_1', 'Beginner_1'];
    const components = Object.fromEntries(names.map((id) => [id, { name: id === 'begin_' ? 'Begin' : 'X' }]));
    const result = v2ToV1({ version: 2, components });
    expect(Object.keys(componentsOf(result))).toEqual(['Begin:z', 'begin', 'Agent:a', 'Beginner:1', 'Zeta:1']);
  });

  it('restores the original keys from a sidecar', () => {
    const { canvas, sidecar } = v1ToV2(v1);
    const back = v2ToV1(canvas, { sidecar });
    expect(new Set(Object.keys(componentsOf(back)))).toEqual(new Set(Object.keys(componentsOf(v1))));
    expect(back).toMatchObject({ owner: 'logistics', path: ['begin', 'Categorize:Intent'], graph: v1.graph });
  });

  it.each<[string, unknown, RegExp]>([
    ['undefined', undefined, /received nothing/],
    [
      'another version',
      { version: 1, components: { a_b: { name: 'A' } } },
      /expected the number 2, received the number 1/,
    ],
    ['no components', { version: 2, components: {} }, /no components/],
    ['a colon in an id', { version: 2, components: { 'a:b': { name: 'A' } } }, /colon/],
    ['an id without a name', { version: 2, components: { _b: { name: 'A' } } }, /no name before/],
    ['ids that become one key', { version: 2, components: { a: { name: 'A' }, a_: { name: 'A' } } }, /both become "A"/],
  ])('refuses %s', (_, value, message) => {
    expect(() => v2ToV1(value)).toThrow(expect.objectContaining({ code: 'DOCUMENT_NOT_CONVERTIBLE' }));
    expect(() => v2ToV1(value)).toThrow(message);
  });
});

describe('writing a document back', () => {
  const document = parseDocument(v1);

  it('keeps order, keys, unknown keys and state, and computes predecessors', () => {
    const written = toV1(document);
    expect(Object.keys(componentsOf(written))).toEqual(Object.keys(componentsOf(v1)));
    expect(componentsOf(written)['Categorize:Intent']).toMatchObject({ colour: 'teal', upstream: ['begin'] });
    expect(componentsOf(written)['LLM:Guess']).toMatchObject({
      parent_id: 'Loop:Tries',
      upstream: ['LoopItem:First'],
      obj: { note: 'kept' },
    });
    for (const key of ['path', 'history', 'retrieval', 'memory', 'variables', 'graph', 'owner', 'reference']) {
      expect(written[key]).toEqual(v1[key]);
    }
    expect(written).not.toHaveProperty('task_id');
    expect(JSON.stringify(written)).not.toMatch(/custom_header|_feeded|_user_feeded|_is_raw_conf|secret/);
  });

  it('reads back as the same document', () => {
    expect(parseDocument(formatDocument(toV1(document)))).toEqual(document);
  });

  it('survives version 2 with its sidecar', () => {
    const { canvas, sidecar } = toV2(document);
    const read = parseDocument(formatDocument(canvas), { sidecar: JSON.parse(JSON.stringify(sidecar)) });
    expect(read.components.llm_guess).toMatchObject({ name: 'Guess the place', parent: 'loop_tries' });
    expect(read.path).toEqual(['begin_', 'categorize_intent']);
    expect(toV2(read).canvas).toEqual(canvas);
    expect(parseDocument(toV1(read)).components['LLM:Guess']).toMatchObject({
      params: document.components['LLM:Guess']?.params,
      parent: 'Loop:Tries',
    });
    expect(toV1(read).path).toEqual(['begin', 'Categorize:Intent']);
  });

  it('refuses an empty document as version 2', () => {
    expect(() => toV2({ ...document, components: {} })).toThrow(/no components/);
  });
});
