import { describe, expect, it } from 'vitest';
import type { ReadResult } from '../../src/dsl/document.js';
import { readDocument } from '../../src/dsl/read.js';
import { documentText } from './load-document.js';

/** `severity code path` of every issue. */
function summary(result: ReadResult): string[] {
  return result.issues.map((issue) => `${issue.severity} ${issue.code} ${issue.path}`);
}

describe('reading version 2', () => {
  it('reads parents from parameters and fills defaults', () => {
    const { document, issues } = readDocument(documentText('parcel-short.v2.json'));
    expect(issues).toEqual([]);
    expect(document?.version).toBe(2);
    expect(document?.components.llm_x_y).toEqual({
      id: 'llm_x_y',
      type: 'LLM',
      name: 'LLM',
      params: { prompts: [] },
      downstream: [],
      parent: 'loop_a',
    });
    expect(document?.globals).toMatchObject({ 'sys.query': '', 'sys.history': [] });
  });

  it.each<[string, object, string[]]>([
    [
      'an unknown field',
      { begin_: { name: 'Begin', upstream: [] } },
      ['error unknown-field $.components.begin_.upstream'],
    ],
    ['no name', { begin_: { name: 'Begin' }, x: {} }, ['error wrong-type $.components.x.name']],
    ['an empty name', { begin_: { name: 'Begin' }, x: { name: '' } }, ['error name-empty $.components.x.name']],
    ['a colon', { begin_: { name: 'Begin' }, 'a:b': { name: 'LLM' } }, ['error id-invalid $.components["a:b"]']],
    ['an id unlike its key', { begin_: { name: 'Begin', id: 'begin' } }, ['error id-mismatch $.components.begin_.id']],
    [
      'a successor in another spelling',
      { begin_: { name: 'Begin', downstream: ['LLM_x'] }, llm_x: { name: 'LLM' } },
      ['error downstream-unknown $.components.begin_.downstream'],
    ],
    [
      'an unknown body',
      { begin_: { name: 'Begin' }, x: { name: 'LLM', params: { parent_id: 'y' } } },
      ['error parent-unknown $.components.x.params.parent_id'],
    ],
    [
      'params of a wrong type',
      { begin_: { name: 'Begin', params: [] } },
      ['error wrong-type $.components.begin_.params'],
    ],
    ['no components', {}, ['error no-components $.components']],
  ])('%s', (_, components, issues) => expect(summary(readDocument({ version: 2, components }))).toEqual(issues));

  it('refuses runtime state at the top', () => {
    const source = {
      version: 2,
      components: { begin_: { name: 'Begin', id: '', outputs: {} } },
      path: [],
      globals: {},
    };
    expect(summary(readDocument(source))).toEqual(['error unknown-field $.path', 'error unknown-field $.globals']);
  });
});
