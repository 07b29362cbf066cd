import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { defineValue } from '../../../src/compose/values/define-value.js';
import { valueCodec } from '../../../src/compose/values/value-codec.js';
import { EngineError } from '../../../src/errors.js';
import type { Json } from '../../../src/json.js';
import { property, type Random } from '../../support/random.js';

class Money {
  readonly amount: bigint;
  readonly at: Date;
  constructor(amount: bigint, at: Date) {
    this.amount = amount;
    this.at = at;
  }
}

const money = defineValue({
  name: 'money',
  is: (value) => value instanceof Money,
  toJson: ({ amount, at }) => ({ amount, at }),
  fromJson: ({ amount, at }) => new Money(amount, at),
});

const codec = valueCodec([money]);

/** Through the codec and through text, as a store does it. */
const roundTrip = (value: unknown): unknown => codec.fromJson(JSON.parse(JSON.stringify(codec.toJson(value))) as Json);

const refused = (code: string, ...parts: string[]) =>
  expect.objectContaining({
    code,
    message: expect.stringMatching(
      new RegExp(parts.map((part) => part.replace(/[[\]().$?{}]/g, '\\$&')).join('.*'), 's'),
    ),
  });

describe('a value', () => {
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['NaN', Number.NaN],
    ['infinity', Number.NEGATIVE_INFINITY],
    ['minus zero', -0],
    ['a bigint', -(2n ** 80n)],
    ['a date', new Date(1_700_000_000_123)],
    ['a date that is none', new Date(Number.NaN)],
    [
      'a map with values of types',
      new Map<unknown, unknown>([
        [{ a: 1 }, new Date(0)],
        ['b', new Map([[1n, undefined]])],
      ]),
    ],
    ['a set', new Set([1, 'a', new Date(5)])],
    ['bytes', new Uint8Array([0, 1, 254, 255])],
    ['bytes that are a part of others', new Uint8Array([1, 2, 3, 4]).subarray(1, 3)],
    ['no bytes', new Uint8Array()],
    ['a buffer', Buffer.from('grüße')],
    ['an array buffer', new Uint8Array([7, 8]).buffer],
    ['an address', new URL('https://example.org/a?b=c#d')],
    ['undefined in objects and lists', { a: undefined, b: [undefined, 1] }],
    ['a defined value, with others inside', [new Money(5n, new Date(3))]],
    ['an object that has the key $type', { $type: 'date', value: 'x' }],
    ['an object of that key, again and again', { $type: 'object', value: { $type: { $type: new Date(1) } } }],
    ['keys of every kind', JSON.parse('{"__proto__":{"a":1},"constructor":2,"":3}')],
  ])('comes back: %s', (_, value) => {
    const back = roundTrip(value);
    expect(back).toStrictEqual(value);
    expect(Object.is(back, -0)).toBe(Object.is(value, -0));
  });

  it('comes back as the kind of bytes that it was', () => {
    expect(Buffer.isBuffer(roundTrip(Buffer.from('a')))).toBe(true);
    expect(Buffer.isBuffer(roundTrip(new Uint8Array(1)))).toBe(false);
    const bytes = roundTrip(new Uint8Array([1, 2])) as Uint8Array;
    expect(bytes.buffer.byteLength).toBe(2);
    expect(roundTrip(new ArrayBuffer(3))).toBeInstanceOf(ArrayBuffer);
  });

  it('defines a key called __proto__ and does not set a prototype', () => {
    const value = JSON.parse('{"__proto__":{"polluted":true},"at":0}') as Record<string, unknown>;
    const back = roundTrip({ ...value, at: new Date(0), inside: [value, undefined] }) as {
      inside: [object, undefined];
    };
    expect(Object.keys(back.inside[0])).toEqual(['__proto__', 'at']);
    expect(Object.getPrototypeOf(back.inside[0])).toBe(Object.prototype);
    expect('polluted' in back.inside[0]).toBe(false);
  });

  it('is not copied when it is JSON already, on both ways', () => {
    const value = { a: [1, 'x', { b: null }], c: { d: true } };
    expect(codec.toJson(value)).toBe(value);
    expect(codec.fromJson(value)).toBe(value);
    const changed = { same: value, at: new Date(0) };
    const json = codec.toJson(changed) as unknown as { same: unknown };
    expect(json.same).toBe(value);
    expect((codec.fromJson(json as Json) as { same: unknown }).same).toBe(value);
  });

  it('is stored in a form that other programs can read', () => {
    expect(
      codec.toJson({ at: new Date(0), n: Number.NaN, b: new Uint8Array([255]), u: undefined, m: new Map([['a', 1]]) }),
    ).toEqual({
      at: { $type: 'date', value: '1970-01-01T00:00:00.000Z' },
      n: { $type: 'number', value: 'NaN' },
      b: { $type: 'bytes', value: '/w==' },
      u: { $type: 'undefined' },
      m: { $type: 'map', value: [['a', 1]] },
    });
    expect(codec.toJson({ $type: 'a' })).toEqual({ $type: 'object', value: { $type: 'a' } });
  });

  it('has no key called __proto__ in its stored form, at any depth', () => {
    const value = JSON.parse('{"__proto__":{"__proto__":1,"$type":"date"},"b":[{"c":{"__proto__":[]}}]}') as object;
    const json = codec.toJson(value);
    expect(json).toStrictEqual({
      $type: 'object',
      value: [
        [
          '__proto__',
          {
            $type: 'object',
            value: [
              ['__proto__', 1],
              ['$type', 'date'],
            ],
          },
        ],
        ['b', [{ c: { $type: 'object', value: [['__proto__', []]] } }]],
      ],
    });
    expect(codec.fromJson(json)).toStrictEqual(value);
  });
});

