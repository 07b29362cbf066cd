import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import { executePlan, type TaskResult, type TaskTool } from '../../src/research/plan/execute-plan.js';
import type { Task, TaskPlan } from '../../src/research/plan/task-plan.js';
import { marbles } from '../support/scheduler.js';

const task = (task_id: string, more: Partial<Task> = {}): Task => ({
  task_id,
  description: `Find the ${task_id} stone`,
  tool: 'find',
  args: {},
  priority: 1,
  depends_on: [],
  expects: '',
  ...more,
});

const planOf = (tasks: readonly Task[]): TaskPlan => ({
  plan_id: 'p',
  question: 'Which stones?',
  question_type: 'factual',
  status: 'ready',
  clarifications: [],
  issues: [],
  tasks: [...tasks],
});

const RESULT: TaskResult = { text: 'found', evidence: [], confidence: 1 };

/** Tools: `find` takes 10 ms, `fail` fails after 10, `other` takes 5. */
function timeline(
  { cold, flush }: RunHelpers,
  now: () => number,
  tasks: readonly Task[],
  concurrency?: number,
): string[] {
  const failed = new EngineError('TOOL_FAILED', 'broken');
  const tools = new Map<string, TaskTool>([
    ['find', (_, { gaps }) => cold('----------(r|)', { r: { ...RESULT, text: [...gaps.keys()].join() || 'found' } })],
    ['fail', () => cold<TaskResult>('----------#', undefined, failed)],
    ['other', () => cold('-----(r|)', { r: RESULT })],
  ]);
  const lines: string[] = [];
  const othersOf = (tool: string) => (tool === 'fail' && tasks.some(({ args }) => args.other) ? ['other'] : []);
  executePlan(planOf(tasks), { tools, othersOf, now, ...(concurrency !== undefined && { concurrency }) }).subscribe({
    next: (event) =>
      lines.push(
        `${now()} ${event.task_id}${event.type === 'task_started' ? '>' : ` ${event.status}${event.result ? ` ${event.result.text}` : ''}`}`,
      ),
    error: (error: EngineError) => lines.push(`${now()} ${error.code}`),
    complete: () => lines.push(`${now()} |`),
  });
  flush();
  return lines;
}

describe('executePlan', () => {
  it('begins what waits for nothing together, and the rest behind what it waits for', () =>
    marbles((helpers, now) => {
      const tasks = [task('red'), task('blue', { depends_on: ['red'] }), task('green')];
      expect(timeline(helpers, now, tasks)).toEqual([
        '0 red>',
        '0 green>',
        '10 red done found',
        '10 blue>',
        '10 green done found',
        '20 blue done found',
        '20 |',
      ]);
    }));

  it('begins the most urgent first where there are fewer places', () =>
    marbles((helpers, now) => {
      const tasks = [task('red', { priority: 3 }), task('blue', { priority: 1 }), task('green', { priority: 2 })];
      const begun = timeline(helpers, now, tasks, 1).filter((line) => line.endsWith('>'));
      expect(begun).toEqual(['0 blue>', '10 green>', '20 red>']);
    }));

  it('tries again, then with another tool', () =>
    marbles((helpers, now) => {
      expect(timeline(helpers, now, [task('red', { tool: 'fail', args: { other: true } })])).toEqual([
        '0 red>',
        '25 red done found',
        '25 |',
      ]);
    }));

  it('names the gap to what goes on without it, and skips what needs it', () =>
    marbles((helpers, now) => {
      const tasks = [
        task('red', { tool: 'fail' }),
        task('blue', { depends_on: ['red'] }),
        task('green', { depends_on: ['red'], expects: 'required: the red stone' }),
      ];
      expect(timeline(helpers, now, tasks)).toEqual([
        '0 red>',
        '20 red failed',
        '20 blue>',
        '20 green>',
        '20 green skipped',
        '30 blue done red',
        '30 |',
      ]);
    }));

  it('refuses a plan with a cycle before anything begins', () =>
    marbles((helpers, now) => {
      const tasks = [task('red', { depends_on: ['blue'] }), task('blue', { depends_on: ['red'] })];
      expect(timeline(helpers, now, tasks)).toEqual(['0 PLAN_REJECTED']);
    }));

  it('ends tasks at work when it is unsubscribed', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }, now) => {
      const work$ = cold<TaskResult>('-');
      const tools = new Map<string, TaskTool>([['find', () => work$]]);
      expectObservable(executePlan(planOf([task('red')]), { tools, now }), '^---!').toBe('s---', {
        s: { type: 'task_started', task_id: 'red', tool: 'find', status: 'running' },
      });
      expectSubscriptions(work$.subscriptions).toBe('^---!');
    }));
});
