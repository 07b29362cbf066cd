/** What is wrong with a plan, and what of it rules can mend. */
import { HeldWords } from '../evidence/check-statement.js';
import { MAX_TASKS, type PlanProblem, type Task, type TaskPlan } from './task-plan.js';

/** What a plan is reviewed against. */
export interface ReviewOptions {
  /** Names of tools that there are. */
  readonly tools: readonly string[];
  /** Tokens that a task of a tool takes about. @default 0 */
  readonly costOf?: ((tool: string) => number) | undefined;
  /** Tokens that the plan may take. @default any number */
  readonly tokens?: number | undefined;
}

/** Share of words that two tasks alike have in common. */
const ALIKE = 0.9;
/** Share of the words of a part of the question that some task must have. */
const COVERED = 0.5;

/**
 * Reviews a plan by rules: ids that are there twice, dependencies that are not there, cycles, tools that are not there, tasks alike, parts of the question that no
 * task covers, costs above the budget. Empty: it can be carried out.
 */
export function reviewPlan(plan: TaskPlan, options: ReviewOptions): readonly PlanProblem[] {
  const { tasks } = plan;
  return [
    ...structureProblems(tasks, options.tools),
    ...tasks.flatMap((_, at) => alikeProblems(tasks, at)),
    ...coverProblems(plan),
    ...costProblems(plan, options),
  ];
}

/** Of what {@link reviewPlan} finds, that which keeps tasks from being carried out: their ids, tools and dependencies. */
export function structureProblems(tasks: readonly Task[], names: readonly string[]): readonly PlanProblem[] {
  const ids = tasks.map(({ task_id }) => task_id);
  const tools = new Set(names);
  const problems = tasks.flatMap((task, at): PlanProblem[] => {
    const path = `tasks[${at}]`;
    return [
      ...(ids.indexOf(task.task_id) < at
        ? [{ path: `${path}.task_id`, problem: `"${task.task_id}" is there twice` }]
        : []),
      ...(tools.has(task.tool) ? [] : [{ path: `${path}.tool`, problem: `there is no tool "${task.tool}"` }]),
      ...task.depends_on.flatMap((other, on) =>
        ids.includes(other) ? [] : [{ path: `${path}.depends_on[${on}]`, problem: `there is no task "${other}"` }],
      ),
    ];
  });
  return [...problems, ...cycleProblems(tasks)];
}

function alikeProblems(tasks: readonly Task[], at: number): readonly PlanProblem[] {
  const { description, tool } = tasks[at] as Task;
  const twin = tasks.slice(0, at).find((other) => {
    if (other.tool !== tool) return false;
    const [one, two] = [new HeldWords([description]), new HeldWords([other.description])];
    return Math.min(one.shareOf(other.description), two.shareOf(description)) >= ALIKE;
  });
  return twin === undefined ? [] : [{ path: `tasks[${at}].description`, problem: `is the same as "${twin.task_id}"` }];
}

function cycleProblems(tasks: readonly Task[]): readonly PlanProblem[] {
  const done = new Set<string>();
  const known = new Set(tasks.map(({ task_id }) => task_id));
  for (let step = 0; step < tasks.length; step += 1) {
    for (const { task_id, depends_on } of tasks) {
      if (depends_on.every((id) => done.has(id) || !known.has(id))) done.add(task_id);
    }
  }
  return tasks.flatMap(({ task_id }, at) =>
    done.has(task_id) ? [] : [{ path: `tasks[${at}].depends_on`, problem: `"${task_id}" waits for itself` }],
  );
}

function coverProblems({ question, tasks }: TaskPlan): readonly PlanProblem[] {
  const held = new HeldWords(tasks.map(({ description, args }) => `${description} ${JSON.stringify(args)}`));
  return partsOf(question)
    .filter((part) => held.shareOf(part) < COVERED)
    .map((part) => ({ path: 'question', problem: `no task covers "${part}"` }));
}

function partsOf(question: string): readonly string[] {
  const parts = question.split(/(?<=[?？])\s*|[;；]\s*/u).map((part) => part.trim());
  return parts.filter((part) => /[\p{L}\p{N}]/u.test(part));
}

function costProblems({ tasks }: TaskPlan, { costOf, tokens }: ReviewOptions): readonly PlanProblem[] {
  if (costOf === undefined || tokens === undefined) return [];
  const cost = tasks.reduce((sum, { tool }) => sum + costOf(tool), 0);
  return cost <= tokens
    ? []
    : [{ path: 'tasks', problem: `they take about ${cost} tokens, and ${tokens} are allowed` }];
}

/**
 * A plan without what can be mended by rules: second tasks of an id, tasks alike, dependencies that are not there or that close a cycle, tools that are not
 * there. What no task covers gets one. The first tool is the one that stands in.
 */
export function mendPlan(plan: TaskPlan, { tools }: Pick<ReviewOptions, 'tools'>): TaskPlan {
  const [usual = ''] = tools;
  const kept = plan.tasks
    .filter(
      (task, at) =>
        plan.tasks.findIndex(({ task_id }) => task_id === task.task_id) === at &&
        alikeProblems(plan.tasks, at).length === 0,
    )
    .map((task) => (tools.includes(task.tool) ? task : { ...task, tool: usual }));
  const tasks = withoutCycles(kept);
  const held = new HeldWords(tasks.map(({ description, args }) => `${description} ${JSON.stringify(args)}`));
  const added = partsOf(plan.question).filter((part) => held.shareOf(part) < COVERED);
  const all = [...tasks];
  for (const part of added) all.push(newTask(all, part, usual));
  return { ...plan, tasks: all.slice(0, MAX_TASKS) };
}

/** A further task, under an id that is free. */
export function newTask(tasks: readonly Task[], description: string, tool: string): Task {
  const ids = new Set(tasks.map(({ task_id }) => task_id));
  let at = tasks.length + 1;
  while (ids.has(taskId(at))) at += 1;
  return { task_id: taskId(at), description, tool, args: {}, priority: 1, depends_on: [], expects: '' };
}

/** Id of a task by its place, from 1. */
export function taskId(place: number): string {
  return `task_${String(place).padStart(3, '0')}`;
}

function withoutCycles(tasks: readonly Task[]): readonly Task[] {
  const done = new Map<string, Task>();
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean => {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return (done.get(from)?.depends_on ?? []).some((next) => reaches(next, to, seen));
  };
  const known = new Set(tasks.map(({ task_id }) => task_id));
  for (const task of tasks) {
    const depends_on = task.depends_on.filter((id) => known.has(id) && !reaches(id, task.task_id));
    done.set(task.task_id, { ...task, depends_on });
  }
  return [...done.values()];
}

/** Ids of tasks in the order in which they begin when each takes as long as any other: by dependencies, then priority, then their place. */
export function orderOfTasks(tasks: readonly Task[]): readonly string[] {
  const order: string[] = [];
  const left = new Set(tasks);
  while (left.size > 0) {
    const next = [...left]
      .filter(({ depends_on }) => depends_on.every((id) => order.includes(id)))
      .sort((a, b) => a.priority - b.priority)[0];
    if (next === undefined) return order;
    order.push(next.task_id);
    left.delete(next);
  }
  return order;
}