describe('an error', () => {
  it('comes back with its class, name, message and cause', () => {
    class OwnError extends TypeError {
      override readonly name = 'OwnError';
    }
    const error = new OwnError('outer', { cause: new RangeError('inner', { cause: { at: new Date(1) } }) });
    const back = roundTrip(error) as Error;
    expect(back).toBeInstanceOf(TypeError);
    expect([back.name, back.message]).toEqual(['OwnError', 'outer']);
    expect(back.cause).toBeInstanceOf(RangeError);
    expect((back.cause as Error).cause).toEqual({ at: new Date(1) });
  });

  it('of the engine keeps its code and particulars', () => {
    const error = new EngineError('MODEL_UNAVAILABLE', 'asleep', {
      node: 'n1',
      retryable: true,
      details: { tries: 3n },
    });
    const back = roundTrip(error) as EngineError;
    expect(back).toBeInstanceOf(EngineError);
    expect([back.code, back.message, back.node, back.retryable, back.details]).toEqual([
      'MODEL_UNAVAILABLE',
      'asleep',
      'n1',
      true,
      { tries: 3n },
    ]);
  });

  it('of several keeps them all', () => {
    const back = roundTrip(new AggregateError([new Error('a'), new SyntaxError('b')], 'both')) as AggregateError;
    expect(back).toBeInstanceOf(AggregateError);
    expect(back.errors.map((error: Error) => `${error.name}: ${error.message}`)).toEqual([
      'Error: a',
      'SyntaxError: b',
    ]);
  });

  it('is stored without its stack', () => {
    expect(JSON.stringify(codec.toJson(new Error('x')))).not.toContain('.ts');
  });
});

