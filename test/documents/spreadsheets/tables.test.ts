import { describe, expect, it } from 'vitest';
import { concatTables, joinTables, tablesOfData } from '../../../src/documents/spreadsheets/results.js';
import {
  createCellBudget,
  type GridRow,
  sheetsMarkdown,
  tableMarkdown,
  tableOfGrid,
  toRecords,
} from '../../../src/documents/spreadsheets/table.js';
import type { Json } from '../../../src/json.js';

const budget = () => createCellBudget(1000);
const table = (columns: readonly string[], ...rows: readonly (readonly Json[])[]) => ({
  name: 'T',
  columns,
  rows,
  hasHeader: true,
});
/** A row whose cells are given by column. */
const sparse = (cells: Readonly<Record<number, Json>>): GridRow => Object.assign([], cells);

describe('tableOfGrid', () => {
  it.each<readonly [string, readonly GridRow[], readonly string[], readonly (readonly Json[])[]]>([
    [
      'the first row names the columns',
      [
        ['a', 'b'],
        [1, 2],
      ],
      ['a', 'b'],
      [[1, 2]],
    ],
    [
      'empty rows and columns are left out',
      [[], ['', null], [null, 'a', '', 'b'], [null, null], [null, 1]],
      ['a', 'b'],
      [[1, null]],
    ],
    [
      'nameless and equal columns get names',
      [
        ['a', null, 'a', 2023],
        [1, 2, 3, 4],
      ],
      ['a', 'Unnamed: 1', 'a.1', '2023'],
      [[1, 2, 3, 4]],
    ],
    ['a column far away', [['a'], sparse({ 0: 1, 16000: 2 })], ['a', 'Unnamed: 16000'], [[1, 2]]],
    ['nothing', [], [], []],
  ])('%s', (_name, grid, columns, rows) => {
    expect(tableOfGrid('S', grid, budget())).toEqual({ name: 'S', columns, rows, hasHeader: true });
  });

  it('counts the holes between cells', () => {
    const diagonal = Array.from({ length: 100 }, (_, index) => sparse({ [index]: 'x' }));
    expect(() => tableOfGrid('S', diagonal, budget())).toThrow(/more than 1,000 cells/);
  });

  it('takes no name for the prototype', () => {
    const [record] = toRecords(table(['__proto__', 'a'], [{ x: 1 }, 2]));
    expect(JSON.stringify(record)).toBe('{"__proto__":{"x":1},"a":2}');
  });
});

describe('concatTables', () => {
  it('unites the columns in order of appearance', () => {
    const merged = concatTables([table(['a', 'b'], [1, 2]), table(['b', 'c'], [3, 4]), table([])], budget());
    expect(merged).toMatchObject({
      columns: ['a', 'b', 'c'],
      rows: [
        [1, 2, null],
        [null, 3, 4],
      ],
    });
  });

  it('fails beyond its budget', () => {
    expect(() => concatTables([table(['a'], [1]), table(['b'], [1])], createCellBudget(3))).toThrow(
      /more than 3 cells/,
    );
  });
});

