/** Tools of tasks beside the searches: of the package, of MCP servers over real sockets, and published canvases. */
import { concat, defer, finalize, lastValueFrom, NEVER, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createEgressClient } from '../../src/adapters/egress/egress-client.js';
import type { CanvasTools, Services } from '../../src/agents/call-context.js';
import { loadCanvas } from '../../src/canvas/load-canvas.js';
import { runTurn } from '../../src/canvas/turn.js';
import type { RunEvent } from '../../src/graph/events.js';
import { canvasToolsOf } from '../../src/hosting/canvas-tools.js';
import { createCanvasOpener } from '../../src/hosting/canvases.js';
import type { JsonObject } from '../../src/json.js';
import type { AgentRecord } from '../../src/records/agents.js';
import type { Task } from '../../src/research/plan/task-plan.js';
import type { ResearchEvent, ResearchFinal } from '../../src/research/research-events.js';
import { RESEARCH_VARIABLE } from '../../src/research/service/research-settings.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';
import { said, startMcpServer } from '../adapters/mcp/support/mcp-server.js';
import { over } from '../adapters/mcp/support/using.js';
import { startUpstream } from '../tools/support/upstream.js';

const task = (task_id: string, tool: string, more: Partial<Task> = {}): Task => ({
  task_id,
  description: `What is known of ${task_id}?`,
  tool,
  args: {},
  priority: 1,
  depends_on: [],
  expects: '',
  ...more,
});

const document = (component: JsonObject, begin: JsonObject = {}): JsonObject => ({
  components: {
    begin: { obj: { component_name: 'Begin', params: begin }, downstream: ['node'], upstream: [] },
    node: { obj: component, downstream: [], upstream: ['begin'] },
  },
});

const CANVAS = loadCanvas(document({ component_name: 'PlanExecuteReport', params: {} }));

/** A research of these tasks without a model. */
function research(tasks: readonly Task[], services: Partial<Services>, more: JsonObject = {}) {
  const plan = { tasks } as unknown as JsonObject;
  const variables = { [RESEARCH_VARIABLE]: { plan, ...more } };
  return runTurn(CANVAS, { query: 'How old is the lamp of Velmar?', variables }, { services, run: 'run' });
}

async function toldOf(...given: Parameters<typeof research>) {
  const events = await lastValueFrom(research(...given).pipe(toArray()));
  const told = events.flatMap((event): ResearchEvent[] =>
    event.type === 'node-notice' && event.name === 'research' ? [event.data as unknown as ResearchEvent] : [],
  );
  const last = events.at(-1) as RunEvent;
  const final = last.type === 'run-settled' ? (last.outputs?.research as unknown as ResearchFinal) : undefined;
  const of = <T extends ResearchEvent['type']>(type: T) =>
    told.filter((event): event is Extract<ResearchEvent, { type: T }> => event.type === type);
  return { events, of, last, final };
}

/** The published canvases of a tenant. */
async function canvases(all: Readonly<Record<string, JsonObject>>) {
  const { agents } = createMemoryStores();
  for (const [title, dsl] of Object.entries(all)) {
    await agents.insert('t', {
      ...{ id: title, title, description: `The canvas ${title}.`, avatar: null, permission: 'me', canvasType: null },
      ...{ canvasCategory: 'agent_canvas', tags: '', dsl, createdAt: 1, updatedAt: 1 },
      published: { at: 1, version: title, dsl },
    } as unknown as AgentRecord);
  }
  return canvasToolsOf({ agents, openCanvas: createCanvasOpener({}) }, 't');
}

const message = (text: string): JsonObject => document({ component_name: 'Message', params: { content: [text] } });

