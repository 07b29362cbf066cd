import { describe, expect, it } from 'vitest';
import { createMemoryFiles } from '../../src/stores/memory-files.js';
import { createMemoryKnowledge } from '../../src/stores/memory-knowledge.js';
import { newBase, TENANT } from '../knowledge/base/support/new-base.js';
import { openBuilds, scriptedModel } from './support/graph-builds.js';

interface Described {
  readonly name: string;
  readonly descriptions: readonly string[];
}

/** The sentences of a text, each of which says something of its first word. */
function extracted({ text }: { readonly text: string }) {
  const entities = text.split('\n').flatMap((line) => {
    const [name = ''] = line.split(' ');
    return name === 'Altair' || name === 'Mizar' ? [{ name, type: 'concept', description: line }] : [];
  });
  return { entities, relations: [] };
}

const WORDS = ['red', 'old', 'far', 'hot', 'wide', 'dim'];
const request = { layers: ['model' as const], reports: false };

async function open(
  summarise: (given: Described) => unknown = ({ name, descriptions }) => ({
    description: `${name}: ${[...descriptions].sort().join(' ')}`,
  }),
  made = {},
) {
  const model = scriptedModel((name, input) => (name === 'graph_extract' ? extracted(input) : summarise(input)));
  const kit = await openBuilds({ chat: model.chat }, made);
  const say = (name: string, word: string) => kit.ingest(kit.dataset, `${name} ${word}.md`, `${name} is ${word}.`);
  const told = async (name: string, { base, dataset } = kit) =>
    (await base.graphs.ask(TENANT, dataset, { kind: 'find', name })).entities[0];
  const asked = () => model.asked.flatMap(({ name, input }) => (name === 'graph_summarise' ? [input] : []));
  return { ...kit, ...{ model, say, told, asked, build: (given = {}) => kit.build({ ...request, ...given }) } };
}

