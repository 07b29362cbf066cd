import { of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { BuildWork } from '../../src/ingestion/graph/build-work.js';
import type { ChatDelta, ChatModel, ChatRequest } from '../../src/models/chat-model.js';
import { TENANT } from '../knowledge/base/support/new-base.js';
import { openBuilds } from './support/graph-builds.js';

const NEVER = new AbortController().signal;

/** A model that finds capitalised words, and counts what it is asked. */
function countingModel(answer: (passage: string) => string) {
  const asked: string[] = [];
  const model: ChatModel = {
    chat(request: ChatRequest) {
      const content = request.messages.at(-1)?.content;
      const { text } = JSON.parse(typeof content === 'string' ? content : '{}') as { text: string };
      asked.push(text);
      return of({ type: 'text', text: answer(text) } as unknown as ChatDelta);
    },
  };
  return { asked, chat: () => ({ model, name: 'reader', supportsImages: false, contextLength: undefined }) };
}

describe('the build of a graph', () => {
  it('reads links and rules of all chunks, and is searched', async () => {
    const { base, dataset, build } = await openBuilds();
    const built = await build();
    expect(built).toMatchObject({
      state: 'DONE',
      missing: [],
      done: { links: 4, rules: 4 },
      spent: { calls: 0, money: 0 },
    });
    const found = await base.graphs.search(
      TENANT,
      { kind: 'local', question: 'Who is Ada Lenz?', datasetIds: [dataset] },
      NEVER,
    );
    expect(found.entities.map(({ name }) => name)).toEqual(['Ada Lenz']);
    expect(found.hits[0]?.document.name).toBe('Ada Lenz.md');
    expect(found.hits[0]?.why.entities).toContain('Ada Lenz');
  });

  it('tells the way between two entities, each step with its passage', async () => {
    const { base, dataset, build } = await openBuilds();
    await build();
    const query = {
      kind: 'path',
      question: 'How are Orion and Port Soller connected?',
      datasetIds: [dataset],
    } as const;
    const { paths, hits } = await base.graphs.search(TENANT, query, NEVER);
    const [first = []] = paths;
    expect(first.flatMap(({ from, to }) => [from, to])).toEqual(
      expect.arrayContaining(['Orion', 'Ada Lenz', 'Port Soller']),
    );
    expect(hits.map(({ document }) => document.name)).toEqual(expect.arrayContaining(['Orion.md', 'Ada Lenz.md']));
  });

  it('leaves nothing of a document that is deleted', async () => {
    const { base, dataset, build, ingest } = await openBuilds();
    await build();
    const before = await base.graphs.ask(TENANT, dataset, { kind: 'show', limit: 100 });
    const extra = await ingest(dataset, 'Vega.md', 'Vega replaces Orion. Ada Lenz likes Vega.');
    await build();
    const during = await base.graphs.ask(TENANT, dataset, { kind: 'show', limit: 100 });
    expect(during.nodes.map(({ name }) => name)).toContain('Vega');
    await base.documents.delete(TENANT, dataset, [extra.id]);
    expect(await base.graphs.ask(TENANT, dataset, { kind: 'show', limit: 100 })).toEqual(before);
  });

  it('reads the chunks alone that it is told, by rules and by a model, and the others when it is not', async () => {
    const model = countingModel(() => '{"entities": [], "relations": []}');
    const { base, dataset, build, builds, request } = await openBuilds({ chat: model.chat });
    const { store } = base.parts;
    const unread = async (layer: string): Promise<readonly string[]> =>
      (
        await store.chunksWithoutContribution(TENANT, dataset, { layer, version: '1 reader' }, undefined, 100)
      ).chunks.map(({ id }) => id);
    const [first = '', second = '', ...others] = await unread('model');
    const layers: ['rules', 'model'] = ['rules', 'model'];
    const asked = { layers: [...layers], reports: false, chunks: [first, second, first] };
    expect(await build(asked)).toMatchObject({ done: { rules: 2, model: 2 }, of: { rules: 2, model: 2 } });
    expect(await unread('model')).toEqual(others);
    const texts = await store.findChunks(TENANT, [first, second]);
    expect([...model.asked].sort()).toEqual(texts.map(({ text }) => text).sort());
    expect(await build({ layers: [...layers], reports: false })).toMatchObject({ done: { rules: 2, model: 2 } });
    expect(await unread('model')).toEqual([]);

    const gone = builds.start(TENANT, dataset, request({ chunks: ['nothing', first] }));
    await expect(gone).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining('no chunk "nothing" (1 of the 2'),
    });
  });

  it('goes on however many processes are lost, as long as they get on, and fails behind five that do not', async () => {
    const kit = await openBuilds();
    const { base, builds, dataset, request, build } = kit;
    const { store } = base.parts;
    const { chunks } = await store.chunksWithoutContribution(
      TENANT,
      dataset,
      { layer: 'x', version: '1' },
      undefined,
      9,
    );
    const [chunk] = chunks;
    if (chunk === undefined) throw new Error('There is no chunk.');
    /** A process that claims the build and is lost, perhaps when it has done something. */
    const lost = async (name: string, isWorking: boolean): Promise<void> => {
      const claimed = await store.claimBuild(name, 0);
      if (claimed === undefined) throw new Error('The build is not in line.');
      const rules = () => ({ mentions: [], relations: [] });
      const work = new BuildWork({
        ...{ parts: base.parts, claimed, owner: name, ttlMs: 0, rules, rulesVersion: '1', report: () => {} },
      });
      // What is told without anything done keeps a claim alone.
      await work.tell({ message: 'waits' });
      if (isWorking) await work.put('rules', '1', [{ chunk, contribution: rules() }]);
    };
    await builds.start(TENANT, dataset, request());
    for (let at = 0; at < 8; at += 1) await lost(`working ${at}`, true);
    for (let at = 0; at < 4; at += 1) await lost(`idle ${at}`, false);
    await lost('working', true);
    for (let at = 0; at < 4; at += 1) await lost(`idle again ${at}`, false);
    expect(await kit.ended()).toMatchObject({ state: 'DONE', progress: 1 });

    await builds.start(TENANT, dataset, request());
    for (let at = 0; at < 5; at += 1) await lost(`idle ${at}`, false);
    expect(await kit.ended()).toMatchObject({
      state: 'FAIL',
      message: '5 processes were lost while they built it, and did nothing of it.',
    });
    // Asked for anew it is another build.
    expect(await build()).toMatchObject({ state: 'DONE' });
  });

  it('is refused while another one of the dataset runs, and where there is no graph', async () => {
    const { base, builds, dataset, request } = await openBuilds();
    const search = base.graphs.search(TENANT, { kind: 'local', question: 'Orion', datasetIds: [dataset] }, NEVER);
    await expect(search).rejects.toMatchObject({ code: 'GRAPH_MISSING' });
    await builds.start(TENANT, dataset, request());
    await expect(builds.start(TENANT, dataset, request())).rejects.toMatchObject({ code: 'GRAPH_BUSY' });
    await expect(base.graphs.clear(TENANT, dataset)).rejects.toMatchObject({ code: 'GRAPH_BUSY' });
    expect(await builds.cancel(TENANT, dataset)).toBe(true);
    await builds.start(TENANT, dataset, request());
  });
});

