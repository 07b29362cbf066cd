import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json.js';
import { type JsonTreeState, jsonRows, MAX_ROWS } from '../../../web/parts/json-rows.js';

const state = (change: Partial<JsonTreeState> = {}): JsonTreeState => ({
  opened: new Map(),
  whole: new Set(),
  search: '',
  ...change,
});

const paths = (value: Json, change?: Partial<JsonTreeState>) => jsonRows(value, state(change)).map(({ path }) => path);

const VALUE = { answer: { text: 'It was opened', pages: [1, 2] }, 'a/b': true };

describe('jsonRows', () => {
  it('shows members and items in their order, two levels open', () => {
    expect(paths(VALUE)).toEqual(['', '/answer', '/answer/text', '/answer/pages', '/a~1b']);
  });

  it('opens and closes what the user says', () => {
    const opened = new Map([
      ['/answer/pages', true],
      ['/answer', true],
    ]);
    expect(paths(VALUE, { opened })).toContain('/answer/pages/1');
    expect(paths(VALUE, { opened: new Map([['', false]]) })).toEqual(['']);
  });

  it('cuts long lists, says how many are left out, and shows all on demand', () => {
    const list = Array.from({ length: 250 }, (_, at) => at);
    const opened = new Map([['', true]]);
    expect(jsonRows(list, state({ opened })).at(-1)).toMatchObject({ path: '/…', more: 150 });
    expect(jsonRows(list, state({ opened, whole: new Set(['']) }))).toHaveLength(251);
  });

  it('finds names and values with what is around them, and nothing else', () => {
    expect(paths(VALUE, { search: 'opened' })).toEqual(['', '/answer', '/answer/text']);
    expect(paths(VALUE, { search: 'pages' })).toEqual(['', '/answer', '/answer/pages']);
    expect(paths(VALUE, { search: 'nowhere' })).toEqual(['']);
  });

  it('takes names of the prototype for members', () => {
    const value = JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}') as Json;
    expect(paths(value)).toEqual(['', '/__proto__', '/__proto__/x', '/constructor']);
  });

  it('is not stopped by depth, and bounded in lines', () => {
    let deep: Json = 'end';
    for (let level = 0; level < 10_000; level += 1) deep = [deep];
    expect(jsonRows(deep, state({ search: 'en' })).length).toBeGreaterThan(100);
    const wide = Array.from({ length: 30_000 }, () => 0);
    expect(jsonRows(wide, state({ opened: new Map([['', true]]), whole: new Set(['']) }))).toHaveLength(MAX_ROWS);
  });
});