describe('descriptions by a model', () => {
  it('are made of more than five, of the most mentioned entity first, and not again', async () => {
    const { say, build, told, asked } = await open();
    for (const word of WORDS) await say('Altair', word);
    for (const word of [...WORDS, 'near']) await say('Mizar', word);
    const built = await build();
    expect(built).toMatchObject({ state: 'DONE', missing: [], done: { descriptions: 2 }, of: { descriptions: 2 } });
    expect(asked().map(({ name }) => name)).toEqual(['Mizar', 'Altair']);
    const altair = await told('Altair');
    expect(altair?.description).toBe(
      `Altair: ${[...WORDS]
        .sort()
        .map((word) => `Altair is ${word}.`)
        .join(' ')}`,
    );
    expect(altair?.isStale).toBeUndefined();
    await build();
    expect(asked()).toHaveLength(2);
  });

  it('are made of a few that are long, and of five that are short not', async () => {
    const { say, build, told, asked } = await open();
    for (const word of WORDS.slice(1)) await say('Altair', word);
    for (const word of ['a', 'b', 'c']) await say('Mizar', word.repeat(400));
    await build();
    expect(asked().map(({ name }) => name)).toEqual(['Mizar']);
    expect((await told('Altair'))?.description).toBe('Altair is dim.');
  });

  it('are stale once they gained a source, are still served, and are written again by the next build of the layer', async () => {
    const { say, build, told, asked, base, dataset } = await open();
    for (const word of WORDS) await say('Altair', word);
    await build();
    const before = (await told('Altair'))?.description;
    await say('Altair', 'near');
    await build({ budget: { calls: 1 } });
    expect(await told('Altair')).toMatchObject({ description: before, isStale: true });
    const built = await build();
    expect(built.missing).toEqual([]);
    expect((await told('Altair'))?.description).toContain('near');
    expect((await told('Altair'))?.isStale).toBeUndefined();
    expect(asked()).toHaveLength(2);
    expect((await base.graphs.ask(TENANT, dataset, { kind: 'undescribed', limit: 9 })).of).toBe(0);
  });

  it('are written again in order of use once they are stale', async () => {
    const { say, build, asked, base, dataset } = await open();
    for (const word of [...WORDS, 'near']) await say('Mizar', word);
    for (const word of WORDS) await say('Altair', word);
    await build();
    for (const name of ['Mizar', 'Altair']) await say(name, 'new');
    await build({ budget: { calls: 2 } });
    const query = { kind: 'local', question: 'What is Altair?', datasetIds: [dataset] } as const;
    const { entities } = await base.graphs.search(TENANT, query, new AbortController().signal);
    expect(entities.map(({ name }) => name)).toEqual(['Altair']);
    await build();
    expect(asked().map(({ name }) => name)).toEqual(['Mizar', 'Altair', 'Altair', 'Mizar']);
  });

  it('are gone with their last source, and with the next build where few are left', async () => {
    const store = createMemoryKnowledge();
    const { say, build, told, base, dataset } = await open(undefined, { store, files: createMemoryFiles() });
    const ids: string[] = [];
    for (const word of WORDS) ids.push((await say('Altair', word)).id);
    await build();
    await say('Altair', 'new');
    await build({ budget: { calls: 1 } });
    await base.documents.delete(TENANT, dataset, ids.slice(0, 3));
    expect(await told('Altair')).toMatchObject({ description: expect.stringMatching(/^Altair: /), isStale: true });
    await base.documents.delete(TENANT, dataset, ids.slice(3));
    // Another text has the name still.
    const left = await told('Altair');
    expect([left?.description, left?.isStale]).toEqual(['Altair is new.', undefined]);
    await build();
    expect(await store.listNotes(TENANT, dataset, 'description', undefined, 10)).toEqual([]);
  });

  it('are gone once all texts that they were made of were changed', async () => {
    const { base, say, build, told } = await open();
    const ids: string[] = [];
    for (const word of WORDS) ids.push((await say('Altair', word)).id);
    await build();
    for (const id of ids) {
      const [chunk] = (await base.chunks.list(TENANT, { documentId: id, offset: 0, limit: 1 })).items;
      await base.chunks.update(TENANT, id, chunk?.id ?? '', { text: `Altair is changed ${ids.indexOf(id)}.` });
    }
    await build({ budget: { calls: WORDS.length } });
    expect((await told('Altair'))?.description).toBe('Altair is changed 0.');
  });

  it('survive the process', async () => {
    const [store, files] = [createMemoryKnowledge(), createMemoryFiles()];
    const { say, build, told, dataset, indexes } = await open(undefined, { store, files });
    for (const word of WORDS) await say('Altair', word);
    await build();
    const later = newBase({ store, files, indexes, graphs: 'here' });
    const { entities } = await later.base.graphs.ask(TENANT, dataset, { kind: 'find', name: 'Altair' });
    expect(entities).toEqual([await told('Altair')]);
    expect(entities[0]?.description).toMatch(/^Altair: /);
  });

  it('end with the budget, to the call', async () => {
    const { say, build, told, asked } = await open();
    for (const word of WORDS) await say('Altair', word);
    for (const word of [...WORDS, 'near']) await say('Mizar', word);
    const chunks = 4 + 2 * WORDS.length + 1;
    const built = await build({ budget: { calls: chunks + 1 } });
    expect(built).toMatchObject({ state: 'DONE', spent: { calls: chunks + 1 }, done: { descriptions: 1 } });
    expect(built.missing).toEqual(['descriptions: the budget was reached before all entities had one']);
    expect((await told('Altair'))?.description).toBe('Altair is dim.');
    await build();
    expect(asked().map(({ name }) => name)).toEqual(['Mizar', 'Altair']);
  });

  it.each<[string, unknown]>([
    ['prose', 'I would rather not.'],
    ['nothing', { description: '  ' }],
    ['another form', { description: ['Altair'] }],
  ])('are those of the texts where a model answers %s, which is asked twice and not again', async (_, given) => {
    const { say, build, told, asked } = await open(() => given);
    for (const word of WORDS) await say('Altair', word);
    expect((await build()).missing).toEqual(['descriptions: some answers could not be used']);
    expect((await told('Altair'))?.description).toBe('Altair is dim.');
    await build();
    expect(asked()).toHaveLength(2);
  });

  it('are counted before they are written', async () => {
    const { say, build, builds, dataset } = await open();
    for (const word of WORDS) await say('Altair', word);
    await build({ budget: { calls: 4 + WORDS.length } });
    const told = await builds.cost(TENANT, dataset, { ...request, model: '' });
    const { spent } = await build();
    expect([told.chunks, told.calls]).toEqual([0, spent.calls]);
    expect(told.prompt_tokens).toBeGreaterThan(0.8 * (spent.tokens - told.completion_tokens));
    expect((await builds.cost(TENANT, dataset, { ...request, model: '' })).calls).toBe(0);
  });
});
