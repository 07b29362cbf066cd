import excel from 'exceljs';
import { describe, expect, it } from 'vitest';
import { readWorkbook } from '../../../src/documents/spreadsheets/read-workbook.js';
import { parseSelection } from '../../../src/documents/spreadsheets/select-sheets.js';
import { createCellBudget, createSoftBudget } from '../../../src/documents/spreadsheets/table.js';
import { type TestWorkbook, workbookOf } from './workbook-of.js';

async function read(bytes: Uint8Array, selection = 'all', budget = createCellBudget(1000)) {
  const warnings: string[] = [];
  const options = { selection: parseSelection(selection), budget, warn: (message: string) => warnings.push(message) };
  const grids = await readWorkbook({ name: 'a.xlsx', bytes }, options);
  return { warnings, sheets: Object.fromEntries(grids.map(({ name, rows }) => [name, rows.map((row) => [...row])])) };
}

const rowsOf = async (xml: string, workbook?: TestWorkbook) =>
  (await read(workbookOf([{ name: 'S', xml }], workbook))).sheets.S;

describe('readWorkbook', () => {
  it('reads what exceljs writes, with every type of value', async () => {
    const workbook = new excel.Workbook();
    const sheet = workbook.addWorksheet('Values & more');
    sheet.addRow(['text', 1.5, true, null, { richText: [{ text: 'ri' }, { text: 'ch' }] }]);
    sheet.addRow([new Date(Date.UTC(2024, 0, 31)), { formula: 'B1*2', result: 3 }, { formula: 'A1', result: 'text' }]);
    sheet.addRow([{ error: '#DIV/0!' }, { text: 'link', hyperlink: 'http://x' }, { formula: 'NOW()' }, 'a\nb']);
    workbook.addWorksheet('Empty');
    const { sheets } = await read(new Uint8Array(await workbook.xlsx.writeBuffer()));
    expect(sheets).toEqual({
      'Values & more': [
        ['text', 1.5, true, undefined, 'rich'],
        ['2024-01-31', 3, 'text'],
        [undefined, 'link', undefined, 'a\nb'],
      ],
      Empty: [],
    });
  });

  it.each<readonly [string, string, TestWorkbook | undefined, unknown]>([
    [
      'cells and rows without addresses',
      '<row><c><v>1</v></c><c><v>2</v></c></row><row/><row><c><v>3</v></c></row>',
      undefined,
      [[1, 2], [3]],
    ],
    [
      'gaps between cells',
      '<row r="3"><c r="B3"><v>1</v></c><c r="D3"><v>2</v></c></row>',
      undefined,
      [[undefined, 1, undefined, 2]],
    ],
    [
      'formulas by their saved value',
      '<row><c t="b"><f>A1</f><v>1</v></c><c t="str"><f t="shared" si="0"/><v>x</v></c><c><f>1</f></c></row>',
      undefined,
      [[true, 'x']],
    ],
    [
      'inline texts in runs',
      '<row><c t="inlineStr"><is><r><t>a</t></r><r><t xml:space="preserve"> b</t></r></is></c></row>',
      undefined,
      [['a b']],
    ],
    [
      'texts without their reading aid',
      '<row><c t="s"><v>0</v></c></row>',
      { strings: '<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si>' },
      [['東京']],
    ],
    [
      'escaped characters',
      '<row><c t="s"><v>0</v></c></row>',
      { strings: '<si><t>a_x000D_\n_x0041_&amp;</t></si>' },
      [['a\nA&']],
    ],
    ['ISO dates', '<row><c t="d"><v>2024-01-31T00:00:00</v></c></row>', undefined, [['2024-01-31T00:00:00']]],
    ['a text that is not there', '<row><c t="s"><v>9</v></c><c><v>1</v></c></row>', undefined, [[undefined, 1]]],
    ['a number that is none', '<row><c><v>abc</v></c><c><v>1e3</v></c></row>', undefined, [[undefined, 1000]]],
    [
      'dates by their style',
      '<row><c s="1"><v>45322</v></c><c s="2"><v>45322.5</v></c><c s="0"><v>45322</v></c></row>',
      {
        styles:
          '<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd hh:mm"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs>',
      },
      [['2024-01-31', '2024-01-31T12:00:00', 45_322]],
    ],
    [
      'dates from 1904',
      '<row><c s="0"><v>43860</v></c></row>',
      { properties: 'date1904="1"', styles: '<cellXfs><xf numFmtId="14"/></cellXfs>' },
      [['2024-01-31']],
    ],
  ])('reads %s', async (_name, xml, workbook, rows) => {
    expect(await rowsOf(xml, workbook)).toEqual(rows);
  });

  const three = workbookOf(
    ['One', 'Two', 'Three'].map((name, index) => ({
      name,
      xml: [1, 2, 3]
        .map((row) => `<row r="${row}"><c r="A${row}"><v>${index}${row}</v></c><c r="B${row}"><v>${row}</v></c></row>`)
        .join(''),
    })),
  );

  it('reads the selected sheets in the wanted order, and tells what is not there', async () => {
    const { sheets, warnings } = await read(three, 'Three, Gone, One!B2:B3');
    expect(Object.entries(sheets)).toEqual([
      [
        'Three',
        [
          [21, 1],
          [22, 2],
          [23, 3],
        ],
      ],
      ['One', [[2], [3]]],
    ]);
    expect(warnings).toEqual(['File "a.xlsx" has no sheet "Gone".']);
  });

  it('fails beyond its budget, and stops where the budget is soft', async () => {
    await expect(read(three, 'all', createCellBudget(10))).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    const { sheets } = await read(three, 'One', createSoftBudget(3));
    expect(sheets).toEqual({ One: [[1, 1], [2]] });
  });

  it('gives others their turn and stops when it is told to', async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => `<row><c><v>${index}</v></c></row>`).join('');
    const bytes = workbookOf([{ name: 'S', xml: rows }]);
    const abort = new AbortController();
    const options = {
      selection: parseSelection('all'),
      budget: createCellBudget(1e6),
      warn() {},
      signal: abort.signal,
    };
    const reading = readWorkbook({ name: 'a.xlsx', bytes }, options);
    setImmediate(() => abort.abort());
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
  });

  it.each([
    ['no archive', Buffer.from('PK'), 'it is no zip archive, or its end is missing.'],
    [
      'broken XML',
      workbookOf([{ name: 'S', xml: '<row' }]),
      '"xl/Data/Page 0.xml" in it is damaged: disallowed character in tag name.',
    ],
    [
      'a document type within',
      workbookOf([{ name: 'S', xml: '<!DOCTYPE a>' }]),
      'damaged: inappropriately located doctype declaration.',
    ],
    [
      'a cell beyond the last column',
      workbookOf([{ name: 'S', xml: '<row><c r="XFE1"/></row>' }]),
      'it has a cell behind column XFD.',
    ],
  ])('refuses %s', async (_name, bytes, message) => {
    await expect(read(bytes)).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: expect.stringContaining(message),
    });
  });
});