describe('what cannot be stored', () => {
  const ring: { next?: unknown } = {};
  ring.next = { back: [ring] };
  class Unknown {}
  class Dates extends Date {}
  const symbol = Symbol('mark');
  it.each<[string, unknown, string]>([
    [
      'an instance of a class',
      { input: { items: [1, 2, 3, { at: new Unknown() }] } },
      '$.input.items[3].at cannot be stored: it is an instance of Unknown. Store plain data there, or say how with defineValue',
    ],
    [
      'an instance of a class that extends a built-in one',
      [new Dates(0)],
      '$[0] cannot be stored: it is an instance of Dates',
    ],
    ['a function', { 'on end': function stop() {} }, '$["on end"] cannot be stored: it is a function called stop'],
    ['a symbol', [[symbol]], '$[0][0] cannot be stored: it is Symbol(mark)'],
    [
      'a key that is a symbol',
      { a: { [symbol]: 1 } },
      '$.a cannot be stored: it has a key that is a symbol, Symbol(mark)',
    ],
    ['a promise', { a: Promise.resolve(1) }, '$.a cannot be stored: it is a promise; await it first'],
    ['an Observable', { a: of(1) }, '$.a cannot be stored: it is an Observable; store what it emits'],
    [
      'something inside a map',
      new Map([['key', new Unknown()]]),
      '$[0][1] cannot be stored: it is an instance of Unknown',
    ],
    [
      'something inside a defined value',
      { m: new Money(new Unknown() as never, new Date(0)) },
      '$.m.amount cannot be stored: it is an instance of Unknown',
    ],
    ['a pattern', /a/, '$ cannot be stored: it is an instance of RegExp'],
    ['the cause of an error', new Error('x', { cause: new Unknown() }), '$.cause cannot be stored'],
    ['a value that contains itself', ring, '$.next.back[0].next.back'],
  ])('is refused with its path: %s', (_, value, message) => {
    expect(() => codec.toJson(value)).toThrow(refused('VALUE_NOT_STORABLE', message));
  });

  it('is named as the caller calls it', () => {
    expect(() => codec.toJson({ x: symbol }, 'state.notes')).toThrow(
      refused('VALUE_NOT_STORABLE', 'state.notes.x cannot be'),
    );
  });

  it('has a path that can be read, however deep it is', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 5_000; level += 1) deep = { inside: deep };
    try {
      codec.toJson(deep);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'VALUE_NOT_STORABLE' });
      expect((error as Error).message).toMatch(
        /^\$(\.inside){20}…(\.inside){20} cannot be stored: it has more than 200 levels/,
      );
    }
  });

  it('is what has too many values or texts, also by sharing', () => {
    const small = valueCodec([], { maxValues: 100, maxLength: 1_000 });
    let shared: unknown = 'x';
    for (let level = 0; level < 60; level += 1) shared = [shared, shared];
    expect(() => small.toJson(shared)).toThrow(refused('VALUE_NOT_STORABLE', 'more than 100 values'));
    expect(() => small.toJson({ ['k'.repeat(600)]: 't'.repeat(600) })).toThrow(
      refused('VALUE_NOT_STORABLE', 'more than 1000 characters'),
    );
    expect(small.toJson(['t'.repeat(1_000)])).toEqual(['t'.repeat(1_000)]);
  });

  it('is what its definition fails for, with the reason', () => {
    const broken = defineValue({
      name: 'broken',
      is: (value) => value instanceof Unknown,
      toJson: (): Json => {
        throw new Error('no idea');
      },
      fromJson: () => new Unknown(),
    });
    expect(() => valueCodec([broken]).toJson({ a: new Unknown() })).toThrow(
      refused('VALUE_NOT_STORABLE', '$.a cannot be stored: "toJson" of the definition "broken" failed: no idea'),
    );
  });
});

describe('what cannot be restored', () => {
  it.each<[string, Json, string]>([
    [
      'a type that is not defined here',
      { a: [{ $type: 'point', value: 1 }] },
      '$.a[0] cannot be restored: no value is defined under the name "point"; pass its definition',
    ],
    ['a type that is no text', { $type: 5 }, 'no value is defined under the name 5'],
    ['a name that objects are born with', { $type: 'constructor' }, 'no value is defined under the name "constructor"'],
    [
      'a bigint that is none',
      { n: { $type: 'bigint', value: 'x' } },
      '$.n cannot be restored: what is stored cannot be made a value of type "bigint"',
    ],
    ['a number that is none', { $type: 'number', value: '5' }, '"5" is none of the numbers'],
    ['a map of something else', { $type: 'map', value: 5 }, 'a list is stored for it; found number'],
    ['an error without a message', { $type: 'error', value: { kind: 'Error' } }, 'a text is stored for it'],
    ['an object that is none', { $type: 'object', value: 5 }, 'an object is stored there by its type'],
    ['entries that are none', { $type: 'object', value: [['a', 1], ['b']] }, 'an object is stored there by its type'],
    ['an entry without a name', { $type: 'object', value: [[1, 1]] }, 'an object is stored there by its type'],
    ['what its definition refuses', { $type: 'money', value: null }, 'cannot be made a value of type "money"'],
  ])('is refused with its path: %s', (_, json, message) => {
    expect(() => codec.fromJson(json)).toThrow(refused('CHECKPOINT_INVALID', message));
  });
});

