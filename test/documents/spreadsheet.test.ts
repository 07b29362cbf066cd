import readExcelFile, { readSheetNames } from 'read-excel-file/node';
import { describe, expect, it } from 'vitest';
import { convertMarkdown } from '../../src/documents/index.js';
import { readWorkbook } from '../../src/documents/spreadsheets/read-workbook.js';
import { parseSelection } from '../../src/documents/spreadsheets/select-sheets.js';
import { createCellBudget } from '../../src/documents/spreadsheets/table.js';

/** The sheets that another reader finds in the file that Markdown becomes. */
async function sheetsOf(markdown: string) {
  const { bytes } = await convertMarkdown(markdown, { format: 'xlsx' });
  const options = { selection: parseSelection('all'), budget: createCellBudget(10_000), warn: () => {} };
  const grids = await readWorkbook({ name: 'made.xlsx', bytes }, options);
  return grids.map(({ name, rows }) => [name, rows.map((row) => [...row])]);
}

describe('Excel', () => {
  it('is understood by a reader that knows nothing of us', async () => {
    const { bytes } = await convertMarkdown('# 销售\n\n| Name | Price |\n|---|---:|\n| 苹果 | 1,234.5 |\n', {
      format: 'xlsx',
    });
    expect(await readSheetNames(Buffer.from(bytes))).toEqual(['销售']);
    expect(await readExcelFile(Buffer.from(bytes), { sheet: '销售' })).toEqual([
      ['Name', 'Price'],
      ['苹果', 1234.5],
    ]);
  });

  it('has a sheet for every table, with numbers and texts', async () => {
    const markdown =
      '# 销售\n\n| Name | Price | Code |\n|---|---:|---|\n| 苹果 | 1,234.5 | 007 |\n| =1+1 | 3 |\n\n|x|\n|-|\n|y|\n';
    expect(await sheetsOf(markdown)).toEqual([
      [
        '销售',
        [
          ['Name', 'Price', 'Code'],
          ['苹果', 1234.5, '007'],
          ['=1+1', 3],
        ],
      ],
      ['Table_2', [['x'], ['y']]],
    ]);
  });

  it('has the whole text when there is no table', async () => {
    expect(await sheetsOf('Just <text> & more\u0001.')).toEqual([['Data', [['Content'], ['Just <text> & more.']]]]);
    const long = '😀'.repeat(20_000);
    const [[, rows] = []] = (await sheetsOf(long)) as [string, string[][]][];
    const parts = (rows ?? []).slice(1).map(([text = '']) => text);
    expect(parts.map(({ length }) => length)).toEqual([32_766, 7234]);
    expect(parts.join('')).toBe(long);
  });

  it.each([
    ['sheets', '| a |\n\n'.repeat(201), /201 tables; at most 200/],
    ['cells', `${'| a | b |\n'.repeat(100_001)}`, /200002 cells; at most 200000/],
    ['columns', '|a'.repeat(16_385), /16385 columns/],
  ])('refuses too many %s', async (_, markdown, problem) => {
    await expect(convertMarkdown(markdown, { format: 'xlsx' })).rejects.toMatchObject({
      code: 'DOCUMENT_NOT_WRITTEN',
      message: expect.stringMatching(problem),
    });
  });
});
