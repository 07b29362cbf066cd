import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkCanvas } from '../../src/canvas/load-canvas.js';
import type { JsonObject } from '../../src/json.js';
import { skippedUnless } from '../support/skipped.js';
import { documentOf } from '../transport/support/documents.js';

const LLM = { llm_id: 'm', prompts: [{ role: 'user', content: '{sys.query}' }] };

/** Warnings of Begin → LLM → Message with these parameters, as `code path: message`. */
function warningsOf({
  begin = {},
  llm = {},
  content = '',
  ...more
}: {
  readonly begin?: JsonObject;
  readonly llm?: JsonObject;
  readonly content?: string;
  readonly variables?: JsonObject;
  readonly globals?: JsonObject;
}): string[] {
  const document = documentOf({
    begin: ['Begin', ['LLM:A'], begin],
    'LLM:A': ['LLM', ['Message:B'], { ...LLM, ...llm }],
    'Message:B': ['Message', [], { content: [`{LLM:A@content} ${content}`] }],
  });
  return checkedWarnings({ ...document, ...more });
}

function checkedWarnings(document: object): string[] {
  const { plan, issues } = checkCanvas(document);
  expect(plan).toBeDefined();
  return issues.map(({ code, severity, path: at, message }) => {
    expect(severity).toBe('warning');
    return `${code} ${at}: ${message}`;
  });
}

describe('parameters that a type does not have', () => {
  it.each([
    ['sys_promt', 'sys_prompt'],
    ['temprature', 'temperature'],
    ['maxTokens', 'max_tokens'],
  ])('are reported when they resemble one it has: %s', (name, nearest) => {
    expect(warningsOf({ llm: { [name]: '' } })).toEqual([
      `param-unknown $.components["LLM:A"].obj.params.${name}: LLM: "${name}" is not a parameter of LLM, and nothing reads it. Did you mean "${nearest}"?`,
    ]);
  });

  it('are left alone when they resemble none, as editors store such', () => {
    expect(warningsOf({ llm: { output_structure: {}, parameter: 'Precise', debug_inputs: {} } })).toEqual([]);
  });

  it('are no mistake where the type takes other names for them', () => {
    expect(warningsOf({ llm: { system_prompt: 'Be brief.' } })).toEqual([]);
  });

  it('are found in tools of an agent', () => {
    const tools = [{ component_name: 'TavilySearch', params: { api_key: 'k', max_result: 3 } }];
    const document = documentOf({ begin: ['Begin', ['Agent:A']], 'Agent:A': ['Agent', [], { ...LLM, tools }] });
    expect(checkedWarnings(document)).toEqual([
      expect.stringMatching(
        /^param-unknown \$\.components\["Agent:A"\]\.obj\.params\.tools\[0\]\.params\.max_result: .*"max_results"/,
      ),
    ]);
  });
});

describe('variables that do not exist', () => {
  it.each([
    ['{sys.qery}', 'there is no variable "sys.qery", so the reference has no value. Did you mean "sys.query"?'],
    [
      '{{ sys.History }}',
      'there is no variable "sys.History", so the reference has no value. Did you mean "sys.history"?',
    ],
    ['{env.nope}', 'there is no variable "env.nope", so the reference has no value. Declare it'],
  ])('are reported: %s', (content, message) => {
    const [warning, ...others] = warningsOf({ content, variables: { key: { type: 'string', value: '' } } });
    expect(others).toEqual([]);
    expect(warning).toContain(`variable-unknown $.components["Message:B"].obj.params.content[0]: Message: ${message}`);
  });

  it.each([
    '{sys.query}',
    '{sys.date} {sys.files}',
    '{env.key}',
    '{env.key.inside}',
    '{sys.own}',
    '{sys.chat_template_kwargs}',
  ])('are not those that a document or a run has: %s', (content) => {
    const own = { variables: { key: { type: 'object' } }, globals: { 'sys.query': '', 'sys.own': 1 } };
    expect(warningsOf({ content, ...own })).toEqual([]);
  });

  it('are not looked for in scripts', () => {
    const script = 'def main():\n    return f"{sys.argv} {env.home}"';
    const params = { lang: 'python', script, outputs: { made: { type: 'String' } } };
    const document = documentOf({
      begin: ['Begin', ['CodeExec:A']],
      'CodeExec:A': ['CodeExec', ['Message:B'], params],
      'Message:B': ['Message', [], { content: ['{CodeExec:A@made} {CodeExec:A@stdout}'] }],
    });
    expect(checkedWarnings(document)).toEqual([]);
  });
});

