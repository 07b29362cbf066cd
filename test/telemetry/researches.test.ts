import { NEVER } from 'rxjs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ChatModel } from '../../src/models/chat-model.js';
import { createModels } from '../../src/models/router.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';
import { knowledgeOf, openWorld } from '../research/support/world.js';
import { openStream } from '../transport/support/event-stream.js';
import type { Received } from './support/collector.js';
import { startTracedServer } from './support/traced-server.js';

const QUESTION = 'Who is the warden of the island on which the author of The Salt Atlas was born?';
const PRICES = JSON.stringify({ prices: { scripted: { prompt: 1, completion: 2 } } });

let world: Awaited<ReturnType<typeof openWorld>>;
beforeAll(async () => {
  world = await openWorld();
}, 60_000);

/** A traced server that researches the invented world by a model, whose tokens have a price. */
async function startResearchServer(model: ChatModel = world.planner) {
  const env = { RUNNEL_MODELS: 'models.json' };
  const models = createModels(await modelsFromEnvironment(env, async () => PRICES), { scripted: model });
  const server = await startTracedServer({ services: { knowledge: knowledgeOf(world), models } });
  const api = `${server.url}/api/v1/research`;
  const ask = (body: object) => openStream(api, { body: { question: QUESTION, llm_id: 'scripted', ...body } });
  const research = async (body: object = {}) => {
    const frames = await (await ask(body)).rest();
    return frames.flatMap(({ json }) => (json === undefined ? [] : [json]));
  };
  const metrics = async (): Promise<string[]> => (await (await fetch(`${server.url}/metrics`)).text()).split('\n');
  return { ...server, api, ask, research, metrics };
}

/** The spans of a name, and those within a span. */
function spansOf(spans: readonly Received[]) {
  const named = (name: string) => spans.filter((span) => span.name === name);
  const within = (around: Received) => spans.filter(({ parentId }) => parentId === around.spanId);
  return { named, within };
}

const sum = (spans: readonly Received[], name: string): number =>
  spans.reduce((total, { attributes }) => total + Number(attributes[name] ?? 0), 0);

const TOKENS = 'runnel.research.tokens';
const MONEY = 'runnel.research.money';
const CALL = 'runnel.research.call';

