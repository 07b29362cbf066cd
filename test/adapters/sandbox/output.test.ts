import { describe, expect, it } from 'vitest';
import type { CodeArtifact, CodeResult } from '../../../src/adapters/sandbox/code-runner.js';
import {
  attachmentText,
  canonicalText,
  DEFAULT_OUTPUTS,
  failureText,
  findMismatch,
  inferType,
  readContract,
  resultValue,
} from '../../../src/adapters/sandbox/output.js';
import type { Json } from '../../../src/json.js';

it.each<[Json, string]>([
  [null, 'Null'],
  ['', 'String'],
  [1.5, 'Number'],
  [true, 'Boolean'],
  [{}, 'Object'],
  [[], 'Array<Any>'],
  [['a'], 'Array<String>'],
  [[1, 2], 'Array<Number>'],
  [[1, true], 'Array<Any>'],
  [[[1], [2]], 'Array<Array<Number>>'],
  [[[1], ['a']], 'Array<Any>'],
  [[null], 'Array<Null>'],
])('%j is of type %s', (value, type) => {
  expect(inferType(value)).toBe(type);
});

it.each<[Json, string, string | undefined]>([
  ['a', 'String', undefined],
  ['a', 'string', undefined],
  ['a', '', undefined],
  [null, 'Any', undefined],
  [[], 'Array<String>', undefined],
  [[1, 'a'], 'Array<Any>', undefined],
  [[1, 'a'], 'array', undefined],
  [[[1]], 'array<Array<number>>', undefined],
  ['a', 'Object', 'value: expected type Object, got String'],
  [true, 'Number', 'value: expected type Number, got Boolean'],
  [null, 'String', 'value: expected type String, got Null'],
  [1, 'Array<Number>', 'value: expected type Array<Number>, got Number'],
  [['a', 1], 'array<string>', '[1]: expected type String, got Number'],
  [[[1, 2, 'x']], 'Array<Array<Number>>', '[0][2]: expected type Number, got String'],
  [[{}], 'Array<String>', '[0]: expected type String, got Object'],
  [{}, 'Table', 'value: expected type Table, got Object'],
])('%j as %j', (value, expected, problem) => {
  expect(findMismatch(value, expected)).toBe(
    problem === undefined ? undefined : `CodeExec contract mismatch at ${problem}`,
  );
});

it.each<[Json, string]>([
  [null, ''],
  ['a\nb', 'a\nb'],
  [1, '1'],
  [true, 'true'],
  [[], '[]'],
  [{ b: 'é', a: [1] }, '{\n  "a": [\n    1\n  ],\n  "b": "é"\n}'],
  [{ b: { d: 1, c: 2 } }, '{\n  "b": {\n    "c": 2,\n    "d": 1\n  }\n}'],
])('%j reads as text', (value, text) => {
  expect(canonicalText(value)).toBe(text);
});

it.each<[string, Json]>([
  ['', ''],
  ['  \n', ''],
  ['{"a": 1}\n', { a: 1 }],
  ["{'a': (1, None), 'b': True}", { a: [1, null], b: true }],
  ['7', 7],
  ['hello', 'hello'],
  ['a\nb\n', 'a\nb'],
  ['['.repeat(1000), '['.repeat(1000)],
])('stdout %j is a value when there is no result', (stdout, value) => {
  expect(resultValue({ stdout })).toEqual(value);
});

it('prefers the result to stdout', () => {
  expect(resultValue({ stdout: '1', result: { value: null } })).toBeNull();
});

const BASE: CodeResult = { status: 'success', stdout: '', stderr: '', exitCode: 0, timeUsedMs: 1, artifacts: [] };
const FILE: CodeArtifact = { name: 'a.csv', mimeType: 'text/csv', bytes: new TextEncoder().encode('a,b') };

it.each<[string, Partial<CodeResult>, string | undefined]>([
  ['nothing at all', {}, undefined],
  ['stderr alone', { stderr: ' boom\n' }, 'boom'],
  ['stderr beside a result', { stderr: 'x', result: { value: null } }, undefined],
  ['stderr beside a file', { stderr: 'x', artifacts: [FILE] }, undefined],
  ['stderr beside stdout', { stderr: 'x', stdout: 'y' }, undefined],
  [
    'a long error',
    { status: 'program_error', stderr: `${'a'.repeat(9_000)}end` },
    `${'a'.repeat(2_000)}\n…\n${'a'.repeat(1_997)}end`,
  ],
])('says of %s whether it failed', (_what, result, failure) => {
  expect(failureText({ ...BASE, ...result })).toBe(failure);
});

describe('the contract of a document', () => {
  it.each<[Json, unknown]>([
    [DEFAULT_OUTPUTS, { name: 'result', type: 'object' }],
    [
      { answer: { type: 'String' }, content: { type: 'String' } },
      { name: 'answer', type: 'String' },
    ],
    [{ content: { type: 'String' } }, { name: 'content', type: 'String' }],
    [{ answer: {} }, { name: 'answer', type: '' }],
    [{ answer: 'x' }, { name: 'answer', type: '' }],
    [{ __proto__x: { type: 'Any' } }, { name: '__proto__x', type: 'Any' }],
    [{ a: {}, b: {} }, 'outputs must declare exactly one output of your own; it declares "a", "b"'],
    [{ content: {}, attachments: {} }, 'outputs must declare exactly one output of your own; it declares none'],
    [{ 'a.b': {} }, 'the output "a.b" needs a name that is not blank and has no "." in it'],
    [{ ' ': {} }, 'the output " " needs a name that is not blank and has no "." in it'],
  ])('%j', (outputs, contract) => {
    expect(readContract(outputs as never)).toEqual(contract);
  });
});

it('shows what is in files', () => {
  const files: CodeArtifact[] = [
    FILE,
    { name: 'b.png', mimeType: 'image/png', bytes: new Uint8Array([1]) },
    { name: 'c.json', mimeType: 'application/json', bytes: new Uint8Array([0xff]) },
    { name: 'd.html', mimeType: 'text/html', bytes: new TextEncoder().encode('x'.repeat(20_001)) },
  ];
  const text = attachmentText(files.map((file) => ({ file, url: `/u/${file.name}` })));

  expect(text.split('\n\n')).toEqual([
    'attachment_count: 4',
    'attachment1 (csv): a.csv\na,b',
    'attachment2 (image): b.png\nArtifact generated but parse failed. Download: /u/b.png',
    'attachment3 (json): c.json\nArtifact generated but parse failed. Download: /u/c.json',
    `attachment4 (html): d.html\n${'x'.repeat(20_000)}\n…`,
  ]);
  expect(attachmentText([])).toBe('');
});

it.each([
  ['200 levels', '['.repeat(200) + ']'.repeat(200), false],
  ['201 lists', '['.repeat(201) + ']'.repeat(201), true],
  ['201 objects', `${'{"a":'.repeat(201)}1${'}'.repeat(201)}`, true],
  ['a million lists', '['.repeat(1_000_000) + ']'.repeat(1_000_000), true],
  ['brackets in a text', JSON.stringify(`\\"${'['.repeat(1000)}`), false],
])('leaves printed JSON of %s as text: only when it is too deep', (_what, json, isTooDeep) => {
  expect(resultValue({ stdout: json })).toEqual(isTooDeep ? json : JSON.parse(json));
});
