/** Edits of a plan's tasks, and which problems belong to which task. */
import { isJsonObject, jsonErrorPlace, parseJson } from '../../../src/json.js';
import { isPlanTool } from '../../../src/research/plan/plan-tools.js';
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

/** Whether the tool of a task is called with arguments; a search has its description alone. What a task has can be changed in any case. */
export function takesArgs({ tool, args }: Pick<Task, 'tool' | 'args'>): boolean {
  return !isPlanTool(tool) || Object.keys(args).length > 0;
}

/** Arguments as they are written, or what keeps them from being read: no JSON from a line and a column on, or none that is an object. */
export type ReadArgs =
  | { readonly args: Task['args'] }
  | { readonly problem: 'json'; readonly line: number; readonly column: number }
  | { readonly problem: 'object' };

/** Reads arguments; a blank text is none. */
export function readArgs(text: string): ReadArgs {
  if (text.trim() === '') return { args: {} };
  const args = parseJson(text);
  if (isJsonObject(args)) return { args: args as Task['args'] };
  const [line, column] = (jsonErrorPlace(text)?.match(/\d+/g) ?? []).map(Number);
  return line === undefined || column === undefined ? { problem: 'object' } : { problem: 'json', line, column };
}

/** Arguments as a text; blank for none. */
export function textOfArgs(args: Task['args']): string {
  return Object.keys(args).length === 0 ? '' : JSON.stringify(args, null, 2);
}
