import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createNode, fakeActivation, perform, performNow } from '../../marble-tests/support/activation.js';
import { begin } from '../../src/components/begin.js';
import { settled } from '../../src/graph/node-events.js';
import type { Json, JsonObject } from '../../src/json.js';
import { storeOf } from './file-store.js';

const LINE = { type: 'line', name: 'Field', optional: false };

const start = (params: JsonObject, input: Json): unknown =>
  performNow(createNode(begin, params), fakeActivation({ input }))[0];

describe('Begin', () => {
  it.each<readonly [string, JsonObject, Json, JsonObject]>([
    ['nothing given', {}, { query: 'hi', inputs: {} }, {}],
    ['no turn at all', {}, null, {}],
    [
      'fields with their type',
      { inputs: { a: LINE, n: { ...LINE, type: 'number' }, f: { ...LINE, type: 'boolean' } } },
      {
        inputs: {
          a: { type: 'line', value: 'x' },
          n: { type: 'number', value: 7 },
          f: { type: 'boolean', value: false },
        },
      },
      { a: 'x', n: 7, f: false },
    ],
    ['plain values', { inputs: { a: LINE, b: LINE } }, { inputs: { a: 'raw', b: 12 } }, { a: 'raw', b: 12 }],
    ['fields that are not declared', {}, { inputs: { z: { value: 1 }, y: 'two' } }, { z: 1, y: 'two' }],
    ['a field without a value', { inputs: { a: LINE } }, { inputs: { a: { type: 'line' } } }, { a: null }],
    [
      'an object as JSON text',
      { inputs: { o: { type: 'object' } } },
      { inputs: { o: { type: 'object', value: '{"l":[1,2]}' } } },
      { o: { l: [1, 2] } },
    ],
    ['an object as plain JSON text', { inputs: { o: { type: 'object' } } }, { inputs: { o: '[1]' } }, { o: [1] }],
    [
      'an object as text that is no JSON',
      { inputs: { o: { type: 'object' } } },
      { inputs: { o: { type: 'object', value: 'x{' } } },
      { o: 'x{' },
    ],
    [
      'an object as blank text',
      { inputs: { o: { type: 'object' } } },
      { inputs: { o: { type: 'object', value: ' ' } } },
      { o: ' ' },
    ],
    ['an object as it is', { inputs: { o: { type: 'object' } } }, { inputs: { o: { k: 1 } } }, { o: { k: 1 } }],
    ['a query for the only field', { inputs: { only: LINE } }, { query: 'from query' }, { only: 'from query' }],
    [
      'a query for the only field, which is a file',
      { inputs: { f: { type: 'file', optional: true } } },
      { query: 'hello' },
      { f: 'hello' },
    ],
    [
      'a query for the only field, which is an object',
      { inputs: { o: { type: 'object' } } },
      { query: '{}' },
      { o: '{}' },
    ],
    [
      'a query that is an object with a text for a file',
      { inputs: { f: { type: 'file' } } },
      { query: { f: 'x' } },
      { f: 'x' },
    ],
    ['a query as plain text', { inputs: { only: LINE } }, 'from query', { only: 'from query' }],
    ['an empty query', { inputs: { only: LINE } }, { query: '' }, {}],
    ['a query for one of two fields', { inputs: { a: LINE, b: LINE } }, { query: 'q' }, {}],
    ['a query that is an object', { inputs: { a: LINE, b: LINE } }, { query: { a: 1, z: 2 } }, { a: 1 }],
    [
      'inputs before the query',
      { inputs: { only: LINE } },
      { query: 'q', inputs: { only: 'given' } },
      { only: 'given' },
    ],
    ['stored values', { inputs: { a: { ...LINE, value: 'stored' }, b: LINE } }, { query: '' }, {}],
    [
      'names that objects have',
      { inputs: { constructor: LINE, toString: LINE } },
      { inputs: { toString: 'x' } },
      { toString: 'x' },
    ],
    [
      'null for an optional file',
      { inputs: { f: { type: 'file', optional: true } } },
      { inputs: { f: { type: 'file', optional: true, value: null } } },
      { f: null },
    ],
    [
      'a webhook',
      { mode: 'Webhook' },
      { webhook_payload: { input: { a: 1 }, body: { b: 2 } } },
      { request: { a: 1 }, body: { b: 2 } },
    ],
    ['a webhook in another mode', { mode: 'task' }, { webhook_payload: { body: 1 } }, {}],
  ])('%s', (_name, params, input, outputs) => {
    expect(start(params, input)).toEqual(settled(outputs));
  });

  it('keeps the order in which fields were given', () => {
    const event = start({ inputs: { a: LINE, b: LINE } }, { inputs: { b: 1, a: 2 } }) as {
      readonly outputs: JsonObject;
    };
    expect(Object.keys(event.outputs)).toEqual(['b', 'a']);
  });

  it('reads files into a list', async () => {
    const services = storeOf(
      { id: 'f1', name: 'a.txt', mimeType: 'text/plain', text: 'one' },
      { id: 'f2', name: 'b.md', mimeType: '', text: 'two' },
    );
    const node = createNode(begin, {
      inputs: { one: { type: 'file' }, many: { type: 'file<documents>' }, word: LINE },
    });
    const inputs = {
      one: { type: 'file', value: { id: 'f1', name: 'a.txt', mime_type: 'text/plain' } },
      word: { type: 'line', value: 'w' },
      many: { type: 'file', value: ['f2', { id: 'f1' }] },
    };

    const event = await firstValueFrom(perform(node, fakeActivation({ input: { inputs }, services })));

    expect(event).toEqual(settled({ one: ['one'], word: 'w', many: ['two', 'one'] }));
  });

  it.each(['telepathic', 'webhook', 1])('refuses the mode %j', (mode) => {
    expect(begin.params.safeParse({ mode }).success).toBe(false);
  });

  it.each([undefined, null, 'task', 'conversational', 'Webhook'])('takes the mode %j', (mode) => {
    expect(begin.params.safeParse({ mode }).success).toBe(true);
  });
});
