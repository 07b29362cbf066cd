/** What agents keep over turns: plans of work, and memories. */
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { agent } from '../../../src/agents/loop/agent.js';
import { approve } from '../../../src/agents/middleware/approve.js';
import { type AgentMemory, memory } from '../../../src/agents/middleware/memory.js';
import { createItems, EMPTY_PLAN, updateItem, type WorkPlan } from '../../../src/agents/middleware/work-items.js';
import { workPlan } from '../../../src/agents/middleware/work-plan.js';
import { WORK_TEXTS } from '../../../src/agents/middleware/work-texts.js';
import { createRunner } from '../../../src/agents/runner/runner.js';
import { defineTool, invoke, run } from '../../../src/index.js';
import { attempt, goOn, type RecordingModel, type Reply, recordingModel, told } from './support.js';

const texts = WORK_TEXTS.en;
const system = (model: RecordingModel, round: number) => told(model.requests[round] as never)[0] ?? '';
const results = (model: RecordingModel, round: number) =>
  told(model.requests[round] as never).filter((line) => line.startsWith('tool: '));
const create = (...items: object[]) => ({ tool: 'create_work', args: { items }, id: 'new' });
const update = (id: string, change: object, call = `u${id}`) => ({
  tool: 'update_work',
  args: { id, ...change },
  id: call,
});
const clerk = (model: RecordingModel, options = {}) => agent({ name: 'clerk', model, use: [workPlan(options)] });
const made = (...items: { subject: string; blockedBy?: string[] }[]): WorkPlan =>
  createItems(EMPTY_PLAN, { items }, { maxItems: 10, key: 'k', texts }).plan as WorkPlan;

