/** A sum that is kept up to date is the sum that is made anew, whatever came and went. */
import { describe, expect, it } from 'vitest';
import type { ChunkContribution, GraphLayer, Mention, Relation } from '../../../src/knowledge/graph/facts.js';
import type { GraphRelation, NameDecision, SummedGraph } from '../../../src/knowledge/graph/graph-records.js';
import { seededRandom } from '../../../src/knowledge/graph/seeded-random.js';
import { GraphSum } from '../../../src/knowledge/graph/sum/graph-sum.js';

/** Names that are joined, kept apart, or perhaps one, each in a way of its own. */
const NAMES = [
  ...['Orion Labs', 'OrionLabs', 'orion labs', 'ORION LABS', 'Orion Lab', 'Orian Labs'],
  ...['United Nations', 'UN', 'Unified Names', 'Stage 2', 'Stage 3', 'GPT-4', 'GPT-4o'],
  ...['Mercury', 'Mercury (planet)', 'Mercury (element)', 'The Mercury'],
  ...['北京大学', '北大', '北京大學', 'Redis', 'Rediss', 'Kafka', 'Lyra', 'Lyra Belacqua'],
  // More than are compared when they share their initials.
  ...Array.from({ length: 24 }, (_, at) => `Upper N${'abcdefghijklmnopqrstuvwx'[at]}ll${at % 3}`),
];
const LAYERS: readonly GraphLayer[] = ['links', 'rules', 'model', 'given'];
const SENTENCES = [
  '',
  'It keeps what others forget.',
  'A star of the north.',
  'Founded by two people in a town by the sea.',
];

class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  is(share: number): boolean {
    return this.#random() < share;
  }

  of<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }
}

function contribution(dice: Dice, at: number): ChunkContribution {
  const layer = dice.of(LAYERS);
  const isLoose = layer === 'given' && dice.is(0.2);
  const mentions = Array.from({ length: 1 + dice.below(5) }, (): Mention => {
    const start = 10 * dice.below(4);
    return {
      ...{ name: dice.of(NAMES), type: dice.of(['concept', 'tool', 'model']), start, end: start + 5 },
      ...(dice.is(0.5) && { description: dice.of(SENTENCES) }),
      ...(dice.is(0.1) && { aliases: [dice.of(NAMES), 'Nothing Else Has It'] }),
      ...(dice.is(0.2) && { isTitle: true }),
      ...(layer === 'given' && dice.is(0.5) && { count: dice.below(4) }),
    };
  });
  const names = mentions.map(({ name }) => name);
  const relations = Array.from({ length: dice.below(5) }, (): Relation => {
    const isExplicit = dice.is(0.6);
    return {
      ...{ source: dice.of(names), target: dice.of(names), isExplicit, weight: dice.of([0.5, 1, 1, 3, 1_000]) },
      relation: isExplicit ? dice.of(['uses', 'is_a']) : 'co_occurs',
      // What `links` says has no words.
      description: layer === 'links' ? '' : dice.of(SENTENCES),
    };
  });
  const place = isLoose ? { chunkId: '', documentId: '' } : { chunkId: `c${at % 40}`, documentId: `d${at % 13}` };
  return { ...place, layer, mentions, relations };
}

function decision(dice: Dice, at: number): NameDecision {
  const names = [dice.of(NAMES), dice.of(NAMES)].sort() as [string, string];
  return { id: `${at}`, names, kind: dice.is(0.5) ? 'same' : 'apart', by: dice.is(0.5) ? 'user' : 'model' };
}

interface SumChange {
  readonly add?: Iterable<ChunkContribution>;
  readonly remove?: Iterable<ChunkContribution>;
}

function change(sum: GraphSum, { add = [], remove = [] }: SumChange): void {
  for (const one of remove) sum.remove(one);
  for (const one of add) sum.add(one);
}

/** All that a graph tells, in its order where it has one. */
function toldOf(graph: SummedGraph, sum: GraphSum) {
  const ids = [...graph.entities.keys()];
  return {
    entities: [...graph.entities],
    chunks: ids.map((id) => [...(graph.entities.get(id)?.chunks ?? [])]),
    relations: graph.relations,
    names: { merges: graph.merges, maybe: graph.maybe, ids: [...graph.idOf].sort() },
    relationsOf: ids.map((id): readonly GraphRelation[] => sum.relationsOf(id)),
  };
}

