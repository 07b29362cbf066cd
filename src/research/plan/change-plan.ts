/** Plans that people change: before they are carried out, and of what has not begun while they are. */
import { isJsonObject, type Json } from '../../json.js';
import type { Steer } from '../steer.js';
import { newTask, structureProblems } from './review-plan.js';
import { type PlanProblem, readPlan, rejected, type Task, type TaskPlan } from './task-plan.js';

/** What of a plan cannot be changed, and what it may use. */
export interface ChangeBounds {
  /** Ids of tasks that have begun. */
  readonly begun: ReadonlySet<string>;
  /** Names of tools that there are, the usual one first. */
  readonly tools: readonly string[];
}

/**
 * Reads a plan in place of another one, whole or as `{tasks}` alone. Its question and its id are those of the plan before.
 *
 * @throws EngineError PLAN_REJECTED with every problem and its path; a task that has begun and is not as it was is one
 */
export function readChangedPlan(given: unknown, plan: TaskPlan, { begun, tools }: ChangeBounds): TaskPlan {
  const whole = isJsonObject(given as Json) ? { ...plan, ...(given as object) } : given;
  const read = readPlan(whole);
  const changed: TaskPlan = { ...read, plan_id: plan.plan_id, question: plan.question };
  const problems = [...structureProblems(changed.tasks, tools), ...begunProblems(changed.tasks, plan.tasks, begun)];
  if (problems.length > 0) throw rejected(problems);
  return { ...changed, status: 'ready', issues: [] };
}

function begunProblems(
  tasks: readonly Task[],
  before: readonly Task[],
  begun: ReadonlySet<string>,
): readonly PlanProblem[] {
  return before.flatMap((task): PlanProblem[] => {
    if (!begun.has(task.task_id)) return [];
    const at = tasks.findIndex(({ task_id }) => task_id === task.task_id);
    if (at === -1) return [{ path: 'tasks', problem: `"${task.task_id}" has begun, and is not there` }];
    const isSame = JSON.stringify(contentOf(tasks[at] as Task)) === JSON.stringify(contentOf(task));
    return isSame ? [] : [{ path: `tasks[${at}]`, problem: `"${task.task_id}" has begun, and is not as it was` }];
  });
}

function contentOf({ description, tool, args, depends_on, expects }: Task) {
  return [description, tool, args, depends_on, expects];
}

/** The plan behind a change; undefined where nothing of it can be carried out, since what it names has begun or is not there. */
export function changePlan(plan: TaskPlan, steer: Steer, { begun, tools }: ChangeBounds): TaskPlan | undefined {
  const { tasks } = plan;
  const isOpen = (id: string): boolean => !begun.has(id) && tasks.some(({ task_id }) => task_id === id);
  switch (steer.action) {
    case 'add':
      return { ...plan, tasks: [...tasks, newTask(tasks, steer.question, tools[0] ?? '')] };
    case 'drop':
      return isOpen(steer.question) ? { ...plan, tasks: without(tasks, steer.question) } : undefined;
    case 'order': {
      const places = new Map(steer.questions.filter(isOpen).map((id, at) => [id, at]));
      if (places.size === 0) return undefined;
      // Behind those that are named comes the rest, as it was.
      const ordered = tasks.map((task) => ({
        ...task,
        priority: places.get(task.task_id) ?? places.size + task.priority,
      }));
      return { ...plan, tasks: ordered };
    }
    case 'plan': {
      const given = steer.plan.tasks.filter(({ task_id }) => !begun.has(task_id));
      const kept = tasks.filter(({ task_id }) => begun.has(task_id));
      return { ...steer.plan, plan_id: plan.plan_id, question: plan.question, tasks: [...kept, ...given] };
    }
    default:
      return undefined;
  }
}

/** Tasks without one, which the others do not wait for any more. */
function without(tasks: readonly Task[], id: string): Task[] {
  return tasks
    .filter(({ task_id }) => task_id !== id)
    .map((task) => ({ ...task, depends_on: task.depends_on.filter((other) => other !== id) }));
}
