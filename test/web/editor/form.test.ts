/** Forms from schemas, without a page: which widget a field gets, what is shown first, and that secrets stay hidden. */
import { describe, expect, it } from 'vitest';
import { parameterSchema } from '../../../src/components/catalogue.js';
import type { JsonObject } from '../../../src/json.js';
import {
  fieldOf,
  fieldsOf,
  groupFields,
  HIDDEN,
  hideSecrets,
  showSecrets,
  withValue,
} from '../../../web/editor/form/field-model.js';
import { titleOf } from '../../../web/editor/form/field-texts.js';
import { fieldIssues, fieldOfIssue } from '../../../web/editor/model/problems.js';
import { createProbes } from '../../transport/support/test-components.js';

const kind = (name: string, schema: JsonObject, root: JsonObject = {}): string => fieldOf(name, schema, { root }).kind;

describe('a field', () => {
  it('has the widget that its schema asks for', () => {
    expect(kind('sys_prompt', { type: ['string', 'null'] })).toBe('long');
    expect(kind('smtp_server', { type: 'string' })).toBe('text');
    expect(kind('api_key', { type: 'string' })).toBe('secret');
    expect(kind('budget_tokens', { type: 'integer' })).toBe('number');
    expect(kind('cite', { type: ['boolean', 'null'] })).toBe('switch');
    expect(kind('mode', { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }] })).toBe('options');
    expect(kind('llm_id', { type: 'string' })).toBe('model');
    expect(kind('items_ref', { type: 'string' })).toBe('reference');
    expect(kind('content', { type: 'array', items: { type: 'string' } })).toBe('texts');
    expect(kind('dataset_ids', { type: 'array', items: { type: 'string' } })).toBe('lines');
    expect(kind('end_cpn_ids', { type: 'array', items: { type: 'string' } })).toBe('targets');
    expect(kind('to', { type: 'string' })).toBe('text');
    expect(kind('prompts', { type: 'array', items: { type: 'object', properties: { role: {} } } })).toBe('list');
    expect(kind('rows', { type: 'array', items: {} })).toBe('json');
    expect(
      kind('any', { $ref: '#/$defs/any' }, { $defs: { any: { anyOf: [{ type: 'string' }, { type: 'number' }] } } }),
    ).toBe('any');
  });

  it('offers the operators that a description lists', () => {
    const { options, kind: found } = fieldOf(
      'operator',
      { type: 'string', description: 'One of set, clear.' },
      { root: {} },
    );
    expect([found, options]).toEqual(['options', ['set', 'clear']]);
  });

  it('is known for every parameter of every component that the server has', () => {
    const { registry } = createProbes();
    for (const component of new Set(registry.values())) {
      const schema = parameterSchema(component.params) as JsonObject;
      for (const field of fieldsOf(schema)) expect(field.kind, `${component.type}.${field.name}`).toBeTruthy();
    }
  });

  it('says for every component how several ways to it come together, with the modes of its schema', () => {
    const { registry } = createProbes();
    for (const component of new Set(registry.values())) {
      const fields = fieldsOf(parameterSchema(component.params) as JsonObject);
      if (!fields.some(({ name }) => name === 'exception_method')) continue;
      const field = fields.find(({ name }) => name === 'join_mode');
      expect([field?.kind, field?.options], component.type).toEqual(['options', ['all', 'any']]);
    }
  });

  it('is called by its name in words', () => {
    expect(titleOf('max_loop_count', {})).toBe('Max loop count');
    expect(titleOf('constructor', {})).toBe('Constructor');
    expect(titleOf('llm_id', { llm_id: 'Model' })).toBe('Model');
  });
});

describe('a form', () => {
  it('shows what is required and what has a value first, and what few people need folded', () => {
    const schema: JsonObject = {
      properties: {
        description: { type: 'string' },
        temperature: { type: 'number' },
        url: { type: 'string' },
        proxy: { type: 'string' },
      },
      required: ['url'],
    };
    const { common, rest } = groupFields(fieldsOf(schema), {});
    expect(common.map(({ name }) => name)).toEqual(['url']);
    expect(rest.map(({ name }) => name)).toEqual(['description', 'temperature', 'proxy']);
  });

  it('changes one value, and takes away what is empty', () => {
    expect(withValue({ a: 1, b: 2 }, 'a', 3)).toEqual({ a: 3, b: 2 });
    expect(withValue({ a: 1, b: 2 }, 'a', undefined)).toEqual({ b: 2 });
  });

  it('hides secrets at any depth, and brings those back that were not written anew', () => {
    const params = { api_key: 'k', tools: [{ params: { password: 'p', token: '' } }], token_limit: 3 };
    const shown = hideSecrets(params) as JsonObject;
    expect(shown).toEqual({ api_key: HIDDEN, tools: [{ params: { password: HIDDEN, token: '' } }], token_limit: 3 });
    expect(showSecrets(shown, params)).toEqual(params);
    expect(showSecrets({ ...shown, api_key: 'new' }, params)).toMatchObject({ api_key: 'new' });
    expect(showSecrets({ moved: HIDDEN }, params)).toEqual({ moved: '' });
  });
});

describe('a problem', () => {
  const issue = (path: string, component = 'LLM:A') => ({
    code: 'x',
    severity: 'error' as const,
    path,
    message: path,
    component,
  });

  it('is one of a field by its path', () => {
    expect(fieldOfIssue(issue('$.components["LLM:A"].obj.params.llm_id'))).toBe('llm_id');
    expect(fieldOfIssue(issue('$.components["LLM:A"].obj.params.prompts[0].content'))).toBe('prompts.0.content');
    expect(fieldOfIssue(issue('$.components["LLM:A"].obj.params["a b"]'))).toBe('a b');
    expect(fieldOfIssue(issue('$.components["LLM:A"].downstream'))).toBe('');
  });

  it('stands at the first part of its path, of its own component alone', () => {
    const issues = [
      issue('$.components["LLM:A"].obj.params.prompts[0].content'),
      issue('$.components["B"].obj.params.x', 'B'),
    ];
    expect([...fieldIssues(issues, 'LLM:A')]).toEqual([['prompts', [issues[0]!.message]]]);
  });
});