describe('researches in traces', () => {
  it('by sub-questions have a span for each question, search, read and check, with what these took', {
    timeout: 60_000,
  }, async () => {
    const { research, flush, collector } = await startResearchServer();
    const told = await research();
    await flush();
    const final = told.at(-1);
    const { named, within } = spansOf(collector.spans);
    const node = collector.span('research_0');
    const asked = told.filter(({ type }) => type === 'question');
    const questions = named('research question');
    expect(questions.map(({ attributes }) => attributes['runnel.research.question.id'])).toEqual(
      expect.arrayContaining(asked.map(({ id }) => id)),
    );
    expect(questions).toHaveLength(asked.length);
    for (const question of questions) {
      expect(question.parentId).toBe(node.spanId);
      expect(question.attributes).toMatchObject({
        'runnel.research.verdict': 'supported',
        'runnel.research.question.round': 1,
        'runnel.research.calls': 2,
      });
      const inner = within(question);
      expect(inner.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['research search', 'research read', 'research check']),
      );
      // Both calls of the model stand where they belong, and are all that the question took.
      const calls = inner.flatMap((part) => within(part));
      expect(calls.map(({ name, attributes }) => [name, attributes[CALL]])).toEqual([
        ['chat scripted', 'research_read'],
        ['chat scripted', 'research_verify'],
      ]);
      const tokens = sum(calls, 'gen_ai.usage.input_tokens') + sum(calls, 'gen_ai.usage.output_tokens');
      expect(question.attributes[TOKENS]).toBe(tokens);
      expect(question.attributes[MONEY]).toBeCloseTo(sum(calls, MONEY), 12);
    }
    const searches = named('research search');
    expect(searches).toHaveLength(told.filter(({ type }) => type === 'searched').length);
    expect(sum(searches, 'runnel.research.found')).toBe(
      told.reduce((total, { type, found }) => total + (type === 'searched' ? found : 0), 0),
    );
    expect(node.attributes).toMatchObject({
      'runnel.research.outcome': 'answer',
      'runnel.research.rounds': 1,
      [TOKENS]: final.budget.tokens,
      'runnel.research.calls': final.budget.calls,
      [MONEY]: final.budget.money,
    });
    const calls = named('chat scripted');
    expect(sum(calls, MONEY)).toBeCloseTo(final.budget.money, 12);
    // What is about the whole lies in the node.
    expect(within(node).flatMap(({ attributes }) => attributes[CALL] ?? [])).toEqual(
      expect.arrayContaining(['research_decompose', 'research_validate', 'research_synthesise']),
    );
    expect(JSON.stringify(collector.spans)).not.toMatch(/Salt Atlas|warden/);
  });

  it('by a plan have a span for each task, around those of its questions', { timeout: 60_000 }, async () => {
    const { research, flush, collector } = await startResearchServer();
    const told = await research({ plan: true });
    await flush();
    const { named, within } = spansOf(collector.spans);
    const node = collector.span('research_0');
    const tasks = named('research task');
    const done = told.filter(({ type }) => type === 'task_finished');
    expect(done.length).toBeGreaterThan(1);
    expect(tasks.map(({ attributes }) => attributes['runnel.research.task.id']).sort()).toEqual(
      done.map(({ task_id }) => task_id).sort(),
    );
    for (const task of tasks) {
      expect(task.parentId).toBe(node.spanId);
      expect(task.attributes).toMatchObject({ 'runnel.research.task.status': 'done' });
      const inner = within(task);
      expect(inner.map(({ name }) => name)).toContain('research question');
      expect(task.attributes[TOKENS]).toBeGreaterThan(0);
      expect(task.attributes[TOKENS]).toBe(
        sum(inner, TOKENS) + sum(inner, 'gen_ai.usage.input_tokens') + sum(inner, 'gen_ai.usage.output_tokens'),
      );
    }
    const questions = named('research question');
    expect(questions).toHaveLength(told.filter(({ type }) => type === 'question').length);
    expect(new Set(questions.map(({ parentId }) => parentId))).toEqual(new Set(tasks.map(({ spanId }) => spanId)));
    expect(named('research read').length).toBeGreaterThan(0);
    expect(named('research check').length).toBeGreaterThan(0);
  });

  it('that are cancelled end all their spans, which say so', { timeout: 60_000 }, async () => {
    let isRead = (): void => {};
    const read = new Promise<void>((resolve) => {
      isRead = resolve;
    });
    const { ask, api, flush, collector, metrics } = await startResearchServer({
      chat: (request) => {
        if (request.jsonSchema?.name === 'research_decompose') return world.planner.chat(request);
        isRead();
        return NEVER;
      },
    });
    const stream = await ask({});
    const first = await stream.next();
    await read;
    await fetch(`${api}/${first?.json.run_id}/cancel`, { method: 'POST' });
    await stream.rest();
    await flush();
    const { named, within } = spansOf(collector.spans);
    const questions = named('research question');
    expect(questions).toHaveLength(4);
    const reads = named('research read');
    expect(reads.length).toBeGreaterThan(0);
    for (const span of [...questions, ...reads, ...named('chat scripted').slice(1)]) {
      expect(span.attributes['runnel.stopped']).toBe(true);
    }
    expect(reads.flatMap((one) => within(one)).map(({ attributes }) => attributes[CALL])).toContain('research_read');
    expect(await metrics()).toContain('runnel_research_ends_total{outcome="cancelled"} 1');
  });
});

describe('researches in metrics', () => {
  it('count what they came to, their rounds, verdicts and budgets, and no name of a dataset or question', {
    timeout: 60_000,
  }, async () => {
    const { research, metrics } = await startResearchServer();
    const told = [await research(), await research({ plan: true }), await research({ budget: { calls: 4 } })];
    const all = told.flat();
    const finals = all.filter(({ type }) => type === 'final');
    const lines = await metrics();
    const count = (name: string): number => {
      const line = lines.find((one) => one.startsWith(`${name} `));
      return line === undefined ? Number.NaN : Number(line.slice(name.length));
    };
    expect(count('runnel_research_ends_total{outcome="answer"}')).toBe(
      finals.filter(({ outcome }) => outcome === 'answer').length,
    );
    expect(count('runnel_research_rounds_count')).toBe(3);
    expect(count('runnel_research_rounds_bucket{le="1"}')).toBe(3);
    const supported = all.filter(({ type, verdict }) => type === 'finding' && verdict === 'supported');
    expect(supported.length).toBeGreaterThanOrEqual(8);
    expect(count('runnel_research_verdicts_total{verdict="supported"}')).toBe(supported.length);
    expect(count('runnel_research_exhausted_total{limit="calls",per="research"}')).toBe(1);
    expect(count('runnel_research_search_duration_seconds_count{where="kb"}')).toBe(
      all.filter(({ type }) => type === 'searched').length,
    );
    expect(count('runnel_research_budget_share_count{limit="calls"}')).toBe(3);
    expect(count('runnel_research_budget_share_sum{limit="calls"}')).toBeCloseTo(
      finals.reduce((total, { budget }) => total + budget.calls / budget.of.calls, 0),
      9,
    );
    const names = lines.filter((line) => line.startsWith('runnel_research_')).join('\n');
    expect(names).not.toMatch(/world|task_|q1|Salt Atlas/);
  });
});
