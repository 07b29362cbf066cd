import { describe, expect, it } from 'vitest';
import { changePlan, readChangedPlan } from '../../src/research/plan/change-plan.js';
import { mendPlan, orderOfTasks, reviewPlan } from '../../src/research/plan/review-plan.js';
import { readPlan, type Task, type TaskPlan } from '../../src/research/plan/task-plan.js';
import type { Steer } from '../../src/research/steer.js';
import { createRandom } from '../support/random.js';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000);

const task = (task_id: string, more: Partial<Task> = {}): Task => ({
  task_id,
  description: `Look for ${task_id} of the salt trade`,
  tool: 'kb_search',
  args: {},
  priority: 1,
  depends_on: [],
  expects: '',
  ...more,
});

const plan = (...tasks: Task[]): TaskPlan => ({
  plan_id: 'p',
  question: 'How did the salt trade begin?',
  question_type: 'analytical',
  status: 'ready',
  clarifications: [],
  issues: [],
  tasks,
});

const OPTIONS = { tools: ['kb_search', 'calculator'], costOf: () => 100, tokens: 250 };

describe('the review of a plan', () => {
  it.each<[string, TaskPlan, readonly string[]]>([
    ['that is fine', plan(task('alpha'), task('beta', { depends_on: ['alpha'] })), []],
    ['with an unknown tool', plan(task('alpha', { tool: 'magic' })), ['tasks[0].tool']],
    ['with an id twice', plan(task('alpha'), task('alpha', { description: 'Salt roads' })), ['tasks[1].task_id']],
    ['with a dependency that is not there', plan(task('alpha', { depends_on: ['z'] })), ['tasks[0].depends_on[0]']],
    [
      'with a cycle',
      plan(task('alpha', { depends_on: ['beta'] }), task('beta', { depends_on: ['alpha'] })),
      ['tasks[0].depends_on', 'tasks[1].depends_on'],
    ],
    ['with a task that waits for itself', plan(task('alpha', { depends_on: ['alpha'] })), ['tasks[0].depends_on']],
    [
      'with tasks alike',
      plan(task('alpha'), task('beta', { description: 'Look for alpha of the salt trade' })),
      ['tasks[1].description'],
    ],
    [
      'with a part that no task covers',
      { ...plan(task('alpha')), question: 'How did the salt trade begin? Which glass furnaces burnt in Velmar?' },
      ['question'],
    ],
    ['that costs too much', plan(task('alpha'), task('beta'), task('gamma')), ['tasks']],
  ])('%s names its problems with their paths', (_, given, paths) => {
    expect(reviewPlan(given, OPTIONS).map(({ path }) => path)).toEqual(paths);
  });

  it('refuses what is no plan with every mismatch', () => {
    const given = { ...plan(task('alpha')), question_type: 'odd', tasks: [{ ...task('a'), priority: 'high' }] };
    expect(() => readPlan(given)).toThrow(
      expect.objectContaining({
        code: 'PLAN_REJECTED',
        message: expect.stringMatching(/question_type.*tasks\[0\]\.priority/s),
      }),
    );
  });

  it(`mends what rules can mend: no cycle is left (SEED=${SEED})`, () => {
    const random = createRandom(SEED);
    const names = ['amber', 'barley', 'coal', 'honey', 'paper', 'rope', 'tin', 'wool'];
    for (let round = 0; round < 200; round += 1) {
      const count = 1 + random.int(names.length);
      const tasks = Array.from({ length: count }, (_, at) =>
        task(names[at] as string, {
          priority: random.int(4),
          depends_on: Array.from({ length: random.int(4) }, () => names[random.int(count)] as string),
        }),
      );
      const mended = mendPlan(plan(...tasks), OPTIONS);
      const order = orderOfTasks(mended.tasks);
      expect(order, `SEED=${SEED}`).toHaveLength(count);
      for (const { task_id, depends_on } of mended.tasks) {
        for (const id of depends_on) expect(order.indexOf(id)).toBeLessThan(order.indexOf(task_id));
      }
    }
  });

  it('gives a task to what none covers, and a tool that is there to what names another one', () => {
    const question = 'How did the salt trade begin? Which glass furnaces burnt in Velmar?';
    const mended = mendPlan({ ...plan(task('alpha', { tool: 'magic' })), question }, OPTIONS);
    expect(mended.tasks.map(({ description, tool }) => [description, tool])).toEqual([
      ['Look for alpha of the salt trade', 'kb_search'],
      ['Which glass furnaces burnt in Velmar?', 'kb_search'],
    ]);
  });

  it('orders by dependencies, then priority, then place', () => {
    const given = plan(task('a', { priority: 2 }), task('b'), task('c', { depends_on: ['a'], priority: 0 }), task('d'));
    expect(orderOfTasks(given.tasks)).toEqual(['b', 'd', 'a', 'c']);
  });
});

