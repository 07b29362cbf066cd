/** Edits of a plan's tasks, and which problems belong to which task. */
import type { PlanProblem, Task } from '../../../src/research/plan/task-plan.js';

/** The tasks with a new one behind them, whose id none of `taken` has. */
export function withTask(tasks: readonly Task[], tool: string, taken: ReadonlySet<string>): readonly Task[] {
  let number = tasks.length + 1;
  const idOf = (n: number): string => `task_${String(n).padStart(3, '0')}`;
  while (taken.has(idOf(number)) || tasks.some(({ task_id }) => task_id === idOf(number))) number += 1;
  const task_id = idOf(number);
  return [...tasks, { task_id, description: '', tool, args: {}, priority: 1, depends_on: [], expects: '' }];
}

/** The tasks without one, which the others do not wait for any more. */
export function withoutTask(tasks: readonly Task[], id: string): readonly Task[] {
  return tasks
    .filter(({ task_id }) => task_id !== id)
    .map((task) => ({ ...task, depends_on: task.depends_on.filter((other) => other !== id) }));
}

/** The tasks with a change of one. Arguments belong to a tool: another one has none. */
export function changedTask(tasks: readonly Task[], id: string, change: Partial<Task>): readonly Task[] {
  return tasks.map((task) => {
    if (task.task_id !== id) return task;
    const isOther = change.tool !== undefined && change.tool !== task.tool;
    return { ...task, ...change, ...(isOther && { args: {} }) };
  });
}

/** Problems of the task at a place, with the rest of their path; at -1 those of no task. */
export function problemsAt(problems: readonly PlanProblem[], at: number): readonly PlanProblem[] {
  return problems.flatMap(({ path, problem }): PlanProblem[] => {
    const [, place, rest = ''] = /^tasks\[(\d+)\]\.?(.*)$/.exec(path) ?? [];
    if (place === undefined) return at === -1 ? [{ path, problem }] : [];
    return Number(place) === at ? [{ path: rest, problem }] : [];
  });
}
