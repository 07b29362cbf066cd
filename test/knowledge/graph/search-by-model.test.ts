import { finalize, NEVER as SILENCE } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { askForJson } from '../../../src/chat/stages/ask-for-json.js';
import type { GraphModel } from '../../../src/knowledge/graph/calls/graph-model.js';
import type { GraphQuery } from '../../../src/knowledge/graph/graph-search.js';
import type { TokenUsage } from '../../../src/models/chat-model.js';
import { openBuilds, scriptedModel } from '../../ingestion/support/graph-builds.js';
import { TENANT } from '../base/support/new-base.js';

const NEVER = new AbortController().signal;

interface Asked {
  readonly question: string;
  readonly reports: readonly { readonly id: string; readonly title: string }[];
  readonly findings: readonly string[];
}

/** One point of each report, the first of most use, and one of a report that the message does not hold. */
function answer(name: string, { reports, findings }: Asked): unknown {
  if (name === 'research_followups')
    return { questions: findings.some((one) => one.includes('sea')) ? [] : ['What is Port Soller?', 'Who is Nobody?'] };
  return {
    points: [
      ...reports.map(({ id, title }, at) => ({ text: `point on ${title}`, score: 90 - 40 * at, reports: [id, 'no'] })),
      { text: 'from nowhere', score: 100, reports: ['no'] },
      { text: 'of no use', score: 19, reports: [reports[0]?.id] },
    ],
  };
}

/** Groups of entities that have nothing to do with each other. */
const MORE = {
  'Mira.md': 'Mira uses Deneb. Deneb depends on Mira.',
  'Altair.md': 'Altair uses Spica. Spica depends on Altair.',
};

async function open(given: (name: string, input: never) => unknown = answer) {
  const scripted = scriptedModel(given);
  const { model, name } = scripted.chat();
  const graphModel: GraphModel = { name, ask: (question) => askForJson({ model, name }, question) };
  const kit = await openBuilds({}, { graphModels: (_, id) => (id === '' || id === 'reader' ? graphModel : undefined) });
  for (const [file, text] of Object.entries(MORE)) await kit.ingest(kit.dataset, file, text);
  await kit.build({ layers: ['links', 'rules'] });
  const search = (kind: 'global' | 'drift' | 'local', more: Pick<GraphQuery, 'budget' | 'model' | 'onCall'> = {}) =>
    kit.base.graphs.search(
      TENANT,
      { kind, question: 'Which directions are there in Orion?', datasetIds: [kit.dataset], ...more },
      NEVER,
    );
  return { ...kit, asked: scripted.asked, search };
}

