import { firstValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createNode, fakeActivation, perform, performNow } from '../../marble-tests/support/activation.js';
import { userFillUp } from '../../src/components/user-fill-up.js';
import { interrupt, type NodeEvent, settled } from '../../src/graph/node-events.js';
import type { Json, JsonObject } from '../../src/json.js';
import { storeOf } from './file-store.js';

const LINE = { type: 'line', name: 'Field', optional: false };
const OPTIONAL = { ...LINE, optional: true };
const FILE = { type: 'file', name: 'Doc', optional: false };
const OPTIONAL_FILE = { ...FILE, optional: true };

const ID = 'UserFillUp:Ask';
const open = (field: JsonObject, more: JsonObject = {}): JsonObject => ({ ...field, ...more, value: null });

/** What a form says when it is reached, or when a run is resumed with `answer`. */
const fill = (inputs: JsonObject, answer?: Json, more: JsonObject = {}): readonly NodeEvent[] =>
  performNow(
    createNode(userFillUp, { inputs, tips: 'T', ...more }),
    fakeActivation({
      node: ID,
      ...(answer === undefined ? {} : { answer }),
      variables: { 'env.l': ['a', 'b'], 'env.n': null },
    }),
  );

const ask = (inputs: JsonObject, outputs: JsonObject = {}): NodeEvent =>
  interrupt({ kind: 'form', inputs, tips: 'T' }, { tips: 'T', ...outputs });

describe('UserFillUp, with a text for a number', () => {
  const nights = { type: 'number', name: 'Nights', optional: false };
  const rooms = { type: 'integer', optional: true };

  it.each<readonly [string, Json, string]>([
    ['a word', { nights: 'many' }, '"Nights" must be a number; received "many".'],
    [
      'a field that wraps it',
      { nights: { type: 'number', value: 'many' } },
      '"Nights" must be a number; received "many".',
    ],
    ['a list', { nights: [1] }, '"Nights" must be a number; received [1].'],
    ['a fraction', { nights: 2, rooms: 1.5 }, '"rooms" must be a whole number; received 1.5.'],
    ['a text alone', 'many', ''],
  ])('asks again and says why: %s', (_, answer, reason) => {
    const form = answer === 'many' ? { nights } : { nights, rooms };
    const inputs = Object.fromEntries(Object.entries(form).map(([name, field]) => [name, open(field)]));
    const tips = `T\n${reason || '"Nights" must be a number; received "many".'}`;
    expect(fill(form, answer)).toEqual([interrupt({ kind: 'form', inputs, tips }, { tips: 'T' })]);
  });

  it.each<Json>([
    { nights: 3 },
    { nights: ' 3 ' },
    { nights: '2.5', rooms: '2' },
    { nights: '' },
    { nights: null },
    {},
  ])('takes %j', (answer) => {
    expect(fill({ nights, rooms }, answer)).toEqual([settled({ tips: 'T', ...(answer as JsonObject) })]);
  });
});