describe('workPlan', () => {
  it('makes items that wait for each other, and shows the open ones, those that can begin first', async () => {
    const model = recordingModel(
      [create({ subject: 'paint\nit', blockedBy: ['#2'] }, { subject: 'buy', owner: 'Ada', details: 'Red.' })],
      [{ tool: 'get_work', args: { id: '2' } }],
      [update('1', { status: 'in_progress' })],
      [update('2', { status: 'completed' })],
      [{ tool: 'list_work' }, { tool: 'list_work', args: { all: true } }],
      'ok',
    );
    await invoke(clerk(model), 'go');
    expect(system(model, 0)).not.toContain('Open items');
    expect(results(model, 1)).toEqual(['tool: 1. [pending] paint it (waits for 2)\n2. [pending] buy (owner: Ada)']);
    expect(system(model, 1)).toMatch(/Open items of your plan:\n2\. .*\n1\. .*$/);
    expect(results(model, 2).at(-1)).toBe('tool: 2. [pending] buy (owner: Ada)\nRed.');
    expect(results(model, 3).at(-1)).toBe('tool: Nothing was changed: item 1 waits for 2.');
    expect(results(model, 4).at(-1)).toBe('tool: 2. [completed] buy (owner: Ada)\nItems that can begin now: 1.');
    expect(results(model, 5).slice(-2)).toEqual([
      'tool: 1. [pending] paint it',
      'tool: 1. [pending] paint it\n2. [completed] buy (owner: Ada)',
    ]);
  });

  it('does the calls of one answer one after the other, and tells of each change', async () => {
    const model = recordingModel([create({ subject: 'a' }), update('1', { owner: 'Bo' }), update('9', {}, 'x')], 'ok');
    const events = await lastValueFrom(run(clerk(model), { input: 'go' }).pipe(toArray()));
    expect(results(model, 1)).toEqual([
      'tool: 1. [pending] a',
      'tool: 1. [pending] a (owner: Bo)',
      expect.stringContaining('There is no item "9"'),
    ]);
    const plans = events.filter((event) => event.type === 'node-notice' && event.name === 'work-plan');
    expect(plans).toHaveLength(2);
  });

  it('stays in the session over turns and restarts', async () => {
    const model = recordingModel([create({ subject: 'a' })], 'later', [update('1', { status: 'completed' })], 'ok');
    const runner = createRunner({ agent: clerk(model) });
    await lastValueFrom(runner.run('go', { session: 's' }));
    expect(await runner.session('s')).toMatchObject({ values: { workPlan: { made: 1, items: [{ subject: 'a' }] } } });
    await lastValueFrom(runner.run('on', { session: 's' }));
    expect(system(model, 2)).toMatch(/1\. \[pending\] a$/);
    expect(system(model, 3)).not.toContain('Open items');
  });

  it('survives a question outside of a runner', async () => {
    const look = defineTool({ name: 'look', description: 'Looks.', run: () => 'seen' });
    const model = recordingModel([create({ subject: 'a' })], [{ tool: 'look', id: 'l' }], 'ok');
    const fresh = () =>
      agent({ name: 'clerk', model, tools: [look], use: [workPlan({ language: 'zh' }), approve(['look'])] });
    const waits = await attempt(fresh(), 'go');
    await goOn(fresh(), waits, { 'review#approve/l': { approved: true } });
    expect(system(model, 2)).toMatch(/计划中未结束的条目：\n1\. \[pending\] a$/);
  });

  it.each<[string, (plan: WorkPlan) => { text: string }, string]>([
    [
      'an item that waits for itself',
      (plan) => updateItem(plan, { id: '1', blockedBy: ['1'] }, texts),
      'would wait for itself',
    ],
    ['a circle', (plan) => updateItem(plan, { id: '1', blockedBy: ['2'] }, texts), 'would wait for itself'],
    [
      'what is not in the plan',
      (plan) => updateItem(plan, { id: '1', blockedBy: ['7'] }, texts),
      '"7", which is not in the plan',
    ],
    [
      'a new item that waits for nothing there is',
      (plan) => createItems(plan, { items: [{ subject: 'c', blockedBy: ['#2'] }] }, { maxItems: 10, key: 'l', texts }),
      '"4", which',
    ],
    [
      'more than the plan holds',
      (plan) => createItems(plan, { items: [{ subject: 'c' }] }, { maxItems: 2, key: 'l', texts }),
      'more than 2 items',
    ],
  ])('refuses %s', (_, change, problem) => {
    const result = change(made({ subject: 'a' }, { subject: 'b', blockedBy: ['1'] }));
    expect(result).toMatchObject({ isError: true, text: expect.stringContaining(problem) });
    expect(result).not.toHaveProperty('plan');
  });

  it('forgets finished items when it is full, but never gives their numbers again', () => {
    const done = updateItem(made({ subject: 'a' }, { subject: 'b' }), { id: '1', status: 'dropped' }, texts)
      .plan as WorkPlan;
    const { plan } = createItems(done, { items: [{ subject: 'c' }] }, { maxItems: 2, key: 'l', texts });
    expect(plan?.items.map(({ id }) => id)).toEqual(['2', '3']);
  });

  it('makes nothing twice for a call that is repeated after a crash', () => {
    const plan = made({ subject: 'a' });
    const again = createItems(plan, { items: [{ subject: 'a' }] }, { maxItems: 10, key: 'k', texts });
    expect(again).toEqual({ text: '1. [pending] a' });
  });

  it('answers in the language that it is told', () => {
    const plan = createItems(
      EMPTY_PLAN,
      { items: [{ subject: '甲' }] },
      { maxItems: 1, key: 'k', texts: WORK_TEXTS.zh },
    );
    expect(plan.text).toBe('1. [pending] 甲');
    const refused = [
      createItems(
        plan.plan as WorkPlan,
        { items: [{ subject: '乙' }] },
        { maxItems: 1, key: 'l', texts: WORK_TEXTS.zh },
      ),
      updateItem(plan.plan as WorkPlan, { id: '1', blockedBy: ['1'] }, WORK_TEXTS.zh),
      updateItem(plan.plan as WorkPlan, { id: '7' }, WORK_TEXTS.zh),
    ];
    for (const { text, isError } of refused)
      expect([isError, text]).toEqual([true, expect.stringMatching(/^[^a-zA-Z]+(list_work[^a-zA-Z]+)?$/)]);
  });

  it('tells the model of arguments that do not fit', async () => {
    const model = recordingModel([create(), { tool: 'update_work', args: { id: '1', status: 'done' } }], 'ok');
    await invoke(clerk(model), 'go');
    expect(results(model, 1).every((line) => line.includes('do not fit'))).toBe(true);
  });
});

