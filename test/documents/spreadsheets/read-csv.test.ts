import { describe, expect, it } from 'vitest';
import { findDelimiter } from '../../../src/documents/spreadsheets/find-delimiter.js';
import { readCsv } from '../../../src/documents/spreadsheets/read-csv.js';
import { WHOLE_SHEET } from '../../../src/documents/spreadsheets/select-sheets.js';
import { createCellBudget, inferTypes } from '../../../src/documents/spreadsheets/table.js';

const read = (text: string, options = {}) =>
  readCsv('a.csv', text, { range: WHOLE_SHEET, budget: createCellBudget(1000), ...options });

describe('readCsv', () => {
  it.each<readonly [string, string, string[][]]>([
    [
      'quotes, commas and line ends in fields',
      'a,b\r\n"x ""y"", z","1\n2"\r\n',
      [
        ['a', 'b'],
        ['x "y", z', '1\n2'],
      ],
    ],
    [
      'semicolons',
      'a;b\n1,5;2',
      [
        ['a', 'b'],
        ['1,5', '2'],
      ],
    ],
    [
      'tabs',
      'a\tb\n1\t2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['a declared delimiter', 'sep=|\na,x|b', [['a,x', 'b']]],
    ['empty lines and short records', 'a,b,c\n\n1\n', [['a', 'b', 'c'], ['1']]],
    [
      'quotes within fields',
      'a,b\n5" pipe,x"y',
      [
        ['a', 'b'],
        ['5" pipe', 'x"y'],
      ],
    ],
    [
      'lines that end with CR',
      'a,b\r1,2\r',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'lines that end with CRLF',
      'a,b\r\n1,2\r\n\r\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'another line end behind the first one as text',
      'a,b\n1\r,2\n',
      [
        ['a', 'b'],
        ['1\r', '2'],
      ],
    ],
    [
      'another line end in quotes before the first one',
      '"a\r\nb",c\n1,2\n',
      [
        ['a\r\nb', 'c'],
        ['1', '2'],
      ],
    ],
    [
      'LF between lines that end with CRLF',
      'a,b\r\n1,2\n3,4\r\n',
      [
        ['a', 'b'],
        ['1', '2\n3', '4'],
      ],
    ],
    ['one column', 'a\n1', [['a'], ['1']]],
    ['nothing', '', []],
  ])('reads %s', async (_name, text, rows) => {
    expect(await read(text)).toEqual(rows);
  });

  it('reads long texts, in which pieces part characters', async () => {
    const text = `a,b\n${`${'x'.repeat(6)}😀,é\n`.repeat(20_000)}`;
    const rows = await read(text, { budget: createCellBudget(1e6) });
    expect(rows).toHaveLength(20_001);
    expect(new Set(rows.slice(1).map((row) => row.join()))).toEqual(new Set(['xxxxxx😀,é']));
  });

  it('reads a range', async () => {
    const range = { firstRow: 2, lastRow: 3, firstColumn: 2, lastColumn: 2 };
    expect(await read('a,b\n1,2\n3,4\n5,6', { range })).toEqual([['2'], ['4']]);
  });

  it('refuses a quote that never ends', async () => {
    await expect(read('a,b\n"x,y')).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: expect.stringContaining('"a.csv"'),
    });
  });

  it('fails beyond its budget', async () => {
    await expect(read('a,b\n1,2', { budget: createCellBudget(3) })).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
  });

  it('stops when it is told to', async () => {
    await expect(read('a,b', { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('findDelimiter', () => {
  it.each([
    ['a,b;c\n1,2;3\n1,2,3;4', ';'],
    ['"a;b;c",d\n"e;f;g",h', ','],
    ['a|b\nc|d', '|'],
    ['plain text, with a comma\nand a line', ','],
    ['plain text\nof two lines', undefined],
    ['', undefined],
  ])('of %j', (text, delimiter) => {
    expect(findDelimiter(text)).toBe(delimiter);
  });
});

describe('inferTypes', () => {
  it.each<readonly [string, readonly (string | null)[], readonly unknown[]]>([
    ['numbers', ['1', '-2.5', '+.5', '1e3', ' 7 ', null], [1, -2.5, 0.5, 1000, 7, null]],
    ['booleans', ['true', 'FALSE', null], [true, false, null]],
    ['names made of digits', ['007', '12'], ['007', '12']],
    ['digits that a number does not keep', ['1234567890123456789', '1'], ['1234567890123456789', '1']],
    ['a mixture', ['1', 'n/a'], ['1', 'n/a']],
    ['other ways of writing numbers', ['1,5', '0x10'], ['1,5', '0x10']],
    ['dates', ['2024-01-31'], ['2024-01-31']],
    ['nothing', [null], [null]],
  ])('keeps or converts %s', (_name, given, expected) => {
    const table = { name: 'S', columns: ['c'], rows: given.map((cell) => [cell]), hasHeader: true };
    expect(inferTypes(table).rows).toEqual(expected.map((cell) => [cell]));
  });
});
