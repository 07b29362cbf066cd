import { describe, expect, it } from 'vitest';
import { type DateKind, dateKind, dateText } from '../../../src/documents/spreadsheets/read-workbook.js';

describe('dateKind', () => {
  it.each<readonly [number, string | undefined, DateKind | undefined]>([
    [0, undefined, undefined],
    [2, undefined, undefined],
    [14, undefined, 'date'],
    [20, undefined, 'time'],
    [22, undefined, 'date-time'],
    [31, undefined, 'date'],
    [46, undefined, 'duration'],
    [164, 'General', undefined],
    [164, '0.00E+00', undefined],
    [164, '#,##0.00 "days"', undefined],
    [164, '[Red]0.0;[Blue]\\d0', undefined],
    [164, '_-* #,##0.00\\ [$€-407]_-', undefined],
    [164, 'yyyy-mm-dd', 'date'],
    [164, '[$-409]mmm yy;@', 'date'],
    [164, 'yyyy"年"m"月"d"日"', 'date'],
    [164, 'm/d/yy h:mm AM/PM', 'date-time'],
    [164, 'h:mm AM/PM', 'time'],
    [164, 'mm:ss', 'time'],
    [164, '[h]:mm:ss', 'duration'],
    [14, 'General', undefined],
  ])('of format %s %j', (id, code, kind) => {
    expect(dateKind(id, code)).toBe(kind);
  });
});

describe('dateText', () => {
  it.each<readonly [number, DateKind, string | number]>([
    [45_322, 'date', '2024-01-31'],
    [45_322, 'date-time', '2024-01-31T00:00:00'],
    [45_322.43090277778, 'date-time', '2024-01-31T10:20:30'],
    [45_322.5, 'date', '2024-01-31T12:00:00'],
    [45_322.00000001158, 'date-time', '2024-01-31T00:00:00.001'],
    [45_322.999999999, 'date-time', '2024-02-01T00:00:00'],
    [1, 'date', '1900-01-01'],
    [59, 'date', '1900-02-28'],
    [61, 'date', '1900-03-01'],
    [0.43090277778, 'time', '10:20:30'],
    [0, 'time', '00:00:00'],
    [0.5, 'date', '12:00:00'],
    [1.5, 'duration', '36:00:00'],
    [-1, 'date', -1],
    [1e9, 'date', 1e9],
  ])('of %s as %s', (serial, kind, text) => {
    expect(dateText(serial, kind, false)).toBe(text);
  });

  it('counts from 1904 on old Macs', () => {
    expect(dateText(43_860, 'date', true)).toBe('2024-01-31');
  });
});
