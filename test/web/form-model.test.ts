import { describe, expect, it } from 'vitest';
import { fieldsOf, givenValues, problemOf } from '../../web/chat/form-model.js';

const FIELDS = fieldsOf({
  line: { type: 'line', name: 'Line', optional: false },
  text: { type: 'paragraph', optional: true },
  choice: { type: 'options', options: ['a', { value: 'b', label: 'B' }], optional: false },
  whole: { type: 'integer', optional: true, default: 3 },
  number: { type: 'Number', optional: true },
  yes: { type: 'boolean' },
  object: { type: 'object', optional: true },
  papers: { type: 'multiple_files', optional: false },
  odd: { type: 'hologram', optional: true, value: 'as suggested' },
  broken: 'not a field',
});

describe('forms', () => {
  it('have fields by their type, with their titles and what is suggested', () => {
    expect(FIELDS.map(({ key, kind, title }) => [key, kind, title])).toEqual([
      ['line', 'line', 'Line'],
      ['text', 'paragraph', 'text'],
      ['choice', 'options', 'choice'],
      ['whole', 'integer', 'whole'],
      ['number', 'number', 'number'],
      ['yes', 'boolean', 'yes'],
      ['object', 'object', 'object'],
      ['papers', 'file', 'papers'],
      ['odd', 'line', 'odd'],
    ]);
    expect(FIELDS[2]?.options).toEqual(['a', 'b']);
    expect(FIELDS.map(({ suggested }) => suggested).filter((one) => one !== undefined)).toEqual([3, 'as suggested']);
    expect(fieldsOf(undefined)).toEqual([]);
  });

  it('say what is wrong with a value', () => {
    const problem = (key: string, value: string | undefined) => {
      const field = FIELDS.find((one) => one.key === key);
      return field && problemOf(field, value);
    };
    expect([problem('line', ' '), problem('line', 'x'), problem('text', '')]).toEqual([
      'missing',
      undefined,
      undefined,
    ]);
    expect([problem('whole', '1.5'), problem('whole', 'x'), problem('whole', '2')]).toEqual([
      'integer',
      'integer',
      undefined,
    ]);
    expect([problem('number', '1,5'), problem('number', '1.5')]).toEqual(['number', undefined]);
    expect([problem('object', '{'), problem('object', '{"a": 1}')]).toEqual(['json', undefined]);
    expect([problem('papers', undefined), problem('yes', undefined)]).toEqual(['missing', undefined]);
  });

  it('give values of their type, and nothing for what is left open', () => {
    const values = { line: 'x', whole: '2', yes: true, object: '{"a":[1]}', papers: [{ id: 'f' }], text: '  ' };
    expect(givenValues(FIELDS, values)).toEqual({
      line: { type: 'line', value: 'x' },
      whole: { type: 'integer', value: 2 },
      yes: { type: 'boolean', value: true },
      object: { type: 'object', value: { a: [1] } },
      papers: { type: 'file', value: [{ id: 'f' }] },
    });
  });
});