describe('UserFillUp, asking', () => {
  it('asks for every field, with all that the document says about it', () => {
    const color = { ...LINE, type: 'options', options: ['red', 'blue'], key: 'color' };
    expect(fill({ color, note: OPTIONAL })).toEqual([ask({ color: open(color), note: open(OPTIONAL) })]);
  });

  it.each<readonly [string, Json, JsonObject]>([
    ['a stored value', 'x', { default: 'x' }],
    ['a stored 0', 0, { default: 0 }],
    ['an empty stored value', '', {}],
    ['a stored null', null, {}],
  ])('suggests %s', (_name, value, suggestion) => {
    expect(fill({ a: { ...LINE, value } })).toEqual([ask({ a: open(LINE, suggestion) })]);
  });

  it('suggests a declared default rather than a stored value', () => {
    const field = { ...LINE, default: 'd' };
    expect(fill({ a: { ...field, value: 'x' } })).toEqual([ask({ a: open(field) })]);
  });

  it('does not ask for optional files, and goes on when nothing else is left', () => {
    expect(fill({ f: OPTIONAL_FILE, a: LINE })).toEqual([ask({ a: open(LINE) })]);
    expect(fill({ f: OPTIONAL_FILE })).toEqual([settled({ tips: 'T' })]);
    expect(fill({})).toEqual([settled({ tips: 'T' })]);
  });

  it.each([
    ['text', 'plain', 'plain'],
    ['a list, with commas', 'of {env.l}', 'of a,b'],
    ['null, as nothing', '[{env.n}]', '[]'],
  ])('fills in tips: %s', (_name, tips, text) => {
    expect(fill({}, undefined, { tips })).toEqual([settled({ tips: text })]);
  });

  it('shows no tips when they are off, and the usual ones when there are none', () => {
    const payload = { kind: 'form', inputs: { a: open(LINE) }, tips: '' };
    expect(fill({ a: LINE }, undefined, { enable_tips: false })).toEqual([interrupt(payload, {})]);
    expect(performNow(createNode(userFillUp, {}), fakeActivation())).toEqual([
      settled({ tips: 'Please fill up the form' }),
    ]);
  });

  it('shows what it was given in an earlier round until it is answered', () => {
    const activation = fakeActivation({ outputs: { node: { tips: 'old', a: 'before' } } });
    const events = performNow(createNode(userFillUp, { inputs: { a: LINE }, tips: 'T' }), activation);
    expect(events).toEqual([ask({ a: open(LINE) }, { a: 'before' })]);
  });
});

