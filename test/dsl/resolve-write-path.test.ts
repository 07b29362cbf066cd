import { describe, expect, it } from 'vitest';
import { writePath } from '../../src/dsl/resolve.js';
import type { Json } from '../../src/json.js';

describe('writePath', () => {
  it.each([
    [{ a: 1 }, [], 5, 5],
    [undefined, ['a', 'b'], 1, { a: { b: 1 } }],
    [null, ['a'], 1, { a: 1 }],
    ['', ['a'], 1, { a: 1 }],
    ['text', ['a'], 1, { a: 1 }],
    [{ a: 5 }, ['a', 'b'], 1, { a: { b: 1 } }],
    [{ a: { x: 1 }, z: 2 }, ['a', 'y'], 3, { a: { x: 1, y: 3 }, z: 2 }],
    [{ deep: { x: 1 } }, ['list', '0'], 'v', { deep: { x: 1 }, list: { '0': 'v' } }],
    [{ list: [] }, ['list', '0'], 'v', { list: ['v'] }],
    [[1, 2, 3], ['1'], 'x', [1, 'x', 3]],
    [[1, 2, 3], ['-1'], 'x', [1, 2, 'x']],
    [[1, 2, 3], ['3'], 'x', [1, 2, 3, 'x']],
    [[{ a: 1 }], ['0', 'b'], 2, [{ a: 1, b: 2 }]],
    [[null], ['0', 'b'], 2, [{ b: 2 }]],
    [{ a: 1 }, ['toString'], 2, { a: 1, toString: 2 }],
  ] satisfies [Json | undefined, string[], Json, Json][])('writes into %j at %j', (root, path, value, expected) => {
    expect(writePath(root, path, value)).toEqual(expected);
  });

  it('changes nothing and shares what it does not touch', () => {
    const root = Object.freeze({ a: Object.freeze({ x: 1 }), b: Object.freeze([1, 2]) });
    const written = writePath(root, ['b', '0'], 9) as typeof root;
    expect(root.b).toEqual([1, 2]);
    expect(written.a).toBe(root.a);
    expect(written.b).toEqual([9, 2]);
  });

  it.each([[['__proto__']], [['a', '__proto__', 'x']], [['constructor', 'prototype']], [['a', 'prototype']]])(
    'refuses the path %j',
    (path) => {
      expect(() => writePath({}, path, 1)).toThrow(expect.objectContaining({ code: 'REFERENCE_READ_ONLY' }));
      expect(({} as { x?: unknown }).x).toBeUndefined();
    },
  );

  it.each(['4', '-4', 'x', '1.5', '', '99999999999'])('refuses the position %j of a list of 3', (segment) => {
    expect(() => writePath([1, 2, 3], [segment], 1)).toThrow(expect.objectContaining({ code: 'REFERENCE_UNRESOLVED' }));
  });

  it('keeps an own key named __proto__ that is there already', () => {
    const written = writePath(JSON.parse('{"__proto__": {"x": 1}}'), ['a'], 1);
    expect(JSON.stringify(written)).toBe('{"__proto__":{"x":1},"a":1}');
  });
});