describe('the search global with a model', () => {
  it('gives points with their reports, and the passages that these name', async () => {
    const { search, asked } = await open();
    const { points, hits, read, spent, isStale, isDegraded } = await search('global', { budget: { calls: 5 } });
    expect(asked.map(({ name }) => name)).toEqual(['global_map']);
    expect(points.map(({ text }) => text)).not.toContain('from nowhere');
    expect(points.map(({ text }) => text)).not.toContain('of no use');
    expect(points[0]?.rating).toBe(90);
    expect(points[0]?.text).toBe(`point on ${points[0]?.reports[0]}`);
    expect(hits[0]?.why.community).toBe(points[0]?.reports[0]);
    expect(read.done).toBe(read.of);
    expect(read.of).toBeGreaterThan(1);
    expect([spent.calls, isStale, isDegraded]).toEqual([1, false, false]);
    expect(spent.tokens).toBeGreaterThan(0);
  });

  it.each<[string, object]>([
    ['no budget', {}],
    ['a budget of no call', { budget: { calls: 0 } }],
    ['a budget of no token', { budget: { tokens: 0 } }],
  ])('works by rules with %s', async (_, more) => {
    const { search, asked } = await open();
    const found = await search('global', more);
    expect(asked).toEqual([]);
    expect(found).toMatchObject({ spent: { calls: 0, tokens: 0 }, isDegraded: false });
    expect(found.points.length).toBeGreaterThan(0);
    expect(found.hits.length).toBeGreaterThan(0);
  });

  it('says how much was read when its budget is reached, which it never exceeds by more than a call', async () => {
    const { search, asked, ingest, dataset, build } = await open();
    for (const letter of 'bcdfghjklmnp') {
      const [one, other] = [`Zo${letter}a`, `Ke${letter}u`];
      await ingest(dataset, `${one}.md`, `${one} uses ${other}. ${other} depends on ${one}.`);
    }
    await build({ layers: ['links', 'rules'] });
    const { read, spent, points } = await search('global', { budget: { tokens: 1_600 } });
    expect(read.done).toBeGreaterThan(0);
    expect(read.done).toBeLessThan(read.of);
    expect(points.length).toBeGreaterThan(0);
    expect(spent.tokens).toBeLessThanOrEqual(1_600);
    expect(asked).toHaveLength(spent.calls);
  });

  it.each<[string, unknown]>([
    ['prose', 'I would rather not.'],
    ['half an object', '{"points": '],
    ['another form', { points: 'none' }],
  ])('rates by words where its model answers %s', async (_, given) => {
    const { search, asked } = await open(() => given);
    const found = await search('global', { budget: { calls: 5 } });
    expect(asked).toHaveLength(2);
    expect(found).toMatchObject({ isDegraded: true, spent: { calls: 2 } });
    expect(found.hits.length).toBeGreaterThan(0);
    expect((await search('global', { budget: { calls: 1 } })).spent.calls).toBe(1);
  });

  it('says which model does not exist, and takes the one that is named', async () => {
    const { search, asked } = await open();
    await expect(search('global', { model: 'none' })).rejects.toMatchObject({ code: 'MODEL_UNKNOWN' });
    await search('global', { model: 'reader' });
    expect(asked).toHaveLength(1);
    await search('local', { model: 'reader' });
    expect(asked).toHaveLength(1);
  });

  it('closes the connections of its model when it is aborted', async () => {
    let [opened, closed] = [0, 0];
    const silent: GraphModel = {
      name: 'silent',
      ask: () => {
        opened += 1;
        return SILENCE.pipe(
          finalize(() => {
            closed += 1;
          }),
        );
      },
    };
    const { base, build, dataset } = await openBuilds({}, { graphModels: () => silent });
    await build({ layers: ['links', 'rules'] });
    const stop = new AbortController();
    const query = { kind: 'global', question: 'What is there?', datasetIds: [dataset], budget: {} } as const;
    const found = base.graphs.search(TENANT, query, stop.signal);
    await expect.poll(() => opened).toBe(1);
    stop.abort();
    expect(closed).toBe(1);
    await expect(found).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('the search drift with a model', () => {
  it('asks questions of its own, twice at most, and tells which one led to a passage', async () => {
    const { search, asked } = await open();
    const { questions, hits, spent, read } = await search('drift', { budget: { calls: 6 } });
    expect(questions).toEqual(['What is Port Soller?', 'Who is Nobody?']);
    expect(asked.map(({ name }) => name)).toEqual(['global_map', 'research_followups', 'research_followups']);
    expect(asked[2]?.input.missing).toEqual(['Who is Nobody?']);
    const led = hits.filter(({ why }) => why.question === 'What is Port Soller?');
    expect(led.length).toBeGreaterThan(0);
    expect(spent.calls).toBe(3);
    expect(read.done).toBeGreaterThan(0);
  });

  it('tells what each call took, once', async () => {
    const { search } = await open();
    const told: TokenUsage[] = [];
    const { spent } = await search('drift', { budget: { calls: 6 }, onCall: (usage) => told.push(usage) });
    expect(told).toHaveLength(3);
    expect(told.every(({ promptTokens, completionTokens }) => promptTokens > 0 && completionTokens > 0)).toBe(true);
    expect(told.reduce((sum, { totalTokens }) => sum + totalTokens, 0)).toBe(spent.tokens);
  });

  it.each([0, 1, 2, 3])('takes no more than %d calls', async (calls) => {
    const { search, asked } = await open();
    const { spent, hits } = await search('drift', { budget: { calls } });
    expect([asked.length, spent.calls]).toEqual([calls, calls]);
    expect(hits.length).toBeGreaterThan(0);
  });
});
