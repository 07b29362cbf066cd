/** What a build is expected to take, against what it took: the documents of the example world, read by a model of rules. */
import { finalize, NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { readCollection } from '../../src/knowledge/evaluation/read-collection.js';
import { ENTITY_TYPES } from '../../src/knowledge/graph/facts.js';
import { createRules } from '../../src/knowledge/graph/rules/extract-by-rules.js';
import type { ChatModel } from '../../src/models/chat-model.js';
import { TENANT } from '../knowledge/base/support/new-base.js';
import { WORLD } from '../research/support/world.js';
import { openBuilds, scriptedModel } from './support/graph-builds.js';

const rules = createRules();
const request = { layers: ['model' as const], reports: true, model: '' };

interface Input {
  readonly text: string;
  readonly pairs: readonly unknown[];
  readonly descriptions: readonly string[];
  readonly passages: readonly { readonly id: string; readonly text: string }[];
}

/** A model that says a sentence of each name, and again so many words. */
function sayingModel(more = 0) {
  const words = ' and more'.repeat(more);
  return scriptedModel((name, { text = '', pairs = [], descriptions = [], passages = [] }: Input) => {
    if (name === 'graph_same') return { same: pairs.map(() => false) };
    if (name === 'graph_summarise') return { description: descriptions.join(' ').slice(0, 400) };
    if (name === 'community_report') {
      const findings = passages.slice(0, 5).map(({ id, text: own }) => ({ summary: own.slice(0, 150), chunks: [id] }));
      return {
        title: 'Of a part',
        summary: passages
          .map((one) => one.text)
          .join(' ')
          .slice(0, 600),
        rating: 5,
        findings,
      };
    }
    const names = [...new Set(rules(text).mentions.map((one) => one.name))];
    const about = (one: string): string =>
      `${text.split(/(?<=[.。])\s*/).find((sentence) => sentence.includes(one)) ?? ''}${words}`.slice(0, 480);
    const relation = { source: names[0], relation: 'related to', weight: 5 };
    return {
      entities: names.map((one) => ({ name: one, type: 'concept', description: about(one) })),
      relations: names.slice(1).map((target) => ({ ...relation, target, description: about(target) })),
    };
  });
}

async function openWorld(model: ReturnType<typeof sayingModel>) {
  const kit = await openBuilds({ chat: model.chat });
  const { documents } = await readCollection(WORLD);
  for (const { title, text } of documents) await kit.ingest(kit.dataset, `${title}.md`, text);
  const cost = (given = {}) => kit.builds.cost(TENANT, kit.dataset, { ...request, ...given });
  return { ...kit, cost };
}

/** By how much an estimate is wrong. */
const errorOf = (told: number, spent: number): number => Math.abs(told - spent) / spent;

describe('the cost of a build by a model', () => {
  it('is within a quarter of what it takes, before anything was read', async () => {
    const model = sayingModel();
    const { cost, build } = await openWorld(model);
    const told = await cost();
    expect(told).toMatchObject({ sampled: null, model: 'reader' });
    expect(model.asked).toEqual([]);
    const { spent } = await build(request);
    expect(errorOf(told.calls, spent.calls)).toBeLessThan(0.25);
    expect(errorOf(told.prompt_tokens + told.completion_tokens, spent.tokens)).toBeLessThan(0.25);
    expect(await cost()).toMatchObject({ calls: 0, prompt_tokens: 0, completion_tokens: 0 });
  });

  it('of one with long answers is measured with ten chunks, of which nothing is kept', async () => {
    const model = sayingModel(40);
    const { cost, build } = await openWorld(model);
    const usual = await cost();
    const told = await cost({ sample: true });
    expect(told.sampled).toMatchObject({ chunks: 10, calls: 10 });
    expect(new Set(model.asked.map(({ input }) => input.text)).size).toBe(10);
    // Asked as a build asks.
    for (const { input } of model.asked) expect(input.entity_types).toEqual([...ENTITY_TYPES]);
    expect(told).toMatchObject({ chunks: usual.chunks, calls: usual.calls, prompt_tokens: usual.prompt_tokens });
    const { spent } = await build(request);
    const sumOf = (one: typeof told): number => one.prompt_tokens + one.completion_tokens;
    expect(errorOf(sumOf(told), spent.tokens)).toBeLessThan(0.25);
    expect(errorOf(sumOf(usual), spent.tokens)).toBeGreaterThan(0.25);
    // Where nothing is left to be read, nothing is sampled.
    const before = model.asked.length;
    expect(await cost({ sample: true })).toMatchObject({ sampled: null, calls: 0 });
    expect(model.asked).toHaveLength(before);
  });

  it('closes the connections of a sample that is given up', async () => {
    let [opened, closed] = [0, 0];
    const silent: ChatModel = {
      chat: () => {
        opened += 1;
        return NEVER.pipe(
          finalize(() => {
            closed += 1;
          }),
        );
      },
    };
    const chat = () => ({ model: silent, name: 'silent', supportsImages: false, contextLength: undefined });
    const { builds, dataset } = await openBuilds({ chat });
    const given = new AbortController();
    const asked = builds.cost(TENANT, dataset, { ...request, sample: true }, given.signal);
    const refused = expect(asked).rejects.toThrow('given up');
    await expect.poll(() => opened, { timeout: 60_000 }).toBe(4);
    given.abort(new Error('given up'));
    expect(closed).toBe(4);
    await refused;
  });
});
