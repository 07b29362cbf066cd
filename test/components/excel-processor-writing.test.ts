import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/json.js';
import { say, storeOf } from './excel-run.js';
import { outputsOf } from './text-activation.js';

describe('ExcelProcessor writing', () => {
  const write = async (params: JsonObject, value: Json) => {
    const { saved, services } = storeOf();
    const outputs = outputsOf(
      await say({ operation: 'output', transform_data: 'n@v', ...params }, { v: value, name: 'Q1' }, services),
    );
    return { saved, outputs };
  };

  it('keeps a workbook that can be read again', async () => {
    const sheets = { People: [{ name: 'Ann', born: '1990-05-01' }], Towns: [{ town: '=Rome' }, { town: 7 }] };
    const { saved, outputs } = await write({ output_filename: 'book' }, sheets);
    expect(outputs).toEqual({
      data: sheets,
      summary: 'Generated book.xlsx with 2 sheet(s), 3 total rows',
      attachment: { doc_id: 'doc-1', format: 'xlsx', file_name: 'book.xlsx' },
    });
    const [file] = saved;
    expect(file).toMatchObject({ name: 'book.xlsx', mimeType: expect.stringContaining('spreadsheetml') });
    const again = storeOf({ 'book.xlsx': file?.bytes ?? '' });
    const read = outputsOf(await say({ input_files: ['n@f'] }, { f: { id: 'book.xlsx' } }, again.services));
    expect(read.data).toEqual({ 'book.xlsx_People': sheets.People, 'book.xlsx_Towns': sheets.Towns });
  });

  it('writes the first sheet alone as CSV', async () => {
    const { saved, outputs } = await write({ output_format: 'CSV' }, { A: [{ x: 1 }], B: [{ y: 2 }] });
    expect(saved.map(({ bytes }) => new TextDecoder().decode(bytes))).toEqual(['x\r\n1\r\n']);
    expect(outputs).toMatchObject({
      summary: 'Generated output.csv with 2 sheet(s), 2 total rows',
      attachment: { format: 'csv' },
    });
  });

  it.each<readonly [string, JsonObject, Json, Json]>([
    [
      'a grid, as the operation "write"',
      {
        operation: 'write',
        transform_data: null,
        output_data: [
          ['a', 'b'],
          [1, 2],
        ],
        sheet_name: 'G',
      },
      null,
      { G: [{ a: 1, b: 2 }] },
    ],
    [
      'a reference to a grid',
      { operation: 'write', transform_data: null, output_data: 'n@v' },
      [[1, 2]],
      { Sheet1: [{ 0: 1, 1: 2 }] },
    ],
    ['JSON of a model', {}, '```json\n[{"a": 1}]\n```', { Sheet1: [{ a: 1 }] }],
    ['a Markdown table of a model', {}, 'Here you are\n\n| a |\n| --- |\n| 1 |', { Sheet1: [{ a: 1 }] }],
    ['one row', {}, { a: 1 }, { Sheet1: [{ a: 1 }] }],
  ])('takes %s', async (_name, params, value, data) => {
    const { saved, outputs } = await write(params, value);
    expect(outputs.data).toEqual(data);
    expect(saved).toHaveLength(1);
  });

  it.each([
    ['report {n@name}.xlsx', 'report Q1.xlsx'],
    ['../../etc/pass:wd', 'etc pass wd.xlsx'],
    [' ', 'output.xlsx'],
    ['..', 'output.xlsx'],
    ['a.csv', 'a.csv.xlsx'],
  ])('calls the file %j %j', async (output_filename, name) => {
    expect((await write({ output_filename }, [{ a: 1 }])).saved[0]?.name).toBe(name);
  });

  it.each<readonly [string, JsonObject, Json, string]>([
    ['no reference', { transform_data: '' }, null, 'No data reference for output'],
    ['no data', {}, null, 'No data to output'],
    ['a text', {}, 'hello', 'Invalid data format for Excel output'],
    ['a number', {}, 5, 'Invalid data format for Excel output'],
    ['no sheets', {}, {}, 'Invalid data format for Excel output'],
  ])('says so and writes nothing for %s', async (_name, params, value, summary) => {
    const { saved, outputs } = await write(params, value);
    expect(outputs).toEqual({ data: null, summary });
    expect(saved).toEqual([]);
  });

  it('fails without a file store, and on what does not fit', async () => {
    const params = { operation: 'output', transform_data: 'n@v' };
    await expect(async () => await say(params, { v: [1] })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(write({}, [{ a: 'x'.repeat(40_000) }])).rejects.toMatchObject({ code: 'DOCUMENT_NOT_WRITTEN' });
  });
});
