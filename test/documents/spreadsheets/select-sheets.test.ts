import { describe, expect, it } from 'vitest';
import { parseRange, parseSelection, selectSheets } from '../../../src/documents/spreadsheets/select-sheets.js';

describe('parseRange', () => {
  it.each([
    ['A1:C10', [1, 1, 3, 10]],
    ['$c$10:a1', [1, 1, 3, 10]],
    ['B2', [2, 2, 2, 2]],
    ['B:D', [2, 1, 4, 1_048_576]],
    ['2:9', [1, 2, 16_384, 9]],
    ['XFD1048576', [16_384, 1_048_576, 16_384, 1_048_576]],
  ])('reads %s', (text, [firstColumn, firstRow, lastColumn, lastRow]) => {
    expect(parseRange(text)).toEqual({ firstColumn, firstRow, lastColumn, lastRow });
  });

  it.each(['', ':', 'A1:', 'A:3', 'XFE1', 'A1048577', 'A0', 'A1:B2:C3', 'AAAA1', '1A', 'Sheet1'])(
    'refuses %j',
    (text) => {
      expect(parseRange(text)).toBeUndefined();
    },
  );
});

describe('selectSheets', () => {
  const names = ['People', 'Towns', 'a, b', "it's", 'first'];
  const chosen = (text: string) => {
    const { sheets, missing } = selectSheets(parseSelection(text), names);
    const shown = sheets.map(({ index, range: { firstRow, lastRow } }) =>
      firstRow === 1 && lastRow === 1_048_576 ? names[index] : `${names[index]} ${firstRow}-${lastRow}`,
    );
    return [...shown, ...missing.map((name) => `no ${name}`)];
  };

  it.each([
    ['', names],
    ['all', names],
    [' First ', ['People']],
    ['Towns, People', ['Towns', 'People']],
    ['towns,Cities', ['Towns', 'no Cities']],
    ["'a, b','it''s','first'", ['a, b', "it's", 'first']],
    ['Towns!A2:B3, first!4:5', ['Towns 2-3', 'People 4-5']],
    ["'a, b'!A1:A2,People!nothing", ['a, b 1-2', 'no People!nothing']],
    ['A1:B2', names.map((name) => `${name} 1-2`)],
    ['all!3:4', names.map((name) => `${name} 3-4`)],
    ["'", ["no '"]],
  ])('of %j', (text, expected) => {
    expect(chosen(text)).toEqual(expected);
  });
});