describe('tools of tasks', () => {
  it('of servers, canvases and the package give results that others calculate with, and evidence that is cited', async () => {
    const server = await startMcpServer({
      year_of: { run: ({ name }) => said(`The lamp of ${name} was lit in 1911.`) },
    });
    const services = {
      mcp: over(server.url),
      canvases: await canvases({ keeper: message('Its keeper is Corwin Hale, whose lamp has 9 panes.') }),
    };
    const { of, final } = await toldOf(
      [
        task('a', 'year_of', { args: { name: 'Velmar' } }),
        task('b', 'keeper'),
        task('c', 'calculator', { args: { expression: '2026 - {a}' }, depends_on: ['a'] }),
      ],
      services,
    );
    expect(of('plan')[0]?.tools).toEqual(expect.arrayContaining(['deep_search', 'calculator', 'keeper', 'year_of']));
    expect(of('task_finished').map(({ task_id, status }) => [task_id, status])).toEqual(
      expect.arrayContaining([
        ['a', 'done'],
        ['b', 'done'],
        ['c', 'done'],
      ]),
    );
    const findings = new Map(of('finding').map((one) => [one.question.split('/')[0], one]));
    expect(findings.get('c')).toMatchObject({ answer: '115', supported_by: [], verdict: 'calculated' });
    expect(findings.get('b')).toMatchObject({ answer: expect.stringContaining('Corwin Hale'), verdict: 'quoted' });
    expect(final?.sources.map(({ where, source }) => [where, source])).toEqual(
      expect.arrayContaining([
        ['tool', 'year_of (name: Velmar)'],
        ['tool', expect.stringContaining('keeper (query: What is known of b?)')],
      ]),
    );
    const read = new Set(of('evidence').flatMap(({ items }) => items.map(({ id }) => id)));
    for (const { id, n } of final?.sources ?? []) {
      expect(read.has(id)).toBe(true);
      expect(final?.report).toContain(`[${n}]`);
    }
    expect(final?.report).toContain('115');
    await server.quiet();
  });

  it('that search cite what they found by its address, within the budget for the web', async () => {
    const found = [
      {
        title: 'Velmar',
        url: 'https://a.example/velmar',
        content: 'The lamp of Velmar is known to turn once an hour.',
      },
    ];
    const { origin, asked } = await startUpstream({
      'GET /search': { json: { query: 'q', results: found.map((one) => ({ ...one, score: 1 })), suggestions: [] } },
    });
    const services = {
      http: createEgressClient({ allowPrivateNetwork: true }),
      tools: { baseUrls: { SearXNG: `${origin}/` } },
    };
    const tasks = [task('Velmar', 'searxng_search')];
    const { final } = await toldOf(tasks, services);
    expect(final?.sources).toMatchObject([{ where: 'web', url: 'https://a.example/velmar' }]);
    expect(final?.budget.webRequests).toBe(asked.length);
    const refused = await toldOf(tasks, services, { budget: { web_requests: 0 } });
    expect(refused.of('task_finished')).toMatchObject([
      { status: 'failed', problem: expect.stringContaining('budget') },
    ]);
  });

  it('that fail are tried again where that does nothing twice, then another tool is, and the failure of the first is told', async () => {
    let calls = 0;
    const server = await startMcpServer({
      flaky: {
        annotations: { readOnlyHint: true },
        run: () => {
          calls += 1;
          return calls === 1 ? { ...said('not now'), isError: true } : said('It is 12 feet tall.');
        },
      },
      broken: { run: () => ({ ...said('out of oil'), isError: true }) },
    });
    const { of, events, final } = await toldOf([task('a', 'flaky'), task('b', 'broken')], { mcp: over(server.url) });
    expect(of('task_finished').find(({ task_id }) => task_id === 'a')).toMatchObject({ status: 'done' });
    expect(of('task_finished').find(({ task_id }) => task_id === 'b')).toMatchObject({
      status: 'failed',
      problem: expect.stringContaining('out of oil'),
    });
    const begun = events.flatMap((event) =>
      event.type === 'node-call' && event.call.type === 'started' ? [event.call.name] : [],
    );
    expect(begun.sort()).toEqual(['broken', 'flaky', 'flaky']);
    expect(final?.report).toContain('12 feet');
    await server.quiet();
  });

  it('are stopped with the research: the socket of a call at work is closed', async () => {
    let isCalled = (): void => {};
    const called = new Promise<void>((resolve) => {
      isCalled = resolve;
    });
    const server = await startMcpServer({
      endless: {
        run: () => {
          isCalled();
          return new Promise(() => {});
        },
      },
    });
    const life = research([task('a', 'endless')], { mcp: over(server.url) }).subscribe();
    await called;
    life.unsubscribe();
    await server.quiet();
    expect(life.closed).toBe(true);
  });

  it('of canvases that ask or fail give the reason, and canvases call no canvases', async () => {
    const asking = document({
      component_name: 'UserFillUp',
      params: { enable_tips: true, tips: 'Who?', inputs: { who: { type: 'line', name: 'Who' } } },
    });
    const nested = document({ component_name: 'PlanExecuteReport', params: { tools: ['nested'] } });
    const services = { canvases: await canvases({ asking, nested }) };
    const { of } = await toldOf([task('a', 'asking'), task('b', 'nested')], services);
    const problems = new Map(of('task_finished').map(({ task_id, problem }) => [task_id, problem]));
    expect(problems.get('a')).toContain('asks its user');
    expect(
      of('task_finished')
        .map(({ task_id }) => task_id)
        .sort(),
    ).toEqual(['a', 'b']);
  });

  it('of canvases are not begun where no call of a model is left, and calculations are', async () => {
    const services = { canvases: await canvases({ keeper: message('Its keeper is Corwin Hale.') }) };
    const tasks = [task('a', 'keeper'), task('b', 'calculator', { args: { expression: '6*7' } })];
    const { of, events } = await toldOf(tasks, services, { budget: { calls: 0 } });
    const ended = new Map(of('task_finished').map((one) => [one.task_id, one]));
    expect(ended.get('a')).toMatchObject({ status: 'failed', problem: expect.stringContaining('budget') });
    expect(ended.get('b')).toMatchObject({ status: 'done' });
    expect(JSON.stringify(events)).not.toContain('Corwin Hale');
  });

  it('of a canvas that takes more than is left stop it midway, once, and the research ends with its report', async () => {
    const calls: string[] = [];
    const usage = { type: 'usage', promptTokens: 300, completionTokens: 100, totalTokens: 400 } as const;
    const greedy: CanvasTools = {
      list: async () => [{ name: 'greedy', title: 'greedy', description: 'Asks and asks.', inputSchema: {} }],
      // It would go on for ever.
      call: () =>
        defer(() => {
          calls.push('begun');
          return concat(of(usage, usage, usage), NEVER).pipe(finalize(() => calls.push('stopped')));
        }),
    };
    const tasks = [task('a', 'greedy'), task('b', 'calculator', { args: { expression: '6*7' } })];
    const told = await toldOf(tasks, { canvases: greedy }, { budget: { tokens: 1_000 } });
    const ended = new Map(told.of('task_finished').map((one) => [one.task_id, one]));
    expect(ended.get('a')).toMatchObject({ status: 'failed', problem: expect.stringContaining('budget') });
    expect(ended.get('b')).toMatchObject({ status: 'done' });
    expect(calls).toEqual(['begun', 'stopped']);
    expect(told.final?.budget).toMatchObject({ tokens: 1_200, calls: 3, exhausted: { limit: 'tokens' } });
    expect(told.final?.report).toContain('42');
  });

  it.each<[string, readonly Task[], JsonObject, RegExp]>([
    [
      'names what is not there, with every path',
      [task('a', 'magic', { depends_on: ['z'] }), task('b', 'no_tool')],
      {},
      /tasks\[0\]\.tool.*tasks\[0\]\.depends_on\[0\].*tasks\[1\]\.tool/,
    ],
    ['names a tool that was not chosen', [task('a', 'calculator')], { tools: ['weather'] }, /tasks\[0\]\.tool/],
    ['names one that needs to be set up', [task('a', 'email')], {}, /tasks\[0\]\.tool.*"email"/],
  ])('a plan that %s is refused before anything begins', async (_, tasks, more, problem) => {
    const { last, of } = await toldOf(tasks, {}, more);
    expect(last).toMatchObject({
      type: 'run-failed',
      error: { code: 'PLAN_REJECTED', message: expect.stringMatching(problem) },
    });
    expect(of('plan')).toEqual([]);
  });

  it.each<[string, Partial<Task>, string]>([
    ['from its words', { description: 'What is (3+5)*12?' }, '96'],
    ['with the number of an answer', { args: { expression: '{n} / 2' }, depends_on: ['n'] }, '600'],
  ])('the calculator takes its expression %s', async (_, more, answer) => {
    const server = await startMcpServer({ count: { run: () => said('It has 1,200 steps.') } });
    const tasks = [task('n', 'count'), task('c', 'calculator', more)];
    const { of } = await toldOf(tasks, { mcp: over(server.url) });
    const finding = of('finding').find(({ verdict }) => verdict === 'calculated');
    expect(finding).toMatchObject({ answer });
    await server.quiet();
  });

  it('that calculate and cannot fail with the reason, and nothing is searched in their place', async () => {
    const { of } = await toldOf([task('c', 'calculator', { args: { expression: 'the lamp' } })], {});
    expect(of('task_finished')).toMatchObject([{ status: 'failed', problem: expect.stringContaining('Calculator') }]);
    expect(of('searched')).toEqual([]);
  });
});