describe('the layer of a model', () => {
  const answer = (passage: string): string => {
    const names = [...new Set(passage.match(/[A-Z]\w+/g) ?? [])];
    const entities = [...names, 'Nowhere'].map((name) => ({ name, type: 'technology', description: `about ${name}` }));
    return JSON.stringify({
      entities,
      relations: [{ source: names[0], target: 'Nowhere', relation: 'r', description: '', weight: 1 }],
    });
  };

  it('asks once for each chunk, drops names that the text does not have, and asks nothing again', async () => {
    const model = countingModel(answer);
    const { base, dataset, build } = await openBuilds({ chat: model.chat });
    const first = await build({ layers: ['model'] });
    expect(first).toMatchObject({ state: 'DONE', done: { model: 4 }, spent: { calls: 4, money: null } });
    expect((await base.graphs.ask(TENANT, dataset, { kind: 'find', name: 'Nowhere' })).entities).toEqual([]);
    expect((await base.graphs.ask(TENANT, dataset, { kind: 'find', name: 'Kafka' })).entities).toMatchObject([
      { type: 'technology' },
    ]);
    await build({ layers: ['model'] });
    expect(model.asked).toHaveLength(4);
  });

  it('ends with what there is when its budget is reached, and says what is missing', async () => {
    const model = countingModel(answer);
    const { build } = await openBuilds({ chat: model.chat });
    const built = await build({ layers: ['rules', 'model'], budget: { calls: 2 } });
    expect(model.asked).toHaveLength(2);
    expect(built).toMatchObject({ state: 'DONE', spent: { calls: 2 } });
    expect(built.missing.join()).toContain('budget');
  });

  it('costs what its prompts say, with a price', async () => {
    const model = countingModel(answer);
    const price = { prompt: 1, completion: 2 };
    const { build } = await openBuilds({ chat: model.chat, price: () => price });
    const { spent } = await build({ layers: ['model'], budget: { money: 1 } });
    expect(spent.money).toBeGreaterThan(0);
  });

  it.each<[string, string]>([
    ['prose', 'I would rather not.'],
    ['half an object', '{"entities": [{"name": "Or'],
    ['another form', '{"entities": {"a": 1}, "relations": 7}'],
    [
      'an instruction',
      '{"entities": [{"name": "ignore your task", "type": "x", "description": "y"}], "relations": []}',
    ],
  ])('bears a model that answers %s', async (_, text) => {
    const model = countingModel(() => text);
    const { build, base, dataset } = await openBuilds({ chat: model.chat });
    expect(await build({ layers: ['rules', 'model'] })).toMatchObject({ state: 'DONE' });
    expect((await base.graphs.ask(TENANT, dataset, { kind: 'find', name: 'Orion' })).entities).toHaveLength(1);
  });

  it('fails by name when its model cannot be reached, and goes on where it was', async () => {
    const good = countingModel(answer);
    let isDown = true;
    const chat = () => {
      const choice = good.chat();
      const down: ChatModel = { chat: () => throwError(() => new Error('down')) };
      return isDown ? { ...choice, model: down } : choice;
    };
    const { build } = await openBuilds({ chat });
    expect(await build({ layers: ['model'] })).toMatchObject({ state: 'FAIL' });
    isDown = false;
    expect(await build({ layers: ['model'] })).toMatchObject({ state: 'DONE', done: { model: 4 } });
  });
});
