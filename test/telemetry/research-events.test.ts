import { expect, it } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import { callFinished, callStarted } from '../../src/graph/node-events.js';
import type { Plan } from '../../src/graph/plan.js';
import type { JsonObject } from '../../src/json.js';
import { RESEARCH_NOTICE } from '../../src/research/service/research-frames.js';
import { renderMetrics } from '../../src/telemetry/metric-registry.js';
import { createTelemetry, openTelemetry, type Telemetry } from '../../src/telemetry/telemetry.js';
import { setEnvironment, startCollector } from './support/collector.js';

const PLAN = { nodes: [], byId: new Map(), byCanonicalId: new Map() } as unknown as Plan;
const HEADER = { run: 'r', seq: 1, at: 1, node: 'research_0', token: 1 };
const FINDING = { supported_by: ['e1'], confidence: 1, text: '', answer: 'Oslo' };

/** One research of which every event is told by hand. */
function watchResearch(telemetry: Telemetry) {
  const watch = telemetry.watch({ id: 'r', plan: PLAN });
  const event = (one: object): void => watch.event({ ...HEADER, ...one } as unknown as RunEvent);
  const tell = (...all: JsonObject[]): void => {
    for (const data of all) event({ type: 'node-notice', name: RESEARCH_NOTICE, data });
  };
  const start = (): void => event({ type: 'node-started', inputs: {}, attempt: 1 });
  const settle = (outcome: string): void => {
    const budget = { tokens: 50, calls: 2, money: 'unknown', of: { tokens: 100, calls: 0, money: 1, ms: 10 } };
    event({
      type: 'node-settled',
      elapsedMs: 1,
      outputs: { research: { type: 'final', outcome, sources: [], budget } },
    });
  };
  return { event, tell, start, settle, close: () => watch.close() };
}

async function startTracing() {
  const collector = await startCollector();
  const env = setEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const telemetry = await openTelemetry(env, { version: '1.2.3', log: { warn: () => {} } });
  return { collector, telemetry };
}

const question = (id: string, round = 1): JsonObject => ({
  type: 'question',
  id,
  text: 'Where?',
  depends_on: [],
  round,
});
const finding = (id: string, verdict: string): JsonObject => ({ type: 'finding', question: id, ...FINDING, verdict });

const ERROR = { code: 'INTERNAL', message: '' };
const failedNode = (to: string): JsonObject => {
  // biome-ignore lint/suspicious/noThenProperty: the events of nodes have it
  return { type: 'node-failed', elapsedMs: 1, error: ERROR, then: to };
};

