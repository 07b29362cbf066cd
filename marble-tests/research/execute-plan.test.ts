import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import {
  type ChangedTasks,
  executePlan,
  type TaskResult,
  type TaskTool,
} from '../../src/research/plan/execute-plan.js';
import type { Task } from '../../src/research/plan/task-plan.js';
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

const RESULT: TaskResult = { answer: 'found', known: [] };

/** Tools: `find` takes 10 ms, `fail` fails after 10, `other` takes 5. */
function timeline(
  { cold, hot, flush }: RunHelpers,
  now: () => number,
  tasks: readonly Task[],
  {
    concurrency,
    changes,
  }: { readonly concurrency?: number; readonly changes?: [string, Record<string, ChangedTasks>] } = {},
): string[] {
  const failed = new EngineError('TOOL_FAILED', 'broken');
  const tools = new Map<string, TaskTool>([
    ['find', (_, { gaps }) => cold('----------(r|)', { r: { ...RESULT, answer: [...gaps.keys()].join() || 'found' } })],
    ['fail', () => cold<TaskResult>('----------#', undefined, failed)],
    ['other', () => cold('-----(r|)', { r: RESULT })],
  ]);
  const lines: string[] = [];
  const othersOf = (tool: string) => (tool === 'fail' && tasks.some(({ args }) => args.other) ? ['other'] : []);
  const changes$ = changes === undefined ? undefined : hot(...changes);
  executePlan(tasks, { tools, othersOf, now, changes$, ...(concurrency !== undefined && { concurrency }) }).subscribe({
    next: (event) =>
      lines.push(
        `${now()} ${event.task_id}${event.type === 'task_started' ? '>' : ` ${event.status}${event.problem ? ` (${event.problem})` : ''}`}`,
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
        '10 red done',
        '10 blue>',
        '10 green done',
        '20 blue done',
        '20 |',
      ]);
    }));

  it('begins the most urgent first where there are fewer places', () =>
    marbles((helpers, now) => {
      const tasks = [task('red', { priority: 3 }), task('blue', { priority: 1 }), task('green', { priority: 2 })];
      const begun = timeline(helpers, now, tasks, { concurrency: 1 }).filter((line) => line.endsWith('>'));
      expect(begun).toEqual(['0 blue>', '10 green>', '20 red>']);
    }));

  it('tries with another tool', () =>
    marbles((helpers, now) => {
      expect(timeline(helpers, now, [task('red', { tool: 'fail', args: { other: true } })])).toEqual([
        '0 red>',
        '15 red done',
        '15 |',
      ]);
    }));

  it('tries a tool that failed again, then another one, and tells why the first failed', () =>
    marbles(({ cold, flush }, now) => {
      const lines: string[] = [];
      const fails$ = cold<TaskResult>('----------#', undefined, new EngineError('TOOL_FAILED', 'broken'));
      const finds$ = cold<TaskResult>('-----#', undefined, new EngineError('EVIDENCE_MISSING', 'nothing'));
      const refuses$ = cold<TaskResult>('-#', undefined, new EngineError('TOOL_ARGUMENTS', 'no'));
      const tools = new Map<string, TaskTool>([
        ['fail', () => fails$],
        ['find', () => finds$],
        ['refuse', () => refuses$],
      ]);
      const tasks = [task('red', { tool: 'fail' }), task('blue', { tool: 'refuse' })];
      const othersOf = (tool: string) => (tool === 'fail' ? ['find'] : []);
      executePlan(tasks, { tools, othersOf, attemptsOf: () => 2, now }).subscribe((event) => {
        if (event.type === 'task_finished') lines.push(`${now()} ${event.task_id} ${event.problem}`);
      });
      flush();
      // Arguments that do not fit will not fit again.
      expect(lines).toEqual(['1 blue no', '275 red broken']);
      expect(fails$.subscriptions).toMatchObject([
        { subscribedFrame: 0, unsubscribedFrame: 10 },
        { subscribedFrame: 260, unsubscribedFrame: 270 },
      ]);
      expect(finds$.subscriptions).toHaveLength(1);
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
        '10 red failed (broken)',
        '10 blue>',
        '10 green skipped (Task "green" needs what red did not give.)',
        '20 blue done',
        '20 |',
      ]);
    }));

  it('gives results and gaps to what depends on them', () =>
    marbles(({ cold, flush }, now) => {
      const given: string[] = [];
      const find: TaskTool = (task, { results, gaps }) => {
        given.push(`${task.task_id}: ${[...results].map(([id, { answer }]) => `${id}=${answer}`)} ${[...gaps.keys()]}`);
        return cold('-(r|)', { r: RESULT });
      };
      const fail: TaskTool = () => cold<TaskResult>('-#');
      const tasks = [task('red'), task('blue', { tool: 'fail' }), task('green', { depends_on: ['red', 'blue'] })];
      const tools = new Map([
        ['find', find],
        ['fail', fail],
      ]);
      executePlan(tasks, { tools, now }).subscribe();
      flush();
      expect(given).toEqual(['red:  ', 'green: red=found blue']);
    }));

  it('does what is added, and not what was dropped', () =>
    marbles((helpers, now) => {
      const [red, green] = [task('red'), task('green')];
      const changes: [string, Record<string, ChangedTasks>] = ['-----d', { d: { tasks: [red, green] } }];
      const tasks = [red, task('blue', { depends_on: ['red'] })];
      expect(timeline(helpers, now, tasks, { changes })).toEqual([
        '0 red>',
        '5 green>',
        '10 red done',
        '15 green done',
        '15 |',
      ]);
    }));

  it('does nothing for what is given, and begins what waited for it', () =>
    marbles((helpers, now) => {
      const tasks = [task('red'), task('blue', { depends_on: ['red'] }), task('green', { depends_on: ['blue'] })];
      const changes: [string, Record<string, ChangedTasks>] = ['-----g', { g: { tasks, given: ['blue', RESULT] } }];
      expect(timeline(helpers, now, tasks, { changes })).toEqual([
        '0 red>',
        '5 green>',
        '10 red done',
        '15 green done',
        '15 |',
      ]);
    }));

  it('leaves tasks that have begun as they are', () =>
    marbles((helpers, now) => {
      const changes: [string, Record<string, ChangedTasks>] = [
        '-----c',
        { c: { tasks: [task('red', { tool: 'fail' })] } },
      ];
      expect(timeline(helpers, now, [task('red')], { changes })).toEqual(['0 red>', '10 red done', '10 |']);
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
      expectObservable(executePlan([task('red')], { tools, now }), '^---!').toBe('s---', {
        s: { type: 'task_started', task_id: 'red', tool: 'find', status: 'running' },
      });
      expectSubscriptions(work$.subscriptions).toBe('^---!');
    }));
});