describe('memory', () => {
  const remembering = (replies: Reply[], store: AgentMemory, options = {}) => {
    const model = recordingModel(...replies);
    return {
      model,
      made: agent({ name: 'clerk', model, instructions: 'Work.', use: [memory({ store, ...options })] }),
    };
  };
  const notices = async (step: ReturnType<typeof agent>) => {
    const events = await lastValueFrom(run(step, { input: 'Who am I?' }).pipe(toArray()));
    return events.flatMap((event) =>
      event.type === 'node-notice' && event.name.startsWith('memory-') ? [[event.name, event.data]] : [],
    );
  };

  it('recalls once for the question, tells the model in every round, and remembers the answer', async () => {
    const asked: string[] = [];
    const kept: unknown[] = [];
    const store: AgentMemory = {
      recall: async (question, { agent: name }) => {
        asked.push(`${name}: ${question}`);
        return ['She is Ada.\nA poet.', ' ', 'Likes tea.'];
      },
      remember: async ({ question, answer, messages }) => void kept.push([question, answer, messages.length]),
    };
    const { model, made: step } = remembering([[{ tool: 'nope' }], 'Ada.'], store);
    expect(await notices(step)).toEqual([['memory-recalled', { agent: 'clerk', entries: 2 }]]);
    expect(asked).toEqual(['clerk: Who am I?']);
    expect(system(model, 0)).toMatch(
      /^system: Work\.\n\nWhat you remember .*:\n\n- She is Ada\.\n {2}A poet\.\n- Likes tea\.$/,
    );
    expect(system(model, 1)).toBe(system(model, 0));
    expect(kept).toEqual([['Who am I?', 'Ada.', 4]]);
  });

  it.each<[string, AgentMemory, string]>([
    [
      'recalling at once',
      {
        recall: (): string => {
          throw new Error('no disk');
        },
      },
      'recall',
    ],
    ['recalling later', { recall: (): Promise<string> => Promise.reject(new Error('no disk')) }, 'recall'],
    ['remembering', { recall: () => undefined, remember: () => Promise.reject(new Error('no disk')) }, 'remember'],
  ])('answers although %s fails, and says so', async (_, store, operation) => {
    const { made: step, model } = remembering(['ok'], store);
    const failed = (await notices(step)).filter(([name]) => name === 'memory-failed');
    expect(failed).toEqual([
      [
        'memory-failed',
        { agent: 'clerk', operation, code: 'NODE_FAILED', message: expect.stringContaining('no disk') },
      ],
    ]);
    expect(system(model, 0)).toBe('system: Work.');
  });

  it.each<[string, AgentMemory]>([
    ['recall', { recall: () => new Promise<string>(() => {}) }],
    ['remember', { recall: () => undefined, remember: () => new Promise(() => {}) }],
  ])('answers although its store never ends to %s, and says so', async (operation, store) => {
    const { made: step } = remembering(['ok'], store, { timeoutMs: 5 });
    const message = `The store of memories did not ${operation} within 0.005 s; the agent goes on without it.`;
    expect((await notices(step)).filter(([name]) => name === 'memory-failed')).toEqual([
      ['memory-failed', { agent: 'clerk', operation, code: 'NODE_TIMEOUT', message }],
    ]);
  });

  it('tells no more than its bounds allow', async () => {
    const { model, made: step } = remembering(
      ['ok'],
      { recall: () => ['abc', 'def', 'ghi'] },
      { maxEntries: 2, maxCharacters: 8, language: 'zh' },
    );
    await invoke(step, 'go');
    expect(system(model, 0)).toMatch(/：\n\n- abc\n- \n\[其余记忆已省略。\]$/);
  });

  it.each([
    [{}],
    [{ store: {} }],
    [{ store: { recall: (): string => '', remember: 1 } }],
    [{ store: { recall: (): string => '' }, maxEntries: 0 }],
  ])('refuses %j', (options) => {
    expect(() => memory(options as never)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});
