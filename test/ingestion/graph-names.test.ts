import { describe, expect, it } from 'vitest';
import { TENANT } from '../knowledge/base/support/new-base.js';
import { openBuilds, scriptedModel } from './support/graph-builds.js';

interface Said {
  readonly name: string;
  readonly type: string;
  readonly descriptions: readonly string[];
}
type Pairs = readonly { readonly a: Said; readonly b: Said }[];

/** Texts with a name and one that is perhaps the same: an abbreviation of which nothing is said. */
const PAIRS: Readonly<Record<string, readonly [string, string]>> = {
  'Alder.md': ['UN', 'United Nations'],
  'Birch.md': ['WHO', 'World Health Organization'],
};
const NAMES = Object.values(PAIRS).flat();

/** What a model reads of a text: the names above, as they stand there. */
function extracted({ text }: { readonly text: string }, known = NAMES) {
  const names = known.filter((name) => new RegExp(`\\b${name}\\b`).test(text));
  return { entities: names.map((name) => ({ name, type: 'concept', description: '' })), relations: [] };
}

const initialsOf = (name: string): string => name.replace(/[^A-Z]/g, '');

const isUnited = ({ a, b }: Pairs[number]): boolean => [a, b].some(({ name }) => name === 'United Nations');

async function open(same: (pairs: Pairs) => unknown = (pairs) => ({ same: pairs.map(isUnited) })) {
  const model = scriptedModel((name, input) =>
    name === 'graph_extract' ? extracted(input) : same((input as { readonly pairs: Pairs }).pairs),
  );
  const kit = await openBuilds({ chat: model.chat });
  const add = (name: string) => kit.ingest(kit.dataset, name, `${PAIRS[name]?.join(' is there. ')} is there.`);
  for (const name of Object.keys(PAIRS)) await add(name);
  const build = (given = {}) => kit.build({ layers: ['model'], reports: false, ...given });
  const askedPairs = (): Pairs =>
    model.asked.flatMap(({ name, input }) => (name === 'graph_same' ? (input.pairs as Pairs) : []));
  const namesOf = async (name: string): Promise<readonly string[]> => {
    const { entities } = await kit.base.graphs.ask(TENANT, kit.dataset, { kind: 'find', name });
    return entities.flatMap((one) => [one.name, ...one.aliases]).sort();
  };
  return { ...kit, ...{ model, add, build, askedPairs, namesOf, graphs: kit.base.graphs } };
}

