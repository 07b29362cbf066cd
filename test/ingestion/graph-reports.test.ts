import { NEVER as SILENCE } from 'rxjs';
import { finalize } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import type { ChatModel } from '../../src/models/chat-model.js';
import { estimateTokens } from '../../src/models/estimate-tokens.js';
import { createMemoryFiles } from '../../src/stores/memory-files.js';
import { createMemoryKnowledge } from '../../src/stores/memory-knowledge.js';
import { newBase, TENANT } from '../knowledge/base/support/new-base.js';
import { openBuilds, scriptedModel } from './support/graph-builds.js';

interface Material {
  readonly entities: readonly { readonly name: string }[];
  readonly passages: readonly { readonly id: string; readonly text: string }[];
}

/** One finding for each passage, and one for a passage that the message does not hold. */
function report(_name: string, { entities, passages }: Material) {
  return {
    title: `About ${entities[0]?.name}`,
    summary: `Written of ${passages.map(({ text }) => text).join(' ')}`,
    rating: 70,
    findings: [
      ...passages.map(({ id, text }) => ({ summary: text, chunks: [id, 'invented'] })),
      { summary: 'Nothing shows this.', chunks: ['invented'] },
    ],
  };
}

const NEVER = new AbortController().signal;

const REPORTS = { layers: ['links', 'rules'], reports: true } as const;
const request = { ...REPORTS, layers: [...REPORTS.layers] };

async function open(answer: (name: string, input: never) => unknown = report, made = {}) {
  const model = scriptedModel(answer);
  const kit = await openBuilds({ chat: model.chat }, made);
  const reports = async () => (await kit.base.graphs.ask(TENANT, kit.dataset, { kind: 'reports', limit: 100 })).reports;
  return { ...kit, model, reports };
}