describe('a sum that is kept up to date', () => {
  it.each(Array.from({ length: 60 }, (_, at) => at + 1))('is the one that is made anew (seed %i)', (seed) => {
    const dice = new Dice(seed);
    const there = new Set<ChunkContribution>();
    let decisions: readonly NameDecision[] = [];
    let aliases: readonly (readonly [string, string])[] = [];
    const sum = new GraphSum();
    // From many on few changes are not summed anew.
    const first = Array.from({ length: dice.of([0, 5, 60]) }, (_, at) => contribution(dice, at));
    for (const one of first) there.add(one);
    change(sum, { add: first });
    for (let step = 0; step < 12; step += 1) {
      const remove = [...there].filter(() => dice.is(dice.of([0.02, 0.05, 0.3])));
      const add = Array.from({ length: dice.below(4) }, (_, at) => contribution(dice, 100 * step + at));
      for (const one of remove) there.delete(one);
      for (const one of add) there.add(one);
      // What goes and comes back before the next reading was never gone.
      const back = remove.filter(() => dice.is(0.3));
      for (const one of back) there.add(one);
      if (dice.is(0.3)) decisions = Array.from({ length: dice.below(4) }, (_, at) => decision(dice, at));
      if (dice.is(0.3))
        aliases = Array.from({ length: dice.below(3) }, () => [dice.of(NAMES), dice.of(['Gone', ...NAMES])]);
      change(sum, { remove, add });
      sum.decide(decisions, aliases);
      change(sum, { add: back });
      if (dice.is(0.3)) continue;
      const anew = new GraphSum();
      change(anew, { add: [...there].reverse() });
      anew.decide(decisions, aliases);
      expect(toldOf(sum.graph, sum)).toEqual(toldOf(anew.graph, anew));
    }
  });

  it('looks no name up by what more than 20 share, as long as they do', () => {
    const of = (name: string, at: number): ChunkContribution => ({
      ...{ chunkId: `c${at}`, documentId: `d${at}`, layer: 'rules', relations: [] },
      mentions: [{ name, type: 'concept', start: 0, end: 5 }],
    });
    // Names that share their initials; what is short for several of them is none of them.
    const words =
      'able back care dark each fall gate half idle jump keep land make near open part quit read sale take'.split(' ');
    const towns = words.map((word, at) => of(`U${word} N${word}`, at));
    const sum = new GraphSum();
    change(sum, { add: [of('UN', 100), ...towns.slice(0, 19)] });
    expect(sum.graph.maybe.filter(({ by }) => by === 'abbreviation')).toHaveLength(19);
    change(sum, { add: towns.slice(19) });
    expect(sum.graph.maybe.filter(({ by }) => by === 'abbreviation')).toHaveLength(0);
    change(sum, { remove: towns.slice(4, 5) });
    expect(sum.graph.maybe.filter(({ by }) => by === 'abbreviation')).toHaveLength(19);
  });

  it('keeps the graphs that it gave, and gives the same one until something changes', () => {
    const dice = new Dice(7);
    const all = Array.from({ length: 50 }, (_, at) => contribution(dice, at));
    const sum = new GraphSum();
    change(sum, { add: all });
    const { graph } = sum;
    expect(sum.graph).toBe(graph);
    const before = structuredClone(toldOf(graph, sum));
    change(sum, { remove: all.slice(0, 3) });
    const after = sum.graph;
    expect(after).not.toBe(graph);
    expect({ ...before, relationsOf: [] }).toEqual({ ...toldOf(graph, sum), relationsOf: [] });
  });

  it('makes entities and relations anew only where a change touches them', () => {
    const of = (at: number): ChunkContribution => {
      const [source, target] = [`Alpha${at} Bravo`, `Carol${at} Delta`];
      const mention = (name: string) => ({ name, type: 'concept', start: 0, end: 5 });
      const relation = { source, target, relation: 'uses', description: '', weight: 1, isExplicit: true };
      return {
        ...{ chunkId: `c${at}`, documentId: `d${at}`, layer: 'rules' },
        ...{ mentions: [mention(source), mention(target)], relations: [relation] },
      };
    };
    const all = Array.from({ length: 9 }, (_, at) => of(at));
    const sum = new GraphSum();
    change(sum, { add: all });
    const before = sum.graph;
    change(sum, { remove: all.slice(0, 1), add: [{ ...of(1), chunkId: 'c10' }] });
    const after = sum.graph;
    const kept = [...after.entities].filter(([id, entity]) => before.entities.get(id) === entity).map(([id]) => id);
    const ids = Array.from({ length: 7 }, (_, at) => [`alpha${at + 2}bravo`, `carol${at + 2}delta`]).flat();
    expect(kept.sort()).toEqual(ids.sort());
    expect(after.relations.filter((one) => before.relations.includes(one))).toHaveLength(7);
    expect(after.relations).toHaveLength(8);
  });
});
