import { describe, expect, it } from 'vitest';
import { variableAssigner } from '../../src/components/variable-assigner.js';
import { parseReference } from '../../src/dsl/reference.js';
import type { Json, JsonObject } from '../../src/json.js';
import { runNode, type Values } from './data-node.js';

const NOT_LIST = 'ERROR:VARIABLE_NOT_LIST';
const PARAMETER_NOT_LIST = 'ERROR:PARAMETER_NOT_LIST';
const OTHER_TYPE = 'ERROR:PARAMETER_NOT_LIST_ELEMENT_TYPE';
const NOT_NUMBER = 'ERROR:VARIABLE_NOT_NUMBER or PARAMETER_NOT_NUMBER';

/** One value of every kind, as variables `env.<kind>`. */
const KINDS = {
  null: null,
  boolean: true,
  number: 6,
  text: 'old',
  list: [1, 2],
  emptyList: [],
  object: { k: 1 },
} satisfies JsonObject;
type Kind = keyof typeof KINDS;

const VALUES: Values = {
  outputs: {
    begin: { word: 'w', number: 3, flag: false, words: ['x', 'y'], numbers: [8, 9], none: null, object: { k: 'v' } },
    loop: { n: 1, o: null, rows: [{ id: 1 }, { id: 2 }] },
    later: null,
  },
  variables: {
    'sys.query': 'Q',
    'env.deep': { a: { b: 1 }, list: ['p', 'q'] },
    ...Object.fromEntries(Object.entries(KINDS).map(([kind, value]) => [`env.${kind}`, value])),
  },
  item: 'I',
};

const assign = (...variables: JsonObject[]) => runNode(variableAssigner, { variables }, VALUES);

/** The one value that an assignment writes. */
function written(variable: string, operator: string, parameter?: Json): Json | undefined {
  const { writes = [], outputs } = assign({ variable, operator, ...(parameter === undefined ? {} : { parameter }) });
  expect(outputs).toEqual({});
  expect(writes.map(({ to }) => to)).toEqual([parseReference(variable)]);
  return writes[0]?.value;
}