describe('UserFillUp, answered', () => {
  it.each<readonly [string, JsonObject, Json, JsonObject]>([
    [
      'fields with their type',
      { a: LINE, n: LINE },
      { inputs: { a: { type: 'line', value: 'x' }, n: { type: 'number', value: 3 } } },
      { a: 'x', n: 3 },
    ],
    ['plain values', { a: LINE, n: LINE }, { inputs: { a: 'x', n: 0 } }, { a: 'x', n: 0 }],
    ['by id of the form', { a: LINE }, { inputs: { [ID]: { a: 'x' }, 'UserFillUp:Other': { a: 'y' } } }, { a: 'x' }],
    ['by id in its other spelling', { a: LINE }, { inputs: { userfillup_ask: { a: { value: 'x' } } } }, { a: 'x' }],
    ['fields that nobody declared', { a: LINE }, { inputs: { a: 'x', b: { value: 'y' } } }, { a: 'x', b: 'y' }],
    ['no address of a form for a field', { a: LINE }, { inputs: { a: 'x', 'UserFillUp:B#7': { a: 'y' } } }, { a: 'x' }],
    ['a map without a turn around it', { a: LINE }, { a: 'x' }, { a: 'x' }],
    ['text for the only field', { a: LINE }, 'x', { a: 'x' }],
    ['text for the field called value', { value: LINE, b: OPTIONAL }, 'x', { value: 'x' }],
    ['an empty text', { a: LINE }, { inputs: { a: '' } }, { a: '' }],
    ['nothing for an optional field', { a: LINE, b: OPTIONAL }, { inputs: { a: 'x' } }, { a: 'x' }],
    ['an object as JSON text', { o: { ...LINE, type: 'object' } }, { inputs: { o: '{"k": 1}' } }, { o: { k: 1 } }],
    [
      'another type than declared',
      { o: { ...LINE, type: 'options' } },
      { inputs: { o: { type: 'line', value: 'yes' } } },
      { o: 'yes' },
    ],
    ['a field called tips', { tips: LINE }, { inputs: { tips: 'mine' } }, { tips: 'mine' }],
    ['names that objects have', { constructor: LINE }, { inputs: { constructor: 'x' } }, { constructor: 'x' }],
  ])('takes %s', (_name, inputs, answer, outputs) => {
    expect(fill(inputs, answer)).toEqual([settled({ tips: 'T', ...outputs })]);
  });

  it.each<readonly [string, JsonObject, Json, JsonObject]>([
    ['nothing', { a: LINE }, { query: 'again', inputs: {} }, {}],
    ['a turn without inputs', { a: LINE }, { query: 'again', user_id: 'u' }, {}],
    ['a part of its fields', { a: LINE, b: LINE }, { inputs: { b: 'x' } }, { b: 'x' }],
    ['null', { a: LINE }, { inputs: { a: null } }, { a: null }],
    ['a field without a value', { a: LINE }, { inputs: { a: { type: 'line' } } }, { a: null }],
    ['text for one of several fields', { a: LINE, b: LINE }, 'x', {}],
    ['fields of another form alone', { a: LINE }, { inputs: { b: 'x' } }, { b: 'x' }],
    ['names that objects have', { constructor: LINE }, { inputs: {} }, {}],
    ['no files', { a: FILE }, { inputs: { a: [] } }, { a: [] }],
    ['nothing for a file', { a: FILE, b: LINE }, { inputs: { b: 'x' } }, { b: 'x' }],
    ['inputs that are no map', { a: LINE }, { inputs: 'x' }, {}],
    ['a number where text is expected', { a: LINE }, { inputs: { a: 5 } }, { a: 5 }],
    ['text that is no object', { o: { ...LINE, type: 'object' } }, { inputs: { o: '{' } }, { o: '{' }],
    ['a declared default', { a: { ...LINE, value: 'd' } }, { inputs: {} }, {}],
  ])('settles with what it got when it is given %s', (_name, inputs, answer, outputs) => {
    expect(fill(inputs, answer)).toEqual([settled({ tips: 'T', ...outputs })]);
  });

  it.each<readonly [string, Json]>([
    ['another form', { inputs: { 'UserFillUp:Other': { a: 'x' } } }],
    ['the same form in another pass', { inputs: { [`${ID}#99`]: { a: 'x' } } }],
  ])('keeps waiting when an answer is addressed to %s', (_name, answer) => {
    expect(fill({ a: LINE }, answer)).toEqual([ask({ a: open(LINE) })]);
  });

  it.each<readonly [string, Json]>([
    ['no value', { type: 'file' }],
    ['an empty name', { type: 'file', value: '' }],
    ['null', { type: 'file', value: null }],
  ])('fails when a file is given with %s', (_name, file) => {
    expect(() => fill({ f: FILE }, { inputs: { f: file } })).toThrowError(
      expect.objectContaining({ code: 'NODE_FAILED' }),
    );
  });

  it('gives the tips as they read when it is answered', () => {
    const activation = fakeActivation({
      answer: { inputs: { a: 'x' } },
      outputs: { node: { tips: 'as shown' } },
      variables: { 'sys.query': 'new' },
    });
    const node = createNode(userFillUp, { inputs: { a: LINE }, tips: '{sys.query}' });
    expect(performNow(node, activation)).toEqual([settled({ tips: 'new', a: 'x' })]);
  });

  it('asks again over a restart without answers', () => {
    const activation = fakeActivation({ outputs: { node: { tips: 'T', a: 'x' } } });
    const node = createNode(userFillUp, { inputs: { a: LINE, b: LINE }, tips: 'T' });
    expect(performNow(node, activation)).toEqual([ask({ a: open(LINE), b: open(LINE) }, { a: 'x' })]);
  });

  it('reads files', async () => {
    const node = createNode(userFillUp, { inputs: { f: FILE, a: LINE }, tips: 'T' });
    const services = storeOf({ id: 'f1', name: 'a.txt', mimeType: 'text/plain', text: 'one' });
    const given = { answer: { inputs: { f: { type: 'file', value: { id: 'f1' } } } }, services };
    const events = await firstValueFrom(perform(node, fakeActivation(given)).pipe(toArray()));
    expect(events).toEqual([settled({ tips: 'T', f: ['one'] })]);
  });

  it('fails when a file cannot be read', async () => {
    const node = createNode(userFillUp, { inputs: { f: FILE } });
    const activation = fakeActivation({ answer: { inputs: { f: 'gone' } }, services: storeOf() });
    await expect(firstValueFrom(perform(node, activation))).rejects.toMatchObject({ code: 'FILE_UNKNOWN' });
  });
});
