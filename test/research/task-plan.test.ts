import { describe, expect, it } from 'vitest';
import { orderOfTasks } from '../../src/research/plan/execute-plan.js';
import { mendPlan, readPlan, reviewPlan, type Task, type TaskPlan } from '../../src/research/plan/task-plan.js';
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
      const mended = mendPlan(plan(...tasks));
      const order = orderOfTasks(mended);
      expect(order, `SEED=${SEED}`).toHaveLength(count);
      for (const { task_id, depends_on } of mended.tasks) {
        for (const id of depends_on) expect(order.indexOf(id)).toBeLessThan(order.indexOf(task_id));
      }
    }
  });

  it('orders by dependencies, then priority, then place', () => {
    const given = plan(task('a', { priority: 2 }), task('b'), task('c', { depends_on: ['a'], priority: 0 }), task('d'));
    expect(orderOfTasks(given)).toEqual(['b', 'd', 'a', 'c']);
  });
});