describe('joinTables', () => {
  it.each<
    readonly [string, readonly Parameters<typeof table>[], readonly string[], readonly string[], readonly unknown[]]
  >([
    [
      'keeps rows without a partner and sorts by key',
      [
        [
          ['id', 'n'],
          [3, 'c'],
          [1, 'a'],
        ],
        [
          ['id', 'v'],
          [2, 'y'],
          [1, 'x'],
        ],
      ],
      ['id'],
      ['id', 'n', 'v'],
      [
        [1, 'a', 'x'],
        [2, null, 'y'],
        [3, 'c', null],
      ],
    ],
    [
      'pairs every row with every partner',
      [
        [
          ['id', 'n'],
          [1, 'a'],
          [1, 'b'],
        ],
        [
          ['v', 'id'],
          ['x', 1],
          ['y', 1],
        ],
      ],
      ['id'],
      ['id', 'n', 'v'],
      [
        [1, 'a', 'x'],
        [1, 'a', 'y'],
        [1, 'b', 'x'],
        [1, 'b', 'y'],
      ],
    ],
    [
      'tells equal columns apart',
      [
        [
          ['v', 'id'],
          ['a', 1],
        ],
        [
          ['id', 'v'],
          [1, 'b'],
        ],
        [
          ['id', 'v'],
          [1, 'c'],
        ],
      ],
      ['id'],
      ['v_x', 'id', 'v_y', 'v'],
      [['a', 1, 'b', 'c']],
    ],
    [
      'joins on several columns',
      [
        [
          ['a', 'b', 'n'],
          [1, 1, 'x'],
          [1, 2, 'y'],
        ],
        [
          ['b', 'a', 'v'],
          [2, 1, 'z'],
        ],
      ],
      ['a', 'b'],
      ['a', 'b', 'n', 'v'],
      [
        [1, 1, 'x', null],
        [1, 2, 'y', 'z'],
      ],
    ],
    [
      'tells 1 from "1", and joins empty keys',
      [
        [
          ['k', 'n'],
          [1, 'a'],
          [null, 'b'],
        ],
        [
          ['k', 'v'],
          ['1', 'c'],
          [null, 'd'],
        ],
      ],
      ['k'],
      ['k', 'n', 'v'],
      [
        [1, 'a', null],
        ['1', null, 'c'],
        [null, 'b', 'd'],
      ],
    ],
    ['leaves one table as it is', [[['k'], [2], [1]]], ['k'], ['k'], [[2], [1]]],
  ])('%s', (_name, tables, keys, columns, rows) => {
    const joined = joinTables(
      tables.map((parts) => table(...parts)),
      keys,
      budget(),
    );
    expect(joined).toMatchObject({ name: 'merged', columns, rows });
  });

  it('names the table that cannot be joined', () => {
    expect(() => joinTables([table(['a']), table(['b', 'c'])], ['a'], budget())).toThrow(
      'Sheet "T" cannot be joined on "a": its columns are "b", "c". Set join_on to a column that all sheets have.',
    );
  });

  it('stops a join that grows out of bounds', () => {
    const many = table(['k', 'n'], ...Array.from({ length: 100 }, (_, index) => [1, index]));
    expect(() => joinTables([many, many], ['k'], budget())).toThrow(/more than 1,000 cells/);
  });
});

describe('tablesOfData', () => {
  it.each<readonly [string, Json, readonly unknown[] | undefined]>([
    [
      'a list of objects',
      [{ a: 1 }, { b: 2, a: { c: 1 } }],
      [
        {
          name: 'S',
          columns: ['a', 'b'],
          rows: [
            [1, null],
            [{ c: 1 }, 2],
          ],
          hasHeader: true,
        },
      ],
    ],
    [
      'an object of lists',
      { X: [{ a: 1 }], Y: [] },
      [
        { name: 'X', columns: ['a'], rows: [[1]], hasHeader: true },
        { name: 'Y', columns: [], rows: [], hasHeader: false },
      ],
    ],
    ['an object', { a: 1, b: [2] }, [{ name: 'S', columns: ['a', 'b'], rows: [[1, [2]]], hasHeader: true }]],
    [
      'a grid of texts',
      [['a', 'b'], [1]],
      [
        {
          name: 'S',
          columns: ['0', '1'],
          rows: [
            ['a', 'b'],
            [1, null],
          ],
          hasHeader: false,
        },
      ],
    ],
    [
      'a grid of numbers',
      [
        [1, 2],
        [3, 4],
      ],
      [
        {
          name: 'S',
          columns: ['0', '1'],
          rows: [
            [1, 2],
            [3, 4],
          ],
          hasHeader: false,
        },
      ],
    ],
    ['a list of values', [1, 'x'], [{ name: 'S', columns: ['0'], rows: [[1], ['x']], hasHeader: false }]],
    ['an empty object', {}, []],
    ['a text', 'x', undefined],
    ['a number', 5, undefined],
  ])('of %s', (_name, data, expected) => {
    expect(tablesOfData(data, 'S', budget())).toEqual(expected);
  });

  it.each<readonly [string, Json, Json, boolean]>([
    ['a first row of texts', [['a', 'b'], [1], [2, 3, 4]], ['a', 'b', '2'], true],
    ['no row with a text alone', [['a', 1], [2]], ['0', '1'], false],
  ])('names the columns of a grid by %s when it may', (_name, data, columns, hasHeader) => {
    const [table] = tablesOfData({ S: data }, 'S', budget(), { hasNamedGrids: true }) ?? [];
    expect(table).toMatchObject({ columns, hasHeader });
    expect(table?.rows).toHaveLength(2);
  });
});

describe('tableMarkdown', () => {
  it('escapes what would break the table, and shows the first rows', () => {
    const given = table(['a|b', 'c'], ['x\ny', null], [{ d: 1 }, true], [1, 2]);
    expect(tableMarkdown(given, 2)).toBe('| a\\|b | c |\n| --- | --- |\n| x<br>y |  |\n| {"d": 1} | true |');
    expect(sheetsMarkdown([given, table([])], 0)).toBe('### T\n\n| a\\|b | c |\n| --- | --- |\n\n### T');
  });
});
