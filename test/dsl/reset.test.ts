import { describe, expect, it } from 'vitest';
import {
  completeGlobals,
  defaultGlobals,
  emptyOfType,
  initialVariables,
  resetDocument,
} from '../../src/dsl/globals.js';
import { parseDocument } from '../../src/dsl/read.js';
import { documentText } from './load-document.js';

const document = parseDocument(documentText('parcel-desk.json'));

const freshValues = {
  'sys.query': '',
  'sys.user_id': '',
  'sys.conversation_turns': 0,
  'sys.files': [],
  'sys.history': [],
  'sys.date': '',
  'sys.beta': false,
  'sys.extra': {},
  'env.city': 'Oslo',
  'env.limit': 0,
  'env.stray': '',
  'env.tags': [],
};

describe('globals', () => {
  it('are the default set when a document brings none', () => {
    expect(parseDocument({ components: { begin: { obj: { component_name: 'Begin' } } } }).globals).toEqual(
      defaultGlobals(),
    );
    expect(defaultGlobals()).toMatchObject({ 'sys.user_id': '', 'sys.conversation_turns': 0 });
  });

  it('get history and date where those are missing', () => {
    expect(completeGlobals({ 'sys.query': 'q' })).toEqual({ 'sys.query': 'q', 'sys.history': [], 'sys.date': '' });
    expect(completeGlobals({ 'sys.date': 'd', 'sys.history': ['h'] })).toEqual({
      'sys.date': 'd',
      'sys.history': ['h'],
    });
  });

  it.each([
    ['string', ''],
    ['number', 0],
    ['boolean', false],
    ['object', {}],
    ['array<string>', []],
    ['Array', []],
    ['', ''],
    ['date', ''],
  ])('of type %j are empty as %j', (type, value) => expect(emptyOfType(type)).toEqual(value));

  it('start a conversation empty by type, or with the declared value', () => {
    expect(initialVariables(document)).toEqual(freshValues);
  });

  it('keep declared values that only look empty', () => {
    const variables = {
      a: { type: 'number', value: 0 },
      b: { type: 'string', value: false },
      c: { type: 'object', value: null },
    };
    const read = parseDocument({ components: { begin: { obj: { component_name: 'Begin' } } }, variables });
    expect(initialVariables(read)).toMatchObject({ 'env.a': 0, 'env.b': false, 'env.c': {} });
  });
});

describe('resetDocument', () => {
  it('forgets everything', () => {
    expect(resetDocument(document)).toMatchObject({
      path: [],
      history: [],
      retrieval: [],
      memory: [],
      globals: freshValues,
      variables: document.variables,
      graph: document.graph,
      extra: document.extra,
    });
  });

  it('clears what runs left in inputs and outputs', () => {
    const { components } = resetDocument(document);
    expect(components.begin?.params.inputs).toEqual({
      parcel: { name: 'Parcel', type: 'line', optional: false, value: null },
    });
    expect(components['Loop:Tries']?.params.outputs).toEqual({ tries: { type: 'number', value: null } });
    expect(components['LLM:Guess']).toEqual(document.components['LLM:Guess']);
  });

  it('leaves its input alone and gives a document that resets to itself', () => {
    const before = JSON.stringify(document);
    const once = resetDocument(document);
    expect(resetDocument(once)).toEqual(once);
    expect(JSON.stringify(document)).toBe(before);
  });
});
