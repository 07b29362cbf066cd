import { isObservable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { excelProcessor } from '../../src/components/excel-processor.js';
import type { StoredFile } from '../../src/components/services.js';
import { uniqueName } from '../../src/documents/spreadsheets/table.js';
import type { Json, JsonObject } from '../../src/json.js';
import { createThreadPool } from '../../src/threads/thread-pool.js';
import { workbookOf } from '../documents/spreadsheets/workbook-of.js';
import { say, storeOf } from './excel-run.js';
import { activationOf, nodeOf, outputsOf, runAtOnce, warningsOf } from './text-activation.js';

const people = workbookOf([
  {
    name: 'People',
    xml: '<row><c t="str"><v>name</v></c><c t="str"><v>age</v></c></row><row><c t="str"><v>Ann</v></c><c><v>30</v></c></row>',
  },
  { name: 'Towns', xml: '<row><c t="str"><v>town</v></c></row><row><c t="str"><v>Rome</v></c></row>' },
]);
const files = { 'p.xlsx': people, 'a.csv': 'name,age\nBob,25\n', 'b.csv': 'name;score\nBob;7\nCy;9\n' };
const refs = (...ids: readonly string[]): Json => ids.map((id) => ({ id }));

describe('ExcelProcessor reading', () => {
  it('gives the rows by file and sheet, a summary and the first rows as Markdown', async () => {
    const { services } = storeOf(files);
    const events = await say(
      { input_files: ['n@book', '{{n@more}}'] },
      { book: { id: 'p.xlsx' }, more: refs('a.csv') },
      services,
    );
    expect(events).toHaveLength(1);
    expect(outputsOf(events)).toEqual({
      data: {
        'p.xlsx_People': [{ name: 'Ann', age: 30 }],
        'p.xlsx_Towns': [{ town: 'Rome' }],
        'a.csv': [{ name: 'Bob', age: 25 }],
      },
      summary:
        '**p.xlsx_People**: 1 rows, 2 columns (name, age)\n**p.xlsx_Towns**: 1 rows, 1 columns (town)\n**a.csv**: 1 rows, 2 columns (name, age)',
      markdown:
        '### p.xlsx_People\n\n| name | age |\n| --- | --- |\n| Ann | 30 |\n\n### p.xlsx_Towns\n\n| town |\n| --- |\n| Rome |\n\n### a.csv\n\n| name | age |\n| --- | --- |\n| Bob | 25 |',
    });
  });

  it('reads one sheet under the name of the file, and tells of sheets and values that are nothing', async () => {
    const { services } = storeOf(files);
    const params = { input_files: 'n@list', sheet_selection: 'Towns,Gone' };
    const events = await say(params, { list: [{ id: 'p.xlsx' }, 'hello', null] }, services);
    expect(outputsOf(events).data).toEqual({ 'p.xlsx': [{ town: 'Rome' }] });
    expect(warningsOf(events)).toEqual([
      'File "p.xlsx" has no sheet "Gone".',
      'A value that is no file is passed over: hello',
    ]);
  });

  it('keeps files of the same name apart', async () => {
    const { services } = storeOf(files);
    const list = [
      { id: 'a.csv', name: 'x.csv' },
      { id: 'b.csv', name: 'x.csv' },
    ];
    expect(
      Object.keys(outputsOf(await say({ input_files: ['n@list'] }, { list }, services)).data as JsonObject),
    ).toEqual(['x.csv', 'x.csv.1']);
  });

  it('names five columns and shows ten rows', async () => {
    const text = `a,b,c,d,e,f\n${'1,2,3,4,5,6\n'.repeat(12)}`;
    const { summary, markdown } = outputsOf(await say({ input_files: ['n@text'] }, { text }));
    expect(summary).toBe('**text**: 12 rows, 6 columns (a, b, c, d, e...)');
    expect(String(markdown).split('\n')).toHaveLength(2 + 2 + 10);
  });

  it.each<readonly [string, JsonObject, string]>([
    ['no files', { input_files: [] }, 'No Excel files found'],
    ['a file that was not given', { input_files: ['n@none'] }, 'No Excel files found'],
    ['nothing to merge', { operation: 'merge', input_files: null }, 'No data to merge'],
  ])('says that there is %s, at once', (_name, params, summary) => {
    const events = runAtOnce(excelProcessor, params, { outputs: { n: { none: null } } });
    expect(outputsOf(events)).toMatchObject({ data: {}, summary });
  });

  it('warns of a reference that names nothing, and fails on a node that is not there', () => {
    expect(warningsOf(runAtOnce(excelProcessor, { input_files: ['n@x'] }, { outputs: { n: {} } }))).toEqual([
      '"n@x" names no value; it reads as empty text.',
    ]);
    expect(() => runAtOnce(excelProcessor, { input_files: ['m@x'] })).toThrow(/there is no node "m"/);
  });

  it('fails on a file that is not there', async () => {
    const file = { id: 'gone' };
    await expect(say({ input_files: ['n@file'] }, { file }, storeOf().services)).rejects.toMatchObject({
      code: 'FILE_UNKNOWN',
    });
  });

  it('passes over a file that cannot be read, with a warning', async () => {
    const list = [{ id: 'broken.xlsx' }, { id: 'a.csv' }];
    const { services } = storeOf({ ...files, 'broken.xlsx': 'PK and nothing else' });
    const events = await say({ input_files: ['n@list'] }, { list }, services);
    expect(outputsOf(events)).toMatchObject({ data: { 'a.csv': [{ name: 'Bob', age: 25 }] } });
    expect(warningsOf(events)).toEqual([expect.stringContaining('broken.xlsx')]);
  });

  it.each(['read', 'merge'])('finds nothing to %s in an empty CSV file', async (operation) => {
    const { services } = storeOf({ 'e.csv': '' });
    const { data } = outputsOf(await say({ operation, input_files: ['n@file'] }, { file: { id: 'e.csv' } }, services));
    expect(data).toEqual({});
  });

  it('stops between two files when it is unsubscribed', async () => {
    const asked: string[] = [];
    let answer = (_file: StoredFile): void => {};
    const read = (id: string): Promise<StoredFile> => {
      asked.push(id);
      return new Promise((resolve) => {
        answer = resolve;
      });
    };
    const activation = activationOf({ outputs: { n: { list: refs('a', 'b') } }, services: { files: { read } } });
    const result = nodeOf(excelProcessor, { input_files: ['n@list'] })(activation);
    const said: unknown[] = [];
    if (!isObservable(result)) throw new Error('expected a stream');
    const subscription = result.subscribe({ next: (event) => said.push(event), error: (error) => said.push(error) });
    subscription.unsubscribe();
    answer({ id: 'a', name: 'a.csv', mimeType: '', bytes: Buffer.from('a,b\n1,2') });
    await new Promise((resolve) => setImmediate(resolve));
    expect({ asked, said }).toEqual({ asked: ['a'], said: [] });
  });
});

describe('ExcelProcessor merging', () => {
  const merge = async (params: JsonObject) =>
    outputsOf(
      await say(
        { operation: 'merge', input_files: ['n@list'], ...params },
        { list: refs('a.csv', 'b.csv') },
        storeOf(files).services,
      ),
    );

  it('puts rows one under the other', async () => {
    expect(await merge({})).toEqual({
      data: {
        merged: [
          { name: 'Bob', age: 25, score: null },
          { name: 'Bob', age: null, score: 7 },
          { name: 'Cy', age: null, score: 9 },
        ],
      },
      summary: 'Merged 2 sources into 3 rows, 3 columns',
      markdown: '| name | age | score |\n| --- | --- | --- |\n| Bob | 25 |  |\n| Bob |  | 7 |\n| Cy |  | 9 |',
    });
  });

  it('joins on a column', async () => {
    const { data } = await merge({ merge_strategy: 'join', join_on: ' name ' });
    expect(data).toEqual({
      merged: [
        { name: 'Bob', age: 25, score: 7 },
        { name: 'Cy', age: null, score: 9 },
      ],
    });
  });

  it('needs a column to join on', async () => {
    expect((await merge({ merge_strategy: 'join' })).summary).toBe('Merged 2 sources into 3 rows, 3 columns');
    await expect(merge({ merge_strategy: 'join', join_on: 'age' })).rejects.toThrow(/cannot be joined on "age"/);
  });
});

describe('ExcelProcessor transforming', () => {
  it.each<readonly [string, Json, Json, string]>([
    [
      'a list of rows',
      [{ a: 1 }, { b: 2 }],
      [
        { a: 1, b: null },
        { a: null, b: 2 },
      ],
      '| a | b |\n| --- | --- |\n| 1 |  |\n|  | 2 |',
    ],
    ['sheets', { S: [{ a: 1 }], T: [] }, { S: [{ a: 1 }], T: [] }, '### S\n\n| a |\n| --- |\n| 1 |\n\n### T'],
    ['an object', { a: 1 }, [{ a: 1 }], '| a |\n| --- |\n| 1 |'],
    ['a text', 'x', { raw: 'x' }, 'x'],
    ['a number', 5, { raw: '5' }, '5'],
  ])('takes %s at once', (_name, value, data, markdown) => {
    const params = { operation: 'Transform', transform_data: 'n@v' };
    const events = runAtOnce(excelProcessor, params, { outputs: { n: { v: value } } });
    expect(outputsOf(events)).toEqual({ data, summary: 'Transformed data ready for processing', markdown });
  });

  it.each([
    ['', 'No transform data reference provided'],
    ['n@v', 'Transform data is empty'],
  ])('says what is missing for %j', (transform_data, summary) => {
    const around = { outputs: { n: { v: null } } };
    expect(outputsOf(runAtOnce(excelProcessor, { operation: 'transform', transform_data }, around))).toEqual({
      data: null,
      summary,
    });
  });

  it('takes an output that is not there for an empty text', () => {
    const params = { operation: 'transform', transform_data: 'n@gone' };
    const events = runAtOnce(excelProcessor, params, { outputs: { n: { v: 1 } } });
    expect(outputsOf(events)).toMatchObject({ data: { raw: '' }, summary: 'Transformed data ready for processing' });
  });
});

describe('ExcelProcessor parameters', () => {
  it.each([
    ['operation', 'delete'],
    ['output_format', 'ods'],
    ['input_files', 5],
  ])('refuses %s %j', (name, value) => {
    expect(excelProcessor.params.safeParse({ [name]: value }).success).toBe(false);
  });
});

describe('ExcelProcessor and threads', () => {
  it('works on files and long data in the threads of the process, and names their limit', async () => {
    const threads = createThreadPool({ timeoutMs: 60_000 });
    const rows = Array.from({ length: 2_000 }, (_, row) => ({ a: row, b: `text ${row}`, c: true }));
    const started: unknown[] = [];
    const remember = (thread: unknown) => started.push(thread);
    process.on('worker', remember);
    try {
      const events = await say({ operation: 'transform', transform_data: 'n@v' }, { v: rows }, { threads });
      expect(outputsOf(events)).toMatchObject({ data: rows });
      const read = await say(
        { operation: 'read', input_files: ['n@v'] },
        { v: `a,b\n${'1,2\n'.repeat(3_000)}` },
        { threads },
      );
      expect(outputsOf(read).summary).toContain('3000 rows, 2 columns');
      expect(started).toHaveLength(1);
      const wide = { rows: Array.from({ length: 100 }, (_, row) => ({ [`k${row}`]: Array(100).fill(row) })) };
      const many = Array.from({ length: 800 }, (_, row) => ({ [`k${row}`]: row }));
      expect(
        outputsOf(await say({ operation: 'transform', transform_data: 'n@v' }, { v: wide }, { threads })).data,
      ).toEqual(wide);
      await expect(
        say({ operation: 'transform', transform_data: 'n@v' }, { v: many }, { threads }),
      ).rejects.toMatchObject({
        code: 'LIMIT_REACHED',
        message: expect.stringContaining('more than 500,000 cells'),
      });
    } finally {
      process.off('worker', remember);
      await threads.close();
    }
  }, 60_000);
});

describe('names of columns', () => {
  it('are made of many alike without looking at all of them each time', () => {
    const taken = new Map<string, number>();
    const names = Array.from({ length: 200_000 }, () => uniqueName('a', taken));
    expect([names[0], names[1], names.at(-1), new Set(names).size]).toEqual(['a', 'a.1', 'a.199999', 200_000]);
    expect([uniqueName('a.1', taken), uniqueName('b', taken), uniqueName('a', taken)]).toEqual([
      'a.1.1',
      'b',
      'a.200000',
    ]);
  });
});
