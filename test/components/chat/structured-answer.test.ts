import { describe, expect, it } from 'vitest';
import { parseObject } from '../../../src/components/chat/answers.js';
import { schemaOf } from '../../../src/components/chat/params.js';
import type { JsonObject } from '../../../src/json.js';

describe('parseObject', () => {
  it.each<[string, string, JsonObject]>([
    ['plain JSON', '{"a": [1, {"b": null}]}', { a: [1, { b: null }] }],
    ['JSON between words', 'Here it is: {"a": 1}. Anything else?', { a: 1 }],
    ['JSON in a fence', '```json\n{"a": 1}\n```', { a: 1 }],
    ['JSON in a fence behind words with braces', 'For {you}:\n```json\n{"a": 1}\n```\nDone.', { a: 1 }],
    ['JSON that holds a fence', '{"md": "```json\\n{}\\n```"}', { md: '```json\n{}\n```' }],
    ['JSON behind what was thought', 'so {"a": 0}?</think>{"a": 1}', { a: 1 }],
    ['single quotes and a trailing comma', "{'a': 1, b: 'x',}", { a: 1, b: 'x' }],
    ['JSON that was cut off', '{"a": 1, "b": ["x", "y', { a: 1, b: ['x', 'y'] }],
    ['Python words', '{"a": True, "b": None}', { a: true, b: null }],
  ])('reads %s', (_, answer, object) => {
    expect(parseObject(answer)).toEqual(object);
  });

  it.each([
    ['nothing', ''],
    ['words', 'I cannot do that.'],
    ['a list of numbers', '[1, 2]'],
    ['a number', '7'],
    ['an object with the name of its prototype', '{"__proto__": {"a": 1}}'],
    ['the same, to be repaired', "{'__proto__': {'a': 1},}"],
    ['an object of too many names', `{${Array.from({ length: 10_001 }, (_, at) => `"${at}":0`).join()}}`],
  ])('finds no object in %s', (_, answer) => {
    expect(parseObject(answer)).toBeUndefined();
  });

  it('does not repair what is too large', () => {
    expect(parseObject(`{"a": ${'['.repeat(1_048_577)}`)).toBeUndefined();
  });
});

describe('schemaOf', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };

  it.each([
    ['itself', { structured: schema }],
    ['below schema', { structured: { schema } }],
    ['below structured', { structured: { structured: schema } }],
  ])('finds a schema: %s', (_, outputs) => {
    expect(schemaOf({ outputs })).toEqual(schema);
  });

  it.each<[string, JsonObject | undefined]>([
    ['no outputs', undefined],
    ['other outputs', { content: { type: 'string' } }],
    ['no properties', { structured: { type: 'object', properties: {} } }],
    ['something else', { structured: [schema] }],
    ['an inherited name', {}],
  ])('finds none in %s', (_, outputs) => {
    expect(schemaOf({ outputs })).toBeUndefined();
  });
});