describe('reports on communities by a model', () => {
  it('are written for each community, the largest first, with the passages that show them', async () => {
    const { build, model, reports } = await open();
    const built = await build(request);
    const found = await reports();
    expect(built).toMatchObject({ state: 'DONE', missing: [], done: { reports: found.length } });
    expect(model.asked.map(({ name }) => name)).toEqual(found.map(() => 'community_report'));
    const sizes = model.asked.map(({ input }) => (input.entities as unknown[]).length);
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    for (const { by, title, rating, isStale, findings } of found) {
      expect([by, rating, isStale]).toEqual(['model', 10, false]);
      expect(title).toMatch(/^About /);
      expect(findings.length).toBeGreaterThan(0);
      expect(findings.flatMap(({ chunks }) => chunks)).not.toContain('invented');
      expect(findings.map(({ summary }) => summary)).not.toContain('Nothing shows this.');
    }
    await build(request);
    expect(model.asked).toHaveLength(found.length);
  });

  it('are not written without being asked for, and come with the layer of a model', async () => {
    const { build, model } = await open((name, input) =>
      name === 'graph_extract' ? extracted(input) : report(name, input),
    );
    await build({ layers: ['rules'] });
    expect(model.asked).toEqual([]);
    await build({ layers: ['model'], reports: false });
    expect(model.asked.map(({ name }) => name)).not.toContain('community_report');
    await build({ layers: ['model'] });
    expect(model.asked.map(({ name }) => name)).toContain('community_report');
  });

  it('survive the process', async () => {
    const [store, files] = [createMemoryKnowledge(), createMemoryFiles()];
    const { build, reports, dataset, indexes } = await open(report, { store, files });
    await build(request);
    const later = newBase({ store, files, indexes, graphs: 'here' });
    const found = await later.base.graphs.ask(TENANT, dataset, { kind: 'reports', limit: 100 });
    expect(found.reports).toEqual(await reports());
    expect(found.reports[0]?.by).toBe('model');
  });

  it('are stale once they gained a source, are still served, and are written again by the next build', async () => {
    const { build, ingest, dataset, model, reports } = await open();
    await build(request);
    const before = await reports();
    await ingest(dataset, 'Vega.md', 'Vega replaces Orion. Orion uses Vega.');
    await build({ layers: ['links', 'rules'] });
    const stale = (await reports()).filter(({ isStale }) => isStale);
    expect(stale).toHaveLength(1);
    expect(before.map(({ summary }) => summary)).toContain(stale[0]?.summary);
    const asked = model.asked.length;
    await build(request);
    expect((await reports()).filter(({ isStale, by }) => isStale || by !== 'model')).toEqual([]);
    expect(JSON.stringify(model.asked.slice(asked))).toContain('Vega replaces Orion');
  });

  it('are written again in order of use once they are stale, then the largest first', async () => {
    const { base, build, ingest, dataset, model, reports } = await open((name, input: never) => ({
      ...report(name, input),
      rating: 3,
    }));
    const groups = [
      ['Mira', 'Deneb'],
      ['Altair', 'Spica'],
    ];
    for (const [one, other] of groups)
      await ingest(dataset, `${one}.md`, `${one} uses ${other}. ${other} uses ${one}.`);
    await build(request);
    for (const [one, other] of groups) await ingest(dataset, `${one} 2.md`, `${one} replaces ${other}. ${one} is old.`);
    await ingest(dataset, 'Orion 2.md', 'Orion replaces Kafka.');
    await build({ layers: ['links', 'rules'] });
    const stale = (await reports()).filter(({ isStale }) => isStale).map(({ title }) => title);
    expect(stale.length).toBeGreaterThanOrEqual(3);
    const uses = new Map(stale.map((title) => [title, 0]));
    for (const question of ['Deneb', 'Altair', 'Deneb']) {
      const query = { kind: 'global', question, datasetIds: [dataset] } as const;
      const { points, isStale } = await base.graphs.search(TENANT, query, NEVER);
      expect(isStale).toBe(true);
      for (const [title = ''] of points.map((point) => point.reports))
        if (uses.has(title)) uses.set(title, (uses.get(title) ?? 0) + 1);
    }
    expect([...uses.values()].sort()).toEqual([0, 1, 2]);
    const [twice, once] = [...stale].sort((one, other) => (uses.get(other) ?? 0) - (uses.get(one) ?? 0));
    // The smallest one is used most.
    expect(twice).toBe(stale.at(-1));
    model.asked.length = 0;
    await build({ ...request, budget: { calls: 2 } });
    const names = model.asked.map(({ input }) => (input as unknown as Material).entities[0]?.name);
    expect(names.map((name) => `About ${name}`)).toEqual([twice, once]);
    const left = (await reports()).filter(({ isStale }) => isStale).map(({ title }) => title);
    expect(left).toEqual(stale.slice(0, -2));
  });

  it('leave out the findings of a document that is deleted, and give way to the rules when none is left', async () => {
    const { base, build, ingest, dataset, reports } = await open();
    await build({ layers: ['links', 'rules'] });
    const never = await reports();
    const extra = await ingest(dataset, 'Vega.md', 'Vega replaces Orion. Orion uses Vega.');
    await build(request);
    expect(JSON.stringify((await reports()).map(({ findings }) => findings))).toContain('Vega replaces');
    await base.documents.delete(TENANT, dataset, [extra.id]);
    const left = await reports();
    expect(JSON.stringify(left.map(({ findings }) => findings))).not.toContain('Vega replaces');
    expect(left.some(({ isStale }) => isStale)).toBe(true);
    // Of whole documents nothing is left that a report could stand on.
    const { items } = await base.documents.list(TENANT, {
      ...{ datasetId: dataset, offset: 0, limit: 10, orderBy: 'createdAt', descending: false },
    });
    const ids = items.map(({ id }) => id);
    await base.documents.delete(TENANT, dataset, ids);
    expect(never.every(({ by }) => by === 'rules')).toBe(true);
    await ingest(dataset, 'Mira.md', 'Mira uses Deneb. Deneb depends on Mira.');
    await build({ layers: ['links', 'rules'] });
    expect((await reports()).map(({ by }) => by)).toEqual(['rules']);
  });

  it('end with the budget, to the call, and go on with the next build', async () => {
    const { build, model, reports, ingest, dataset } = await open();
    await ingest(dataset, 'Mira.md', 'Mira uses Deneb. Deneb depends on Mira.');
    const first = await build({ ...request, budget: { calls: 1 } });
    expect(first).toMatchObject({ state: 'DONE', spent: { calls: 1 }, done: { reports: 1 } });
    expect(first.missing.join()).toContain('reports: the budget was reached');
    expect((await reports()).map(({ by }) => by).sort()).toContain('rules');
    await build(request);
    expect((await reports()).map(({ by }) => by)).not.toContain('rules');
    expect(new Set(model.asked.map(({ input }) => JSON.stringify(input))).size).toBe(model.asked.length);
  });

  it.each<[string, unknown]>([
    ['prose', 'I would rather not.'],
    ['half an object', '{"title": "Or'],
    ['another form', { title: 7, findings: {} }],
    ['findings of no passage', { title: 'a', summary: 'b', rating: 1, findings: [{ summary: 'c', chunks: ['no'] }] }],
  ])('are those of the rules where a model answers %s, which is asked twice and not again', async (_, given) => {
    const { build, model, reports } = await open(() => given);
    const built = await build(request);
    const found = await reports();
    expect(built.missing).toEqual(['reports: some answers could not be used']);
    expect(found.map(({ by }) => by)).toEqual(found.map(() => 'rules'));
    expect(model.asked).toHaveLength(2 * found.length);
    await build(request);
    expect(model.asked).toHaveLength(2 * found.length);
  });

  it('are counted before they are written', async () => {
    const { build, builds, dataset, model } = await open();
    await build({ layers: ['links', 'rules'] });
    const told = await builds.cost(TENANT, dataset, { ...request, model: '' });
    const { spent, done } = await build(request);
    expect(told).toMatchObject({ chunks: 0, reports: done.reports, calls: spent.calls, money: null });
    const answers = model.asked.map(({ name, input }) => estimateTokens(JSON.stringify(report(name, input as never))));
    expect(told.prompt_tokens).toBe(spent.tokens - answers.reduce((sum, tokens) => sum + tokens, 0));
    expect((await builds.cost(TENANT, dataset, { ...request, model: '' })).calls).toBe(0);
    expect((await builds.cost(TENANT, dataset, { layers: ['rules'], model: '' })).reports).toBe(0);
  });

  it('close the connection of the model when the build is cancelled', async () => {
    let [opened, closed] = [0, 0];
    const silent: ChatModel = {
      chat: () => {
        opened += 1;
        return SILENCE.pipe(
          finalize(() => {
            closed += 1;
          }),
        );
      },
    };
    const chat = () => ({ model: silent, name: 'reader', supportsImages: false, contextLength: undefined });
    const { builds, build, dataset } = await openBuilds({ chat });
    const ended = build(request);
    await expect.poll(() => opened).toBeGreaterThan(0);
    expect(await builds.cancel(TENANT, dataset)).toBe(true);
    expect(closed).toBe(opened);
    ended.catch(() => {});
  });

  it('say that there is no model', async () => {
    const { build } = await openBuilds();
    expect((await build(request)).missing).toEqual(['reports: no chat model is configured']);
  });
});

/** Capitalised words that use each other. */
function extracted({ text }: { readonly text: string }) {
  const names = [...new Set(text.match(/[A-Z]\w+/g) ?? [])];
  const entities = names.map((name) => ({ name, type: 'technology', description: '' }));
  return {
    entities,
    relations: names
      .slice(1)
      .map((target) => ({ source: names[0], target, relation: 'uses', description: '', weight: 1 })),
  };
}