describe('names by a model', () => {
  it('are one where it says so, apart where it does not, and are not asked about again', async () => {
    const { build, askedPairs, namesOf, graphs, dataset } = await open();
    const built = await build();
    expect(built).toMatchObject({ state: 'DONE', missing: [], done: { names: 2 }, of: { names: 2 } });
    expect(askedPairs().map(({ a, b }) => [a.name, b.name])).toEqual(
      expect.arrayContaining([
        ['UN', 'United Nations'],
        ['WHO', 'World Health Organization'],
      ]),
    );
    expect(await namesOf('UN')).toEqual(['UN', 'United Nations']);
    expect(await namesOf('WHO')).toEqual(['WHO']);
    expect(await graphs.decisions(TENANT, dataset)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'same', names: ['UN', 'United Nations'], by: 'model' }),
        expect.objectContaining({ kind: 'apart', names: ['WHO', 'World Health Organization'], by: 'model' }),
      ]),
    );
    expect((await graphs.ask(TENANT, dataset, { kind: 'merges', limit: 10 })).maybe).toEqual([]);
    await build();
    expect(askedPairs()).toHaveLength(2);
  });

  it('tell the model what is said of both', async () => {
    const { build, askedPairs, ingest, dataset } = await open();
    await ingest(dataset, 'Cedar.md', 'UN uses Kafka.');
    await build({ layers: ['rules', 'model'] });
    const told = askedPairs().flatMap(({ a, b }) => [a, b]);
    expect(told.find(({ name }) => name === 'UN')?.descriptions).toEqual(['UN uses Kafka.']);
  });

  it('are as a user decides, and as they were once that of the model is undone', async () => {
    const { build, askedPairs, namesOf, graphs, dataset } = await open();
    await build();
    const united = (await graphs.decisions(TENANT, dataset)).find(({ kind }) => kind === 'same');
    expect(await graphs.undo(TENANT, dataset, united?.id ?? '')).toBe(true);
    expect(await namesOf('UN')).toEqual(['UN']);
    await build();
    expect([await namesOf('UN'), askedPairs().length]).toEqual([['UN'], 2]);
    await graphs.decide(TENANT, dataset, 'same', ['who', 'World Health Organization']);
    expect(await namesOf('WHO')).toEqual(['WHO', 'World Health Organization']);
  });

  it('mean nothing once no text has them, and are asked about when they are there again', async () => {
    const { base, build, add, askedPairs, dataset, graphs } = await open();
    const shown = () => graphs.ask(TENANT, dataset, { kind: 'show', limit: 100 });
    const { items } = await base.documents.list(TENANT, {
      ...{ datasetId: dataset, offset: 0, limit: 10, orderBy: 'createdAt', descending: false },
    });
    const ids = items.flatMap(({ id, name }) => (name in PAIRS ? [id] : []));
    await build();
    await base.documents.delete(TENANT, dataset, ids);
    const never = await openBuilds({ chat: scriptedModel((_, input) => extracted(input)).chat });
    await never.build({ layers: ['model'], reports: false });
    const { nodes } = await never.base.graphs.ask(TENANT, never.dataset, { kind: 'show', limit: 100 });
    expect((await shown()).nodes.map(({ name }) => name)).toEqual(nodes.map(({ name }) => name));
    await build();
    expect(await graphs.decisions(TENANT, dataset)).toEqual([]);
    await add('Alder.md');
    await build();
    expect(askedPairs()).toHaveLength(3);
  });

  it('end with the budget, to the call, and go on with the next build', async () => {
    const { build, askedPairs, model } = await open();
    await build({ layers: ['model'], budget: { calls: 6 } });
    expect(askedPairs()).toEqual([]);
    const built = await build({ budget: { calls: 0 } });
    expect(built.missing).toEqual(['names: the budget was reached before all pairs were asked about']);
    const asked = model.asked.length;
    expect(await build({ budget: { calls: 1 } })).toMatchObject({ spent: { calls: 1 }, done: { names: 2 } });
    expect([askedPairs().length, model.asked.length - asked]).toEqual([2, 1]);
  });

  it.each<[string, unknown]>([
    ['prose', 'I would rather not.'],
    ['too few', { same: [true] }],
    ['words', { same: ['yes', 'no'] }],
  ])('stay apart where it answers %s, which is asked twice and not again', async (_, given) => {
    const { build, model, namesOf } = await open(() => given);
    expect((await build()).missing).toEqual(['names: some answers could not be used']);
    const asked = model.asked.length;
    expect(model.asked.filter(({ name }) => name === 'graph_same')).toHaveLength(2);
    expect(await namesOf('UN')).toEqual(['UN']);
    await build();
    expect(model.asked).toHaveLength(asked);
  });

  it('are asked about in questions of twenty, and those that were answered before the model was lost are not asked again', async () => {
    const first = ['Amber', 'Birch', 'Cedar', 'Delta', 'Ember'];
    const second = ['Falcon', 'Garden', 'Harbor', 'Island', 'Jungle'];
    const many = first.flatMap((one) => second.map((other) => `${one} ${other}`));
    let isDown = true;
    const model = scriptedModel((name, input) => {
      if (name === 'graph_extract') return extracted(input, [...many, ...many.map(initialsOf)]);
      const { pairs } = input as { readonly pairs: Pairs };
      if (isDown && pairs.length < 20) throw new Error('The model is lost.');
      return { same: pairs.map(() => true) };
    });
    const kit = await openBuilds({ chat: model.chat });
    for (const one of many) await kit.ingest(kit.dataset, `${one}.txt`, `${initialsOf(one)}, ${one}.`);
    const build = () => kit.build({ layers: ['model'], reports: false });
    const sizes = () =>
      model.asked.flatMap(({ name, input }) => (name === 'graph_same' ? [(input.pairs as Pairs).length] : []));
    expect(await build()).toMatchObject({ state: 'FAIL' });
    expect(sizes()).toEqual([20, 5]);
    isDown = false;
    expect(await build()).toMatchObject({ state: 'DONE', done: { names: 5 } });
    expect(sizes()).toEqual([20, 5, 5]);
    const { merges } = await kit.base.graphs.ask(TENANT, kit.dataset, { kind: 'merges', limit: 100 });
    expect(merges.map(({ by }) => by)).toEqual(many.map(() => 'model'));
  });

  it('are counted before they are asked about', async () => {
    const { build, builds, dataset } = await open();
    await build({ budget: { calls: 6 } });
    const request = { layers: ['model' as const], reports: false, model: '' };
    const told = await builds.cost(TENANT, dataset, request);
    const { spent } = await build();
    expect([told.calls, told.chunks]).toEqual([spent.calls, 0]);
    const sum = told.prompt_tokens + told.completion_tokens;
    expect(Math.abs(sum - spent.tokens)).toBeLessThanOrEqual(0.05 * spent.tokens);
    expect((await builds.cost(TENANT, dataset, request)).calls).toBe(0);
  });
});
