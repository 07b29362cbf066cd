import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GraphHit, GraphQuery } from '../../../src/knowledge/graph/graph-search.js';
import { openWorldBase, WORLD_TENANT, type WorldBase, worldQuestions } from './support/world-base.js';

const NEVER = new AbortController().signal;

let world: WorldBase;
beforeAll(async () => {
  world = await openWorldBase();
}, 120_000);
afterAll(() => world.close());

const search = (query: Pick<GraphQuery, 'kind' | 'question'> & Partial<GraphQuery>) =>
  world.base.graphs.search(WORLD_TENANT, { datasetIds: [world.datasetId], ...query }, NEVER);

const titleOf = ({ document }: GraphHit): string => document.name.replace(/\.md$/, '');
const saidIn = (hit: GraphHit): string => `${titleOf(hit)} ${hit.chunk.text}`.toLowerCase();

describe('the graph of a real collection', () => {
  const questions = worldQuestions();

  it('is about what its documents are about', async () => {
    const counts = await world.base.graphs.ask(WORLD_TENANT, world.datasetId, { kind: 'counts' });
    expect(questions).toHaveLength(40);
    expect(counts.entities).toBeGreaterThanOrEqual(world.collection.documents.length);
    const { entities } = await world.base.graphs.ask(WORLD_TENANT, world.datasetId, {
      kind: 'find',
      name: 'petra solis',
    });
    expect(entities).toMatchObject([{ name: 'Petra Solis' }]);
  });

  it.each(['local', 'rank'] as const)(
    '%s begins with a passage of the answer, and knows what is asked for',
    async (kind) => {
      const firsts: boolean[] = [];
      const wholes: boolean[] = [];
      for (const { question, passages } of questions) {
        const { hits, entities } = await search({ kind, question, limit: 8 });
        const found = hits.map(({ document }) => world.idOf.get(document.id) ?? '');
        expect(entities.length, question).toBeGreaterThan(0);
        firsts.push(passages.includes(found[0] ?? ''));
        wholes.push(passages.every((one) => found.includes(one)));
      }
      const count = (all: readonly boolean[]): number => all.filter((one) => one).length;
      expect(count(firsts)).toBeGreaterThanOrEqual(36);
      // Of questions of up to four steps; words and a walk lead further than the neighbours of an entity. Which of equal passages come first hangs on their ids.
      expect(count(wholes)).toBeGreaterThanOrEqual(kind === 'rank' ? 26 : 18);
    },
  );

  it('local says why each passage is there: an entity of the question stands in it, or a step leads to it', async () => {
    for (const { question } of questions) {
      const { hits, entities } = await search({ kind: 'local', question, limit: 8 });
      const names = entities.map(({ name }) => name);
      for (const hit of hits) {
        const { why } = hit;
        expect(why.entities.length, question).toBeGreaterThan(0);
        expect(names).toEqual(expect.arrayContaining([...why.entities]));
        const stands = why.entities.some((name) => saidIn(hit).includes(name.toLowerCase()));
        const isLed = why.steps.some(({ from, to }) =>
          [from, to].some((end) => saidIn(hit).includes(end.toLowerCase())),
        );
        expect(stands || isLed, `${question}: ${hit.document.name}`).toBe(true);
      }
    }
  });

  it.each<[from: string, to: string, ...titles: string[]]>([
    ['Nine Bridges', 'Tessaly Rock', 'Nine Bridges', 'Petra Solis', 'Ashcombe'],
    ['The Slow Harbour', 'Velmar', 'The Slow Harbour', 'Olwen Pryce', 'Stoneferry'],
    ['Grey Heron', 'Fallowmere', 'Grey Heron', 'Rafe Tolland'],
    ['Orrin', 'Ysolde Marn', 'Orrin'],
  ])('path leads from %s to %s, each step by the passage that says it', async (from, to, ...titles) => {
    const { paths, hits } = await search({ kind: 'path', question: 'How?', between: [from, to], limit: 20 });
    const [way = []] = paths;
    expect(way).toHaveLength(titles.length);
    expect(hits.slice(0, titles.length).map(titleOf)).toEqual(titles);
    for (const [at, step] of way.entries())
      for (const end of [step.from, step.to]) expect(saidIn(hits[at] as GraphHit)).toContain(end.toLowerCase());
    const asked = await search({ kind: 'path', question: `How are ${from} and ${to} connected?` });
    expect(asked.paths[0]).toEqual(way);
  });

  it('global and drift tell what communities are about, and which of them led to a passage', async () => {
    const question = 'Which islands of the Sundered Sea live on fishing?';
    const { points, hits, read } = await search({ kind: 'global', question });
    expect(read).toEqual({ done: read.of, of: read.of });
    expect(points[0]?.text).toContain('Sundered Sea');
    const ratings = points.map(({ rating }) => rating);
    expect(ratings).toEqual([...ratings].sort((a, b) => b - a));
    expect(Math.min(...ratings)).toBeGreaterThanOrEqual(20);
    const titles = points.flatMap(({ reports }) => reports);
    for (const { why } of hits) expect(titles).toContain(why.community);
    const drift = await search({ kind: 'drift', question });
    expect(drift.points).toEqual(points);
    expect(drift.hits.length).toBeGreaterThanOrEqual(hits.length);
    expect(await search({ kind: 'global', question: '???' })).toMatchObject({ hits: [], points: [] });
  });

  it('is refused for a dataset that does not exist, by its name, and for one without a graph', async () => {
    const { dataset } = await world.base.datasets.create(WORLD_TENANT, { name: 'bare' });
    const ask = (...datasetIds: string[]) => search({ kind: 'local', question: 'Who is Petra Solis?', datasetIds });
    await expect(ask('nowhere')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('nowhere'),
    });
    await expect(ask(world.datasetId, 'nowhere')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(ask(dataset.id)).rejects.toMatchObject({ code: 'GRAPH_MISSING' });
    expect((await ask(dataset.id, world.datasetId)).hits.length).toBeGreaterThan(0);
  });

  it('keeps within passages and tokens, and its scores fall', async () => {
    for (const kind of ['local', 'rank', 'global', 'drift'] as const) {
      const question = 'Who is the warden of the island on which Stoneferry lies?';
      const { hits } = await search({ kind, question, limit: 3 });
      expect(hits.length, kind).toBeLessThanOrEqual(3);
      const scores = hits.map(({ score }) => score);
      expect(scores, kind).toEqual([...scores].sort((a, b) => b - a));
      const few = await search({ kind, question, limit: 8, maxTokens: 40 });
      const tokens = few.hits.reduce((sum, { chunk }) => sum + chunk.tokens, 0);
      expect(few.hits.length === 1 || tokens <= 40, kind).toBe(true);
    }
  });
});
