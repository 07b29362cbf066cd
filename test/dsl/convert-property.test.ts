import { describe, expect, it } from 'vitest';
import { v1ToV2, v2ToV1 } from '../../src/dsl/convert.js';
import { sortKeys } from '../../src/dsl/json-copy.js';
import { readDocument } from '../../src/dsl/read.js';
import type { Json, JsonObject } from '../../src/json.js';

const SEED = 20_260_117;
const ROUNDS = 300;

/** Numbers in [0, 1) from a seed (xorshift32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

interface Dice {
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
}

function createDice(random: () => number): Dice {
  const below = (limit: number): number => Math.floor(random() * limit);
  return { below, pick: (items) => items[below(items.length)] as (typeof items)[number] };
}

const NAMES = ['LLM', 'Agent', 'Switch', 'Message', 'Loop', 'userFillUp', 'X'];
const SUFFIXES = ['a', 'Foo_Bar', 'B:c', '_', 'ÄÖ', '0', 'LongPascalWords'];

function randomJson(dice: Dice, depth: number): Json {
  const kind = dice.below(depth > 0 ? 7 : 5);
  if (kind === 0) return null;
  if (kind === 1) return dice.below(2) === 0;
  if (kind === 2) return dice.below(1000) / 4;
  if (kind < 5) return dice.pick(['', '{LLM:a@content}', '<b>&', 'sys.query', 'constructor', '"\\\u2028']);
  const items = Array.from({ length: dice.below(4) }, () => randomJson(dice, depth - 1));
  if (kind === 5) return items;
  return Object.fromEntries(items.map((item, index) => [dice.pick(['k', 'toString', '1', 'ü']) + index, item]));
}

function randomDocument(dice: Dice): JsonObject {
  const keys = new Map<string, string>([['begin', 'begin']]);
  for (let count = dice.below(12); count > 0; count -= 1) {
    const key = dice.below(8) === 0 ? `plain${count}` : `${dice.pick(NAMES)}:${dice.pick(SUFFIXES)}${count}`;
    keys.set(key.toLowerCase(), key);
  }
  const ids = [...keys.values()];
  const components: Record<string, Json> = {};
  for (const id of ids) {
    const downstream = Array.from({ length: dice.below(4) }, () => dice.pick(ids));
    const parent = id !== 'begin' && dice.below(4) === 0 ? { parent_id: dice.pick(ids) } : {};
    const params = randomJson(dice, 3);
    const isObject = typeof params === 'object' && params !== null && !Array.isArray(params);
    const obj = { component_name: id === 'begin' ? 'Begin' : dice.pick(NAMES), params: isObject ? params : { params } };
    components[id] = { obj, downstream, upstream: [], ...parent };
  }
  return { components, path: [], history: [], retrieval: [] };
}

/** What must survive every conversion. */
function essence(canvas: JsonObject): unknown {
  const components = canvas.components as Record<string, JsonObject>;
  return Object.keys(components)
    .sort()
    .map((id) => {
      const entry = components[id] as JsonObject;
      return [id, entry.name, entry.downstream, JSON.stringify(sortKeys(entry.params as Json))];
    });
}

describe(`conversion of ${ROUNDS} random documents (seed ${SEED})`, () => {
  const dice = createDice(createRandom(SEED));
  const documents = Array.from({ length: ROUNDS }, () => randomDocument(dice));

  it.each([
    ['without a sidecar', (value: JsonObject) => v2ToV1(v1ToV2(value).canvas)],
    ['with components alone', (value: JsonObject) => v2ToV1(v1ToV2(value).canvas, { componentsOnly: true })],
    [
      'with its sidecar',
      (value: JsonObject) => {
        const { canvas, sidecar } = v1ToV2(value);
        return v2ToV1(canvas, { sidecar });
      },
    ],
  ])('keeps ids, classes, successors and parameters %s', (_, roundTrip) => {
    for (const [round, document] of documents.entries()) {
      const once = v1ToV2(document).canvas;
      expect(essence(v1ToV2(roundTrip(document)).canvas), `document ${round}`).toEqual(essence(once));
    }
  });

  it('makes version 2 that reads with the same errors as version 1', () => {
    for (const [round, document] of documents.entries()) {
      const errors = (value: unknown): string[] =>
        readDocument(value)
          .issues.filter((issue) => issue.severity === 'error')
          .map((issue) => issue.code)
          .sort();
      expect(errors(v1ToV2(document).canvas), `document ${round}`).toEqual(errors(document));
    }
  });

  it('gives the same bytes twice', () => {
    for (const document of documents) {
      expect(JSON.stringify(v2ToV1(v1ToV2(document).canvas))).toBe(JSON.stringify(v2ToV1(v1ToV2(document).canvas)));
    }
  });
});
