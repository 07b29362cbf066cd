import { beforeAll, describe, expect, it } from 'vitest';
import { sameNamesCall } from '../../../src/knowledge/graph/calls/same-names.js';
import type { ChunkContribution } from '../../../src/knowledge/graph/facts.js';
import type { NameDecision, SummedGraph } from '../../../src/knowledge/graph/graph-records.js';
import type { Simplify } from '../../../src/knowledge/graph/names/name-forms.js';
import { sumGraph } from '../../../src/knowledge/graph/sum/sum-graph.js';
import { loadChinese } from '../../../src/knowledge/words/chinese.js';
import { HARD_NAMES, type HardName } from './hard-names.js';

let simplify: Simplify;
beforeAll(async () => {
  ({ simplify } = await loadChinese(() => Promise.reject(new Error('no dictionary is needed'))));
});

const spoken = (chunkId: string, name: string, about = '', aliases: readonly string[] = []): ChunkContribution => ({
  ...{ chunkId, documentId: chunkId, layer: 'model', relations: [] },
  mentions: [{ name, type: 'concept', start: 0, end: name.length, description: about, aliases }],
});

/** A name and its candidates as texts that say what is said of them. */
const textsOf = ({ mention, candidates }: HardName): ChunkContribution[] => [
  spoken('mention', mention.name, mention.about),
  ...candidates.map(({ name, about, aliases }, at) => spoken(`candidate ${at}`, name, about, aliases)),
];

const isRight = ({ mention, candidates, answer }: HardName, { idOf }: SummedGraph): boolean =>
  candidates.every(({ id, name }) => (idOf.get(name) === idOf.get(mention.name)) === (id === answer));

/** What a model that knows the right answer says. */
function answered(hard: HardName, names: readonly (readonly [string, string])[]): readonly boolean[] {
  const { mention, candidates, answer } = hard;
  const right = candidates.find(({ id }) => id === answer)?.name;
  const said = (name: string) => ({ name, type: 'concept', descriptions: [], isGiven: false });
  const call = sameNamesCall(names.map(([a, b]) => [said(a), said(b)]));
  const same = names.map((pair) => right !== undefined && pair.includes(mention.name) && pair.includes(right));
  return call.read({ same }) ?? [];
}

describe('a hard list of names', () => {
  it('is right for nine of ten at least with a model that answers right, and for more than without', () => {
    const results = HARD_NAMES.map((hard) => {
      const [texts, options] = [textsOf(hard), { simplify }];
      const alone = sumGraph(texts, options);
      const names = alone.maybe.map((pair) => pair.names);
      const decisions = answered(hard, names).map(
        (same, at): NameDecision => ({
          ...{ id: String(at), kind: same ? 'same' : 'apart', by: 'model' },
          names: names[at] as readonly [string, string],
        }),
      );
      const told = sumGraph(texts, { ...options, decisions });
      return { name: hard.mention.name, alone: isRight(hard, alone), told: isRight(hard, told) };
    });
    const wrong = results.filter((one) => !one.told).map(({ name }) => name);
    expect(wrong.length / results.length, wrong.join()).toBeLessThanOrEqual(0.1);
    expect(wrong.length).toBeLessThan(results.filter(({ alone }) => !alone).length);
  });
});

describe('what a model decides about names', () => {
  const names = ['UN', 'United Nations', 'Union'] as const;
  const texts = names.map((name, at) => spoken(String(at), name));
  const decided = (kind: 'same' | 'apart', left: string, right: string, by: 'user' | 'model'): NameDecision => ({
    ...{ id: `${left} ${right} ${by}`, kind, by },
    names: [left, right],
  });
  const groupsWith = (...decisions: NameDecision[]): readonly (string | undefined)[] => {
    const { idOf } = sumGraph(texts, { decisions });
    return names.map((name) => names.find((other) => idOf.get(other) === idOf.get(name)));
  };

  it('gives way to what users decide, in whatever order they are stored', () => {
    const model = decided('apart', 'UN', 'United Nations', 'model');
    const user = decided('same', 'UN', 'United Nations', 'user');
    for (const both of [
      [model, user],
      [user, model],
    ] as const)
      expect(groupsWith(...both)).toEqual(['UN', 'UN', 'Union']);
    const apart = decided('apart', 'UN', 'United Nations', 'user');
    const same = decided('same', 'UN', 'United Nations', 'model');
    for (const both of [
      [apart, same],
      [same, apart],
    ] as const)
      expect(groupsWith(...both)).toEqual(['UN', 'United Nations', 'Union']);
  });

  it('does not part what users joined over a third name', () => {
    const joined = [decided('same', 'UN', 'Union', 'user'), decided('same', 'Union', 'United Nations', 'user')];
    expect(groupsWith(...joined, decided('apart', 'UN', 'United Nations', 'model'))).toEqual(['UN', 'UN', 'UN']);
  });

  it('does not touch names that are not there', () => {
    expect(groupsWith(decided('same', 'UN', 'Unicorn', 'model'))).toEqual(groupsWith());
  });
});
