import { describe, expect, it } from 'vitest';
import { findCommunities } from '../../../src/knowledge/graph/communities.js';
import { networkOf } from '../../../src/knowledge/graph/entity-network.js';
import type { ChunkContribution } from '../../../src/knowledge/graph/facts.js';
import { createRules } from '../../../src/knowledge/graph/rules/extract-by-rules.js';
import { seededRandom } from '../../../src/knowledge/graph/seeded-random.js';
import { sumGraph } from '../../../src/knowledge/graph/sum/sum-graph.js';

const rules = createRules();
const NAMES = [
  'Redis',
  'Milvus',
  'Ed Wood',
  'Orion Labs',
  'OrionLabs',
  'United Nations',
  'UN',
  'Stage 2',
  'Stage 3',
  'Lyra',
  'Kafka',
];
const VERBS = ['uses', 'supports', 'replaces', 'depends on', 'and'];

function dataset(seed: number, size: number): ChunkContribution[] {
  const random = seededRandom(seed);
  const pick = (all: readonly string[]): string => all[Math.floor(random() * all.length)] as string;
  return Array.from({ length: size }, (_, at): ChunkContribution => {
    const sentences = Array.from(
      { length: 1 + Math.floor(random() * 4) },
      () => `${pick(NAMES)} ${pick(VERBS)} ${pick(NAMES)}.`,
    );
    const gap = random() < 0.3 ? '\n\n' : ' ';
    const documentId = `d${Math.floor(at / 3)}`;
    return { chunkId: `c${at}`, documentId, layer: 'rules', ...rules(sentences.join(gap)) };
  });
}

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  const all = [...values];
  for (let at = all.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [all[at], all[other]] = [all[other] as T, all[at] as T];
  }
  return all;
}

describe('the sum of contributions', () => {
  const seeds = Array.from({ length: 40 }, (_, at) => at + 1);

  it.each(seeds)('is the same in any order (seed %i)', (seed) => {
    const all = dataset(seed, 24);
    const [one, other] = [sumGraph(all), sumGraph(shuffled(all, seededRandom(seed + 1_000)))];
    expect([...other.entities.values()]).toEqual([...one.entities.values()]);
    expect(other.relations).toEqual(one.relations);
    expect([other.merges, other.maybe]).toEqual([one.merges, one.maybe]);
    expect(findCommunities(networkOf(other))).toEqual(findCommunities(networkOf(one)));
  });

  it('counts a mention that two layers find once', () => {
    const found = rules('Then Redis uses Kafka.');
    const of = (layer: 'rules' | 'model'): ChunkContribution => ({ chunkId: 'c', documentId: 'd', layer, ...found });
    const [once, twice] = [sumGraph([of('rules')]), sumGraph([of('rules'), of('model')])];
    expect(twice.entities.get('redis')?.mentionCount).toBe(1);
    expect(twice.relations).toEqual(once.relations);
  });

  it('takes spellings for one, keeps numbers apart, and says what it merged', () => {
    const text = 'The Orion Labs team met OrionLabs. We saw Stage 2 and Stage 3.';
    const { entities, idOf } = sumGraph([{ chunkId: 'c', documentId: 'd', layer: 'rules', ...rules(text) }]);
    expect(idOf.get('Orion Labs')).toBe(idOf.get('OrionLabs'));
    expect(idOf.get('Stage 2')).not.toBe(idOf.get('Stage 3'));
    expect(entities.get('orionlabs')).toMatchObject({ mentionCount: 2, documents: ['d'] });
  });

  it.each([
    ['orion', 'Orion', 'Orion'],
    ['Orion', 'ORION', 'Orion'],
    ['iPhone', 'IPhone', 'iPhone'],
    ['orion', 'orion', 'orion'],
  ])(
    'writes a name as the title %j does, unless that is in small letters and a text has %j',
    (title, written, shown) => {
      const { entities } = sumGraph([
        {
          ...{ chunkId: 'c', documentId: 'd', layer: 'links', relations: [] },
          mentions: [{ name: title, type: 'concept', start: 0, end: 0, isTitle: true }],
        },
        {
          ...{ chunkId: 'c', documentId: 'd', layer: 'rules', relations: [] },
          mentions: [{ name: written, type: 'concept', start: 0, end: written.length }],
        },
      ]);
      expect([...entities.values()].map(({ name }) => name)).toEqual([shown]);
    },
  );

  it('does what users decided, and undoes it when the decision goes', () => {
    const all = dataset(7, 24);
    const before = sumGraph(all);
    const same = { id: '1', kind: 'same', names: ['Kafka', 'Redis'], by: 'user' } as const;
    const merged = sumGraph(all, { decisions: [same] });
    expect(merged.idOf.get('Kafka')).toBe(merged.idOf.get('Redis'));
    expect(merged.merges).toContainEqual({ names: ['Kafka', 'Redis'], score: 1, by: 'user' });
    const apart = sumGraph(all, { decisions: [same, { ...same, id: '2', kind: 'apart' }] });
    expect(apart.idOf.get('Kafka')).not.toBe(apart.idOf.get('Redis'));
    expect(sumGraph(all, { decisions: [] })).toEqual(before);
  });

  it('bears aliases that make a cycle', () => {
    const aliases = [
      ['Redis', 'Kafka'],
      ['Kafka', 'Lyra'],
      ['Lyra', 'Redis'],
    ] as const;
    const { idOf } = sumGraph(dataset(3, 24), { aliases });
    expect(new Set(['Redis', 'Kafka', 'Lyra'].map((name) => idOf.get(name))).size).toBe(1);
  });
});

describe('communities', () => {
  /** Rings of entities; each next one hangs on the one before by a thread. */
  function rings(count: number, size: number): ChunkContribution[] {
    return Array.from({ length: count * size }, (_, at): ChunkContribution => {
      const ring = Math.floor(at / size);
      const name = (place: number): string => `R${String(ring).padStart(2, '0')}N${place % size}`;
      const relation = (target: string, weight: number) => ({
        source: name(at),
        target,
        relation: 'uses',
        description: '',
        weight,
        isExplicit: true,
      });
      const relations = [1, 2, 3].map((step) => relation(name(at + step), 2));
      const mention = (own: string) => ({ name: own, type: 'concept', start: 0, end: 1 });
      return {
        chunkId: `c${at}`,
        documentId: 'd',
        layer: 'given',
        relations,
        mentions: [mention(name(at)), ...relations.map(({ target }) => mention(target))],
      };
    });
  }

  it('are divided down to 50 members, each inside of one of the level above', () => {
    const { communities } = findCommunities(networkOf(sumGraph(rings(3, 120))));
    const byId = new Map(communities.map((one) => [one.id, one]));
    const leaves = communities.filter(({ id }) => !communities.some(({ parent }) => parent === id));
    expect(Math.max(...leaves.map(({ members }) => members.length))).toBeLessThanOrEqual(50);
    for (const { parent, level, members } of communities) {
      if (parent === null) expect(level).toBe(0);
      else expect(byId.get(parent)?.members).toEqual(expect.arrayContaining([...members]));
    }
  });

  it('never hold entities that are not connected, and leave those without relations apart', () => {
    const alone = { name: 'Alone', type: 'concept', start: 0, end: 5 };
    const summed = sumGraph([
      ...rings(2, 8),
      { chunkId: 'x', documentId: 'd', layer: 'given', relations: [], mentions: [alone] },
    ]);
    const { communities, singletons } = findCommunities(networkOf(summed));
    expect(singletons).toEqual(['alone']);
    expect(communities.filter(({ level }) => level === 0)).toHaveLength(2);
  });
});
