import { describe, expect, it } from 'vitest';
import { limitText } from '../../../src/documents/reading/limits.js';
import { loadSource, openSource } from '../../../src/documents/spreadsheets/load-tables.js';
import { parseSelection } from '../../../src/documents/spreadsheets/select-sheets.js';
import { createCellBudget, sheetsMarkdown, toRecords } from '../../../src/documents/spreadsheets/table.js';
import type { Json } from '../../../src/json.js';
import { storeOf } from '../../components/file-store.js';
import { workbookOf } from './workbook-of.js';

const BOOK = workbookOf([{ name: 'S', xml: '<row><c t="str"><v>k</v></c></row><row><c><v>1</v></c></row>' }]);
const CSV = 'k;v\n1;a\n2;b\n';
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

async function load(value: Json, services: unknown = {}, selection = 'all') {
  const warnings: string[] = [];
  const options = {
    selection: parseSelection(selection),
    budget: createCellBudget(1000),
    warn: (message: string) => warnings.push(message),
  };
  const source = await openSource(value, services);
  const file = source && (await loadSource(source, options));
  if (file === undefined) return undefined;
  return {
    name: file.name,
    ...Object.fromEntries(file.tables.map((table) => [table.name, toRecords(table)])),
    warnings,
  };
}

const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64');
const csvRows = [
  { k: 1, v: 'a' },
  { k: 2, v: 'b' },
];

describe('loadSource', () => {
  it.each<readonly [string, Json, object]>([
    ['a workbook as a data URL', `data:${XLSX};base64,${base64(BOOK)}`, { name: 'uploaded.xlsx', S: [{ k: 1 }] }],
    ['CSV as a data URL', `data:text/csv;base64,${base64(CSV)}`, { name: 'uploaded.csv', Sheet1: csvRows }],
    [
      'a workbook as Base64',
      `${base64(BOOK).slice(0, 76)}\n${base64(BOOK).slice(76)}`,
      { name: 'uploaded.xlsx', S: [{ k: 1 }] },
    ],
    ['CSV as Base64', base64(CSV), { name: 'uploaded.csv', Sheet1: csvRows }],
    ['CSV', CSV, { name: 'text', Sheet1: csvRows }],
    [
      'Markdown',
      'See:\n\n### One\n\n| k | v |\n| --- | --- |\n| 1 | a\\|b |\n\n### Two\n\n|x|\n|---|\n|007|\n',
      { name: 'text', One: [{ k: 1, v: 'a|b' }], Two: [{ x: '007' }] },
    ],
  ])('reads %s', async (_name, value, expected) => {
    expect(await load(value)).toEqual({ ...expected, warnings: [] });
  });

  it('reads files of the store, under the name that the client gives', async () => {
    const services = storeOf(
      { id: 'b', name: 'stored.xlsx', mimeType: '', bytes: BOOK },
      { id: 'c', name: 'c.csv', mimeType: 'application/vnd.ms-excel', text: `\uFEFF${CSV}` },
    );
    expect(await load({ id: 'b', name: 'mine.xlsx' }, services)).toMatchObject({ name: 'mine.xlsx', S: [{ k: 1 }] });
    expect(await load({ file_id: 'c' }, services, 'Gone')).toMatchObject({
      name: 'c.csv',
      Sheet1: csvRows,
      warnings: [],
    });
    expect(await load({ id: 'c' }, services, 'A1:A2')).toMatchObject({ Sheet1: [{ k: 1 }] });
  });

  it('reads back what a file input made of a workbook', async () => {
    const table = {
      name: 'My: "sheet"',
      columns: ['n', 't'],
      rows: [
        [1.5, 'x|y\nz'],
        [null, ''],
      ],
      hasHeader: true,
    };
    expect(await load(sheetsMarkdown([table]), {}, 'all')).toMatchObject({ 'My: "sheet"': [{ n: 1.5, t: 'x|y\nz' }] });
  });

  it('selects among the tables of a text', async () => {
    const text = '# A\n|x|\n|---|\n|1|\n# B\n|y|\n|---|\n|2|\n|3|';
    expect(await load(text, {}, 'B!A1:A2,C')).toMatchObject({ B: [{ y: 2 }], warnings: ['"text" has no table "C".'] });
  });

  it.each([
    '',
    'hello',
    'two\nlines',
    'aGVsbG8gd29ybGQ=',
    'a, b',
    '| no | rule |',
    5,
    true,
    null,
    [],
    {},
    { name: 'a.csv' },
  ])('takes %j for no file', async (value) => {
    expect(await load(value as Json)).toBeUndefined();
  });

  it.each<readonly [string, Json, string, RegExp]>([
    [
      'a broken workbook',
      `data:${XLSX};base64,${base64(BOOK.subarray(0, 200))}`,
      'FILE_UNREADABLE',
      /"uploaded.xlsx" cannot be read/,
    ],
    ['bytes that are neither', `data:${XLSX};base64,AAECAw==`, 'FILE_UNREADABLE', /neither an .xlsx workbook nor CSV/],
    [
      'a page called a workbook',
      `data:${XLSX},<html>login</html>`,
      'FILE_UNREADABLE',
      /neither an .xlsx workbook nor CSV/,
    ],
    [
      'a sentence called a workbook',
      `data:${XLSX},this is none`,
      'FILE_UNREADABLE',
      /neither an .xlsx workbook nor CSV/,
    ],
    [
      'an old workbook',
      `data:${XLSX};base64,${base64(Buffer.from('d0cf11e0a1b11ae1', 'hex'))}`,
      'FILE_UNREADABLE',
      /Excel before 2007/,
    ],
    ['a file that is not there', { id: 'gone', name: 'a.csv' }, 'FILE_UNKNOWN', /There is no file "gone" \("a.csv"\)/],
    [
      'a text that was cut',
      limitText(`${CSV.repeat(20)}`, 100, 'a.csv'),
      'NODE_FAILED',
      /was cut because of its length/,
    ],
  ])('refuses %s', async (_name, value, code, message) => {
    await expect(load(value, storeOf())).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('needs a store for files that are in one', async () => {
    await expect(load({ id: 'a' }, {})).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