describe('definitions', () => {
  it('are tried in their order, and before the built-in types', () => {
    const day = defineValue({
      name: 'day',
      is: (value) => value instanceof Date,
      toJson: (date) => date.toISOString().slice(0, 10),
      fromJson: (text) => new Date(text),
    });
    const never = defineValue({ ...day, name: 'never' });
    const own = valueCodec([day, never]);
    expect(own.toJson([new Date(123)])).toEqual([{ $type: 'day', value: '1970-01-01' }]);
    expect(own.fromJson(own.toJson([new Date(123)]))).toEqual([new Date(0)]);
  });

  it('may take functions and symbols, which nothing else can', () => {
    const known = { double: (n: number) => 2 * n };
    const functions = defineValue({
      name: 'function',
      is: (value): value is () => unknown => typeof value === 'function',
      toJson: (value) => value.name,
      fromJson: (name) => known[name as 'double'] as () => unknown,
    });
    const own = valueCodec([functions]);
    expect(own.fromJson(own.toJson({ f: known.double }))).toEqual({ f: known.double });
  });

  it.each<[string, () => unknown, string]>([
    [
      'two with one name',
      () => valueCodec([money, money]),
      '"name" must be that of one definition only; received "money"',
    ],
    ['a built-in name', () => defineValue({ ...money, name: 'date' }), 'none of the built-in ones'],
    ['a built-in name past defineValue', () => valueCodec([{ ...money, name: 'map' }]), 'none of the built-in ones'],
    ['no name', () => defineValue({ ...money, name: '' }), '"name" must be a text; received ""'],
    [
      'a part that is no function',
      () => defineValue({ ...money, toJson: 5 as never, fromJson: (): never => 5 as never }),
      '"toJson" must be a function; received 5',
    ],
    ['a bound that is none', () => valueCodec([], { maxDepth: 0 }), '"maxDepth" must be a whole number of at least 1'],
  ])('are refused: %s', (_, make, message) => {
    expect(make).toThrow(refused('OPTION_INVALID', message));
  });
});

property('every value that can be stored comes back equal', 500, (random) => {
  const value = anyValue(random, 0);
  expect(roundTrip(value)).toStrictEqual(value);
});

function anyValue(random: Random, depth: number): unknown {
  const many = <T>(make: () => T): T[] => Array.from({ length: random.int(4) }, make);
  const inner = (): unknown => anyValue(random, depth + 1);
  switch (random.int(depth > 4 ? 8 : 13)) {
    case 0:
      return random.pick(['', 'a', '$type', '__proto__']);
    case 1:
      return random.pick([0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY]);
    case 2:
      return random.pick([null, undefined, true, false]);
    case 3:
      return BigInt(random.int(1_000_000)) ** 5n;
    case 4:
      return new Date(random.int(2 ** 40));
    case 5:
      return new Uint8Array(many(() => random.int(256)));
    case 6:
      return new URL(`https://example.org/${random.int(100)}`);
    case 7:
      return new Money(BigInt(random.int(100)), new Date(random.int(1_000)));
    case 8:
      return many(inner);
    case 9:
      return new Map(many(() => [inner(), inner()] as const));
    case 10:
      return new Set(many(inner));
    default:
      return Object.fromEntries(
        random.some(['a', 'b', '$type', 'value', '__proto__', 'c d'], 0.4).map((key) => [key, inner()]),
      );
  }
}