describe('outputs that a node does not have', () => {
  it.each([
    ['{LLM:A@nope}', '"LLM:A" (LLM) has no output "nope", so the reference has no value. It has content, structured.'],
    [
      '{LLM:A@contnet}',
      '"LLM:A" (LLM) has no output "contnet", so the reference has no value. Did you mean "content"?',
    ],
    ['{begin@citty}', '"begin" (Begin) has no output "citty", so the reference has no value. Did you mean "city"?'],
  ])('are reported: %s', (content, message) => {
    const begin = { inputs: { city: { type: 'line', name: 'City' } } };
    expect(warningsOf({ content, begin })).toEqual([
      `output-unknown $.components["Message:B"].obj.params.content[0]: Message: ${message}`,
    ]);
  });

  it.each([
    ['paths into outputs', '{LLM:A@structured.city} {begin@city.0}', {}],
    ['bookkeeping', '{LLM:A@_elapsed_time}', {}],
    ['what a webhook received', '{begin@body}', { mode: 'Webhook' }],
  ])('are not %s', (_, content, begin) => {
    expect(warningsOf({ content, begin: { inputs: { city: { type: 'line' } }, ...begin } })).toEqual([]);
  });

  it('are not those that parameters make', () => {
    const document = documentOf({
      begin: ['Begin', ['Loop:L']],
      'Loop:L': [
        'Loop',
        ['VariableAggregator:V'],
        { loop_variables: [{ variable: 'round', type: 'number' }], maximum_loop_count: 1 },
      ],
      'LoopItem:I': ['LoopItem', [], {}, 'Loop:L'],
      'VariableAggregator:V': [
        'VariableAggregator',
        ['Message:B'],
        { groups: [{ group_name: 'either', variables: [{ value: 'Loop:L@round' }] }] },
      ],
      'Message:B': ['Message', [], { content: ['{Loop:L@round} {VariableAggregator:V@either}'] }],
    });
    expect(checkedWarnings(document)).toEqual([]);
  });
});

describe('a Retrieval without a dataset', () => {
  it('is reported', () => {
    const document = documentOf({
      begin: ['Begin', ['Retrieval:A']],
      'Retrieval:A': ['Retrieval', ['Retrieval:B'], { dataset_ids: [] }],
      'Retrieval:B': ['Retrieval', ['Agent:C'], { dataset_ids: ['manuals'] }],
      'Agent:C': ['Agent', [], { ...LLM, tools: [{ component_name: 'Retrieval', params: { kb_ids: [] } }] }],
    });
    expect(checkedWarnings(document)).toEqual([
      'advice $.components["Retrieval:A"].obj.params: Retrieval: there is no dataset to search. Name one in `dataset_ids`.',
      'advice $.components["Agent:C"].obj.params: Agent: Agent-->Retrieval: there is no dataset to search. Name one in `dataset_ids`.',
    ]);
  });
});

describe('the examples', () => {
  const folder = path.resolve(import.meta.dirname, '../../examples');
  const canvases = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('canvas.json'),
  );

  it.each(canvases)('%s has no warning', (name) => {
    expect(checkCanvas(readFileSync(path.join(folder, name), 'utf8')).issues).toEqual([]);
  });
});

/** RAGFlow's documents are not in this repository: set RAGFLOW_TEMPLATES to a folder with them. */
const hasTemplates = process.env.RAGFLOW_TEMPLATES !== undefined;
describe.skipIf(!hasTemplates)(
  skippedUnless(hasTemplates, 'RAGFLOW_TEMPLATES is not set', "RAGFlow's documents"),
  () => {
    it('have next to no warnings about names', () => {
      const folder = process.env.RAGFLOW_TEMPLATES ?? '';
      const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
      const found = files.flatMap((name) => {
        const { issues } = checkCanvas(readFileSync(path.join(folder, name), 'utf8'));
        return issues
          .filter(({ code }) => code === 'param-unknown' || code === 'variable-unknown')
          .map(({ path: at }) => `${name} ${at}`);
      });
      expect(found).toEqual([]);
    });
  },
);