describe('a change of a plan', () => {
  const given = plan(task('alpha'), task('beta', { depends_on: ['alpha'] }), task('gamma', { depends_on: ['beta'] }));
  const bounds = { begun: new Set(['alpha']), tools: ['kb_search'] };
  const changed = (steer: Steer) => changePlan(given, steer, bounds)?.tasks;

  it.each<[string, Steer, readonly string[] | undefined]>([
    ['adds', { action: 'add', question: 'Salt roads' }, ['alpha', 'beta', 'gamma', 'task_004']],
    ['drops', { action: 'drop', question: 'beta' }, ['alpha', 'gamma']],
    ['drops nothing that has begun', { action: 'drop', question: 'alpha' }, undefined],
    ['drops nothing that is not there', { action: 'drop', question: 'delta' }, undefined],
    ['orders nothing that has begun', { action: 'order', questions: ['alpha'] }, undefined],
    [
      'replaces what has not begun',
      { action: 'plan', plan: plan(task('alpha', { description: 'another' }), task('delta')) },
      ['alpha', 'delta'],
    ],
  ])('%s', (_, steer, ids) => {
    expect(changed(steer)?.map(({ task_id }) => task_id)).toEqual(ids);
  });

  it('lets nothing wait for what was dropped, and keeps what has begun', () => {
    expect(changed({ action: 'drop', question: 'beta' })?.at(-1)?.depends_on).toEqual([]);
    const replaced = changed({ action: 'plan', plan: plan(task('alpha', { description: 'another' })) });
    expect(replaced).toEqual([given.tasks[0]]);
  });

  it('puts what is named in front', () => {
    const ordered = changed({ action: 'order', questions: ['gamma', 'beta'] }) ?? [];
    expect(ordered.map(({ priority }) => priority)).toEqual([3, 1, 0]);
  });

  it.each<[string, unknown, RegExp]>([
    ['that is none', 'salt', /./],
    ['with a cycle', { tasks: [given.tasks[0], task('beta', { depends_on: ['beta'] })] }, /tasks\[1\]\.depends_on/],
    ['with another form', { tasks: [{ task_id: 'x' }] }, /tasks\[0\]\.description.*tasks\[0\]\.tool/],
    ['without what has begun', { tasks: [task('beta')] }, /"alpha" has begun/],
    ['with what has begun changed', { tasks: [task('alpha', { description: 'another' })] }, /tasks\[0\].*has begun/],
  ])('to a plan %s is refused with every problem', (_, wanted, message) => {
    expect(() => readChangedPlan(wanted, given, bounds)).toThrow(
      expect.objectContaining({ code: 'PLAN_REJECTED', message: expect.stringMatching(message) }),
    );
  });

  it('keeps the question and the id', () => {
    const read = readChangedPlan({ question: 'Another?', plan_id: 'x', tasks: given.tasks }, given, bounds);
    expect([read.question, read.plan_id]).toEqual([given.question, given.plan_id]);
  });
});
