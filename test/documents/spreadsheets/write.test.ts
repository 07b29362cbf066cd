import excel from 'exceljs';
import readExcelFile from 'read-excel-file/node';
import { describe, expect, it } from 'vitest';
import { loadSource } from '../../../src/documents/spreadsheets/load-tables.js';
import { parseSelection } from '../../../src/documents/spreadsheets/select-sheets.js';
import { createCellBudget, type Table } from '../../../src/documents/spreadsheets/table.js';
import { writeCsv } from '../../../src/documents/spreadsheets/write-spreadsheet.js';
import { writeWorkbook } from '../../../src/documents/spreadsheets/write-workbook.js';
import type { Json } from '../../../src/json.js';

const table = (
  name: string,
  columns: readonly string[],
  rows: readonly (readonly Json[])[],
  hasHeader = true,
): Table => ({ name, columns, rows, hasHeader });

async function readBack(bytes: Uint8Array, type: string): Promise<readonly Table[]> {
  const options = { selection: parseSelection('all'), budget: createCellBudget(1e6), warn() {} };
  const file = await loadSource({ text: `data:${type};base64,${Buffer.from(bytes).toString('base64')}` }, options);
  return file?.tables ?? [];
}

const csvText = async (given: Table) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(await writeCsv(given));

describe('writeWorkbook', () => {
  const rows = [
    ['=1+1', 1.5, true, '2024-01-31', '2024-01-31T10:20:30', null],
    ['+a@b', -2, false, 'x', '2024-01-31T10:20:30Z', 'x'],
    ['中文 😀 <&>', 0, null, '1899-01-01', '2024-02-30', '007'],
  ];

  it('gives back what was written, types and dates included', async () => {
    const given = [table('Data', ['text', 'n', 'b', 'd', 't', 'e'], rows), table('Empty', ['only names'], [])];
    expect(await readBack(await writeWorkbook(given), 'application/octet-stream')).toEqual(given);
  });

  it('writes texts that look like formulas as texts, dates as dates', async () => {
    const workbook = new excel.Workbook();
    const bytes = await writeWorkbook([table('S', ['=A1', 'd'], [['=HYPERLINK("x")', '2024-01-31']])]);
    // biome-ignore lint/suspicious/noExplicitAny: the library declares a Buffer type of its own
    await workbook.xlsx.load(Buffer.from(bytes) as any);
    const sheet = workbook.getWorksheet('S');
    expect(sheet?.getCell('A1')).toMatchObject({ type: excel.ValueType.String, value: '=A1', font: { bold: true } });
    expect(sheet?.getCell('A2')).toMatchObject({ type: excel.ValueType.String, value: '=HYPERLINK("x")' });
    expect(sheet?.getCell('B2')).toMatchObject({ type: excel.ValueType.Date, numFmt: 'yyyy-mm-dd' });
    expect(sheet?.views).toMatchObject([{ state: 'frozen', ySplit: 1 }]);
  });

  it('writes rows that other programs read, beyond column Z and with more texts than it packs at once', async () => {
    const columns = Array.from({ length: 30 }, (_, index) => `c${index}`);
    const rows = Array.from({ length: 400 }, (_, row) =>
      columns.map((name, column) => (column === 27 ? row : `${name} <${row}>`)),
    );
    const bytes = Buffer.from(await writeWorkbook([table('Wide', columns, rows)]));
    expect(await readExcelFile(bytes)).toEqual([columns, ...rows]);
  });

  it('writes lists and objects as JSON, and control characters not at all', async () => {
    const [read] = await readBack(await writeWorkbook([table('S', ['a', 'b'], [[{ x: [1] }, 'a\u0000b']])]), 'x/y');
    expect(read?.rows).toEqual([['{"x": [1]}', 'ab']]);
  });

  it('makes names that Excel opens, and no header where the data has none', async () => {
    const given = [
      table(`a/b:${'x'.repeat(40)}`, ['0'], [[1]], false),
      table('History', ['a'], [[2]]),
      table('history', ['a'], [[3]]),
    ];
    const workbook = new excel.Workbook();
    // biome-ignore lint/suspicious/noExplicitAny: the library declares a Buffer type of its own
    await workbook.xlsx.load(Buffer.from(await writeWorkbook(given)) as any);
    expect(workbook.worksheets.map(({ name }) => name)).toEqual([`a_b${'x'.repeat(28)}`, 'History_', 'history__1']);
    expect(workbook.worksheets[0]?.getCell('A1').value).toBe(1);
  });

  it.each([
    ['a long text', table('S', ['a'], [['x'.repeat(32_768)]]), /a cell has 32768 characters/],
    [
      'many columns',
      table(
        'S',
        Array.from({ length: 16_385 }, (_, index) => String(index)),
        [],
      ),
      /has 16385 columns/,
    ],
  ])('refuses %s', async (_name, given, message) => {
    await expect(writeWorkbook([given])).rejects.toMatchObject({
      code: 'DOCUMENT_NOT_WRITTEN',
      message: expect.stringMatching(message),
    });
  });

  it('stops when it is told to', async () => {
    await expect(writeWorkbook([table('S', ['a'], [[1]])], AbortSignal.abort())).rejects.toMatchObject({
      name: 'AbortError',
    });
  });
});

describe('writeCsv', () => {
  it('quotes what needs it', async () => {
    const given = table(
      'S',
      ['a', 'b,c'],
      [
        ['x "y"', 'l1\nl2'],
        [1.5, null],
        [true, { z: 1 }],
      ],
    );
    expect(await csvText(given)).toBe('a,"b,c"\r\n"x ""y""","l1\nl2"\r\n1.5,\r\ntrue,"{""z"": 1}"\r\n');
  });

  it('keeps texts from running as formulas, and numbers as they are', async () => {
    const rows = [['=1', '+x', '-x', '@x', '\tx', ' =1', '＝1', '-1.5', -2, '--1']];
    const names = rows[0]?.map((_, index) => String(index)) ?? [];
    expect(await csvText(table('S', names, rows, false))).toBe(
      `'=1,'+x,'-x,'@x,'\tx,' =1,'＝1,-1.5,-2,'--1\r\n`.replace(/^/, '\uFEFF'),
    );
  });

  it('begins with a byte order mark when there is more than ASCII', async () => {
    expect(await csvText(table('S', ['a'], [['x']]))).toBe('a\r\nx\r\n');
    expect(await csvText(table('S', ['a'], [['é']]))).toBe('\uFEFFa\r\né\r\n');
  });

  it('gives back what was written', async () => {
    const given = table(
      'Sheet1',
      ['n', 'b', 's', 'd'],
      [
        [1, true, 'ü, "x"', '2024-01-31'],
        [2.5, null, null, '007'],
      ],
    );
    expect(await readBack(await writeCsv(given), 'text/csv')).toEqual([given]);
  });

  it('writes many rows, and stops when it is told to', async () => {
    const many = table(
      'S',
      ['a'],
      Array.from({ length: 5000 }, (_, index) => [index]),
    );
    expect((await csvText(many)).split('\r\n')).toHaveLength(5002);
    await expect(writeCsv(many, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
  });
});