/** Values of the metrics of researches by their names. */
async function counted({ registry }: Telemetry): Promise<ReadonlyMap<string, number>> {
  const lines = (await renderMetrics(registry)).split('\n').filter((line) => line.startsWith('runnel_research_'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

it('a research whose process stops ends all its spans, and is counted by the process that goes on with it', async () => {
  const { collector, telemetry } = await startTracing();
  const { start, tell, event, close } = watchResearch(telemetry);
  start();
  tell({ type: 'task_started', task_id: 'task_001', tool: 'kb_search', status: 'running' }, question('task_001/q1'));
  tell({ type: 'evidence', question: 'task_001/q1', items: [{}, {}] });
  const attributes = { 'runnel.research.call': 'research_verify', 'runnel.research.about': 'task_001/q1' };
  event({ type: 'node-call', call: callStarted({ id: 'm', kind: 'model', name: 'm', attributes }).call });
  close();
  await telemetry.close();
  const { span } = collector;
  const order = ['chat m', 'research check', 'research question', 'research task', 'research_0'];
  for (const [at, name] of order.slice(0, -1).entries()) {
    expect(span(name).attributes['runnel.stopped']).toBe(true);
    expect(span(name).parentId).toBe(span(order[at + 1] ?? '').spanId);
  }
  expect(span('research read').attributes['runnel.research.texts']).toBe(2);
  expect([...(await counted(telemetry)).values()]).toEqual([]);
});

it('each look at evidence is a read, each verification a check, and calls count where they belong', async () => {
  const { collector, telemetry } = await startTracing();
  const { start, tell, event, settle, close } = watchResearch(telemetry);
  const call = (id: string, name: string, tokens: number): void => {
    const attributes = { 'runnel.research.call': name, 'runnel.research.about': 'q1' };
    event({ type: 'node-call', call: callStarted({ id, kind: 'model', name: 'm', attributes }).call });
    const usage = { promptTokens: tokens, completionTokens: 1, totalTokens: tokens + 1 };
    event({ type: 'node-call', call: callFinished({ id, usage, attributes: { 'runnel.research.money': 0.5 } }).call });
  };
  start();
  tell(question('q1'), { type: 'evidence', question: 'q1', items: [{}] });
  call('a', 'research_read', 10);
  call('b', 'research_verify', 20);
  tell({ type: 'evidence', question: 'q1', items: [{}, {}] });
  call('c', 'research_read', 30);
  call('d', 'research_read', 40);
  call('e', 'research_verify', 50);
  tell(
    { type: 'searched', question: 'question', where: 'web', found: 3, ms: 5, unread: [{}] },
    finding('q1', 'refuted'),
  );
  settle('unanswerable');
  close();
  await telemetry.close();
  const looks = collector.spans.filter(({ name }) => name === 'research read' || name === 'research check');
  expect(looks.map(({ name, attributes }) => [name, attributes['runnel.research.tokens']])).toEqual([
    ['research read', 11],
    ['research check', 21],
    ['research read', 72],
    ['research check', 51],
  ]);
  expect(collector.span('research question').attributes).toMatchObject({
    'runnel.research.calls': 5,
    'runnel.research.tokens': 155,
    'runnel.research.money': 2.5,
    'runnel.research.verdict': 'refuted',
  });
  // The question as it is was searched, which is no part of it.
  const search = collector.span('research search');
  expect(search.parentId).toBe(collector.span('research_0').spanId);
  expect(search.attributes).toMatchObject({ 'runnel.research.found': 3, 'runnel.research.unread': 1 });
  expect(search.nanoseconds / 1e6).toBeCloseTo(5, 1);
});

it('questions that are dropped or cut off end, without a verdict', async () => {
  const { collector, telemetry } = await startTracing();
  const { start, tell, settle, close } = watchResearch(telemetry);
  start();
  const searched = { type: 'searched', question: 'question', where: 'kb', found: 1, ms: 0 };
  tell(question('q1'), question('q2'), { type: 'steered', action: 'drop', question: 'q1' }, searched);
  tell({ type: 'gap', missing: ['where'], action: 'answer_with_caveat' }, searched);
  settle('answer_with_caveat');
  close();
  await telemetry.close();
  const questions = collector.spans.filter(({ name }) => name === 'research question');
  // They end then, and not with their node; spans come in the order of their ends.
  expect(collector.spans.slice(0, 4).map(({ name }) => name)).toEqual([
    ...['research question', 'research search', 'research question', 'research search'],
  ]);
  for (const { attributes } of questions) {
    expect(attributes['runnel.stopped']).toBe(true);
    expect(attributes).not.toHaveProperty('runnel.research.verdict');
  }
  const node = collector.span('research_0');
  expect(node.events.map(({ name }) => name)).toEqual(['research_steered', 'research_gap']);
  expect(node.attributes).not.toHaveProperty('runnel.stopped');
});

it('a research of any size holds a bounded number of open spans and counts', async () => {
  const { collector, telemetry } = await startTracing();
  const { start, tell, settle, close } = watchResearch(telemetry);
  start();
  for (let at = 0; at < 3_000; at += 1) tell(question(`q${at}`), finding(`other${at}`, 'supported'));
  settle('answer');
  close();
  await telemetry.close();
  expect(collector.spans.filter(({ name }) => name === 'research question')).toHaveLength(1_000);
  expect((await counted(telemetry)).get('runnel_research_verdicts_total{verdict="supported"}')).toBe(1_000);
});

it('counts a research once, however often its events are told, and its node is tried', async () => {
  const telemetry = createTelemetry();
  const { start, tell, event, settle, close } = watchResearch(telemetry);
  start();
  tell(question('q1'), finding('q1', 'unsupported'));
  event(failedNode('retry'));
  start();
  tell(question('q1'), finding('q1', 'supported'), question('q1'), finding('q1', 'supported'), question('r2_1', 2));
  settle('answer');
  close();
  const numbers = await counted(telemetry);
  expect(Object.fromEntries([...numbers].filter(([name]) => !name.includes('bucket')))).toEqual({
    'runnel_research_ends_total{outcome="answer"}': 1,
    runnel_research_rounds_count: 1,
    runnel_research_rounds_sum: 2,
    'runnel_research_verdicts_total{verdict="supported"}': 1,
    // Not of a limit of nothing, of money that is not known, and of time.
    'runnel_research_budget_share_count{limit="tokens"}': 1,
    'runnel_research_budget_share_sum{limit="tokens"}': 0.5,
  });
});

it.each([
  ['failed', failedNode('run')],
  ['failed', { type: 'run-failed', error: ERROR }],
  ['failed', { type: 'node-settled', elapsedMs: 1, outputs: { content: 'a default value' } }],
  ['cancelled', { type: 'run-cancelled' }],
])('counts one without a report as %s (%o)', async (outcome, end) => {
  const telemetry = createTelemetry();
  const { start, tell, event, close } = watchResearch(telemetry);
  start();
  tell({ type: 'plan' }, { type: 'plan_changed', by: 'planner' }, { type: 'plan_changed', by: 'user' });
  event(end);
  close();
  const numbers = await counted(telemetry);
  expect(numbers.get(`runnel_research_ends_total{outcome="${outcome}"}`)).toBe(1);
  expect(numbers.get('runnel_research_rounds_sum')).toBe(2);
});
