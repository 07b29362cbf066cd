import { expect, it } from 'vitest';
import { RagflowProjection } from '../../src/canvas/ragflow-events.js';
import { parts } from '../../src/components/browsing/files.js';
import { chooseCategory } from '../../src/components/categorize.js';
import { oneLine } from '../../src/components/prompts.js';
import { fileName } from '../../src/documents/file-name.js';
import { readNotes, oneLine as runningText } from '../../src/documents/read-markdown.js';
import { writeCsv } from '../../src/documents/spreadsheets/write-spreadsheet.js';
import { createXmlReader } from '../../src/documents/spreadsheets/xml-reader.js';
import { cellValue } from '../../src/documents/write-xlsx.js';
import { Transcript } from '../../src/hosting/transcript.js';
import type { RunRecord } from '../../src/records/runs.js';
import { renderJinja } from '../../src/templates/template.js';
import { isSchemaCall } from '../../src/tools/exe-sql.js';
import { readTags } from '../../src/transport/agents/agent-input.js';
import { openaiCompletion } from '../../src/transport/completions/openai-view.js';

/** Quadratic time would be minutes for so many. */
const MANY = 200_000;
const BLANKS = `a${'\t'.repeat(MANY)}b`;
const DIGITS = `${'1'.repeat(MANY)}x`;

const ignore = (): void => {};

it.each<[string, () => unknown, unknown]>([
  ['a question in a list', () => oneLine(BLANKS), BLANKS],
  ['an answer that names a category', () => chooseCategory(BLANKS, ['c', 'b']), 'b'],
  ['tags', () => readTags([BLANKS]).length, 1],
  ['names of files', () => parts(BLANKS).length, 1],
  ['addresses of files', () => parts(`http://${BLANKS}`).length, 1],
  ['a cell of a document', () => cellValue(DIGITS), DIGITS],
  ['a name of a file', () => fileName(`a${'.'.repeat(MANY)}b`, 'txt'), 'a.txt'],
  ['comments without an end', () => readNotes('<!--'.repeat(MANY)), undefined],
  ['a line of a document', () => runningText(BLANKS), BLANKS],
  ['the word for a schema', () => isSchemaCall(`schema${BLANKS}`), false],
])('reads %s in linear time', (_what, read, expected) => {
  expect(read()).toBe(expected);
});

it('reads reasoning without an end in linear time', () => {
  const content = '<think>'.repeat(MANY);
  const header = { sessionId: 's', agentId: 'a', created: 0, promptTokens: 0 };
  const run = { status: 'succeeded' } as RunRecord;
  const transcript = new Transcript({
    projection: new RagflowProjection({ plan: undefined, messageId: 'm', sessionId: 's', startedAt: 0 }),
    storesTrace: false,
  });
  transcript.addText(content);
  const { body } = openaiCompletion(header, run, transcript);
  expect(body).toMatchObject({ choices: [{ message: { content } }] });
});

it('reads a tag without an end in linear time', () => {
  const reader = createXmlReader({ open: ignore, close: ignore, text: ignore });
  reader.write(`<${'a'.repeat(MANY)}`);
  expect(() => reader.end()).toThrow('the XML ends too early');
});

it('writes a field of digits in linear time', async () => {
  const table = { name: 'S', columns: ['a'], rows: [[`+${DIGITS}`]], hasHeader: false };
  expect((await writeCsv(table)).length).toBe(MANY + 5);
});

it('refuses a format of zeros in linear time', () => {
  expect(() => renderJinja('{{ text % 1 }}', { text: `% ${'0'.repeat(MANY)}` })).toThrow('without a directive');
});