describe('VariableAssigner', () => {
  describe.each<[string, Json | undefined, Record<Kind, Json>]>([
    ['clear', undefined, { null: null, boolean: false, number: 0, text: '', list: [], emptyList: [], object: {} }],
    ['set', null, { null: null, boolean: false, number: 0, text: '', list: [], emptyList: [], object: {} }],
    ['set', 'new', all('new')],
    ['set', '<{sys.query}>', all('<Q>')],
    ['set', '{begin@numbers}', { ...all([8, 9]), text: '[8, 9]' }],
    ['set', 7, all(7)],
    ['set', { k: '{sys.query}' }, all({ k: '{sys.query}' })],
    ['set', '{later@x}', { ...all(null), text: '' }],
    ['overwrite', 'begin@object', all({ k: 'v' })],
    ['overwrite', '{sys.query}', all('Q')],
    ['overwrite', 'later@x', all(null)],
    ['overwrite', 'begin@object.missing', all(null)],
    ['overwrite', 'begin@gone', all('')],
    ['append', 'begin@number', { ...all(NOT_LIST), null: [3], list: [1, 2, 3], emptyList: [3] }],
    ['append', 'begin@word', { ...all(NOT_LIST), null: ['w'], list: OTHER_TYPE, emptyList: ['w'] }],
    ['append', 'begin@flag', { ...all(NOT_LIST), null: [false], list: OTHER_TYPE, emptyList: [false] }],
    ['append', 'begin@none', { ...all(NOT_LIST), null: [null], list: OTHER_TYPE, emptyList: [null] }],
    ['append', 'begin@words', { ...all(NOT_LIST), null: [['x', 'y']], list: OTHER_TYPE, emptyList: [['x', 'y']] }],
    ['append', 4, { ...all(NOT_LIST), null: [4], list: [1, 2, 4], emptyList: [4] }],
    ['append', 'just text', { ...all(NOT_LIST), null: ['just text'], list: OTHER_TYPE, emptyList: ['just text'] }],
    ['append', '{sys.query}!', { ...all(NOT_LIST), null: ['Q!'], list: OTHER_TYPE, emptyList: ['Q!'] }],
    ['extend', 'begin@numbers', { ...all(NOT_LIST), null: [8, 9], list: [1, 2, 8, 9], emptyList: [8, 9] }],
    ['extend', 'begin@words', { ...all(NOT_LIST), null: ['x', 'y'], list: OTHER_TYPE, emptyList: ['x', 'y'] }],
    ['extend', [5], { ...all(NOT_LIST), null: [5], list: [1, 2, 5], emptyList: [5] }],
    ['extend', [], { ...all(NOT_LIST), null: [], list: [1, 2], emptyList: [] }],
    [
      'extend',
      'begin@word',
      { ...all(NOT_LIST), null: PARAMETER_NOT_LIST, list: PARAMETER_NOT_LIST, emptyList: PARAMETER_NOT_LIST },
    ],
    ['remove_first', undefined, { ...all(NOT_LIST), list: [2], emptyList: [] }],
    ['remove_last', undefined, { ...all(NOT_LIST), list: [1], emptyList: [] }],
    ['+=', 3, { ...all(NOT_NUMBER), number: 9 }],
    ['-=', 3, { ...all(NOT_NUMBER), number: 3 }],
    ['*=', 3, { ...all(NOT_NUMBER), number: 18 }],
    ['/=', 4, { ...all(NOT_NUMBER), number: 1.5 }],
    ['+=', '{begin@number}', { ...all(NOT_NUMBER), number: 9 }],
    ['+=', 'begin@number', all(NOT_NUMBER)],
    ['+=', '3', all(NOT_NUMBER)],
    ['-=', true, all(NOT_NUMBER)],
    ['*=', 1e308, { ...all(NOT_NUMBER), number: 'ERROR:RESULT_NOT_FINITE' }],
    ['/=', 0, { ...all(NOT_NUMBER), number: 'ERROR:DIVIDE_BY_ZERO' }],
    ['/=', 1e-320, { ...all(NOT_NUMBER), number: 'ERROR:RESULT_NOT_FINITE' }],
  ])('%s %j', (operator, parameter, expected) => {
    it.each(Object.entries(expected))('on %s gives %j', (kind, value) => {
      expect(written(`env.${kind}`, operator, parameter)).toEqual(value);
    });
  });

  describe('targets', () => {
    it.each<[string, string, Json | undefined, Json]>([
      ['loop@n', '+=', 1, 2],
      ['{loop@n}', '+=', 1, 2],
      ['loop@o.seen.deep', 'set', 'yes', 'yes'],
      ['loop@rows.-1.id', '+=', 5, 7],
      ['loop@new', 'append', 'sys.query', ['Q']],
      ['later@x', 'append', 'sys.query', ['Q']],
      ['env.deep.a.b', '*=', 4, 4],
      ['env.deep.list.0', 'set', '{env.deep.list.0}!', 'p!'],
      ['env.deep.fresh', 'set', 'v', 'v'],
      ['sys.query', 'set', '{sys.query}?', 'Q?'],
    ])('%s %s %j', (variable, operator, parameter, expected) => {
      expect(written(variable, operator, parameter)).toEqual(expected);
    });
  });

  describe('later assignments see earlier ones', () => {
    it.each<[string, JsonObject[], Json[]]>([
      [
        'of a variable',
        [
          { variable: 'env.number', operator: '+=', parameter: 1 },
          { variable: 'env.number', operator: '*=', parameter: 2 },
          { variable: 'env.text', operator: 'set', parameter: 'n={env.number}' },
        ],
        [7, 14, 'n=14'],
      ],
      [
        'of an output and paths in it',
        [
          { variable: 'loop@o.a', operator: 'set', parameter: 'x' },
          { variable: 'loop@o.b', operator: 'overwrite', parameter: 'loop@o' },
          { variable: 'env.object', operator: 'overwrite', parameter: 'loop@o' },
        ],
        ['x', { a: 'x' }, { a: 'x', b: { a: 'x' } }],
      ],
      [
        'of a path and the variable around it',
        [
          { variable: 'env.deep.a.b', operator: '+=', parameter: 1 },
          { variable: 'env.number', operator: 'overwrite', parameter: 'env.deep.a.b' },
          { variable: 'env.object', operator: 'overwrite', parameter: 'env.deep' },
        ],
        [2, 2, { a: { b: 2 }, list: ['p', 'q'] }],
      ],
      [
        'also its errors',
        [
          { variable: 'env.text', operator: 'append', parameter: 'x' },
          { variable: 'env.object', operator: 'overwrite', parameter: 'env.text' },
        ],
        [NOT_LIST, NOT_LIST],
      ],
      [
        'of a list that grows',
        [
          { variable: 'env.emptyList', operator: 'append', parameter: 'begin@word' },
          { variable: 'env.emptyList', operator: 'extend', parameter: 'begin@words' },
          { variable: 'env.emptyList', operator: 'remove_first' },
        ],
        [['w'], ['w', 'x', 'y'], ['x', 'y']],
      ],
    ])('%s', (_name, assignments, expected) => {
      expect(assign(...assignments).writes?.map(({ value }) => value)).toEqual(expected);
    });
  });

  it('warns of an assignment that did not fit, and of a reference that names nothing', () => {
    const result = assign(
      { variable: 'env.text', operator: '+=', parameter: 1 },
      { variable: 'env.text', operator: 'set', parameter: '{begin@gone}' },
    );
    expect(result.warnings).toEqual([
      expect.stringContaining('begin@gone'),
      `"+=" did not fit "env.text", which now holds the text "${NOT_NUMBER}".`,
    ]);
  });

  describe('fails', () => {
    it.each<[string, JsonObject, string]>([
      ['without a parameter', { variable: 'env.text', operator: 'set' }, 'NODE_FAILED'],
      ['with null for a parameter', { variable: 'env.list', operator: 'append', parameter: null }, 'NODE_FAILED'],
      ['without a variable', { variable: '', operator: 'clear' }, 'NODE_FAILED'],
      ['without an operator', { variable: 'env.text', operator: null }, 'NODE_FAILED'],
      ['for an unknown operator', { variable: 'env.text', operator: 'twist', parameter: 1 }, 'NODE_FAILED'],
      ['for an operator in capitals', { variable: 'env.text', operator: 'SET', parameter: 'x' }, 'NODE_FAILED'],
      ['for what is no reference', { variable: 'my variable', operator: 'clear' }, 'NODE_FAILED'],
      ['for an unknown variable', { variable: 'env.gone', operator: 'clear' }, 'REFERENCE_UNRESOLVED'],
      ['for an unknown node', { variable: 'ghost@x', operator: 'clear' }, 'REFERENCE_UNRESOLVED'],
      [
        'copying from an unknown variable',
        { variable: 'env.text', operator: 'overwrite', parameter: 'env.gone' },
        'REFERENCE_UNRESOLVED',
      ],
      [
        'copying from an unknown node',
        { variable: 'env.text', operator: 'overwrite', parameter: 'ghost@x' },
        'REFERENCE_UNRESOLVED',
      ],
      [
        'copying what is no reference',
        { variable: 'env.text', operator: 'overwrite', parameter: 5 },
        'REFERENCE_UNRESOLVED',
      ],
      [
        'using an unknown node',
        { variable: 'env.text', operator: 'set', parameter: '{ghost@x}' },
        'REFERENCE_UNRESOLVED',
      ],
      ['writing the current item', { variable: 'item', operator: 'set', parameter: 'x' }, 'REFERENCE_READ_ONLY'],
      [
        'writing a key of every object',
        { variable: 'loop@o.__proto__.x', operator: 'set', parameter: 'x' },
        'REFERENCE_READ_ONLY',
      ],
      ['writing beyond a list', { variable: 'loop@rows.7', operator: 'set', parameter: 'x' }, 'REFERENCE_UNRESOLVED'],
    ])('%s', (_name, assignment, code) => {
      expect(() => assign({ variable: 'env.number', operator: 'clear' }, assignment)).toThrow(
        expect.objectContaining({ name: 'EngineError', code }),
      );
    });
  });

  it.each<[string, Json]>([
    ['no list', 'env.x'],
    ['nothing', null],
    ['an empty list', []],
  ])('does nothing for %s', (_name, variables) => {
    expect(runNode(variableAssigner, { variables }, VALUES)).toEqual({
      type: 'settled',
      outputs: {},
      writes: [],
      warnings: [],
    });
  });

  it('refuses assignments that are no objects', () => {
    expect(variableAssigner.params.safeParse({ variables: ['env.x'] }).success).toBe(false);
  });
});

function all(value: Json): Record<Kind, Json> {
  return Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, value])) as Record<Kind, Json>;
}
