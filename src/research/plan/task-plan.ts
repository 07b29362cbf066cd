/** Plans of tasks: their form, and what is wrong with one, by rules. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';
import { QUESTION_TYPES } from '../calls/research-calls.js';
import { HeldWords } from '../evidence/check-statement.js';

const text = z.string().trim().min(1).max(2_000);
const id = z.string().trim().min(1).max(64);

const taskSchema = z.strictObject({
  task_id: id,
  description: text,
  /** Name of what does it, such as `kb_search`. */
  tool: id,
  args: z.record(z.string(), z.json()).default({}),
  /** Of tasks that may begin, those with the smallest number begin first. */
  priority: z.number().default(1),
  depends_on: z.array(id).default([]),
  /** What the task needs of those that it depends on; where it says `required`, it is skipped without them. */
  expects: z.string().max(2_000).default(''),
});

/** The form of a plan. */
export const planSchema = z.strictObject({
  plan_id: id,
  question: text,
  question_type: z.enum(QUESTION_TYPES),
  status: z.enum(['ready', 'needs_clarification', 'issues']),
  clarifications: z.array(z.string()).default([]),
  issues: z.array(z.string()).default([]),
  tasks: z.array(taskSchema).min(1).max(100),
});

/** Tasks, and what they are for. */
export type TaskPlan = Readonly<z.output<typeof planSchema>>;

/** One task. */
export type Task = TaskPlan['tasks'][number];

/** Something that is wrong with a plan. */
export interface PlanProblem {
  /** Such as `tasks[1].depends_on[0]`. */
  readonly path: string;
  readonly problem: string;
}

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

/** Reads a plan. @throws EngineError PLAN_REJECTED with every mismatch and its path */
export function readPlan(value: unknown): TaskPlan {
  const parsed = planSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw rejected(parsed.error.issues.map(({ path, message }) => ({ path: pathOf(path), problem: message })));
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((all, key) => {
    if (typeof key === 'number') return `${all}[${key}]`;
    return all === '' ? String(key) : `${all}.${String(key)}`;
  }, '');
}

/** The error of a plan with problems. */
export function rejected(problems: readonly PlanProblem[]): EngineError {
  const lines = problems.map(({ path, problem }) => `${path}: ${problem}`);
  return new EngineError('PLAN_REJECTED', `The plan cannot be carried out: ${lines.join('; ')}.`, {
    details: problems as unknown as Json,
  });
}

/**
 * Reviews a plan by rules: ids that are there twice, dependencies that are not there, cycles, tools that are not there, tasks alike, parts of the question that no
 * task covers, costs above the budget. Empty: it can be carried out.
 */
export function reviewPlan(plan: TaskPlan, options: ReviewOptions): readonly PlanProblem[] {
  const { tasks } = plan;
  const ids = tasks.map(({ task_id }) => task_id);
  const tools = new Set(options.tools);
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
      ...alikeProblems(tasks, at),
    ];
  });
  return [...problems, ...cycleProblems(tasks), ...coverProblems(plan), ...costProblems(plan, options)];
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
  const parts = question.split(/(?<=[?？])\s*|[;；]\s*/u).filter((part) => /[\p{L}\p{N}]/u.test(part));
  return parts
    .filter((part) => held.shareOf(part) < COVERED)
    .map((part) => ({ path: 'question', problem: `no task covers "${part.trim()}"` }));
}

function costProblems({ tasks }: TaskPlan, { costOf, tokens }: ReviewOptions): readonly PlanProblem[] {
  if (costOf === undefined || tokens === undefined) return [];
  const cost = tasks.reduce((sum, { tool }) => sum + costOf(tool), 0);
  return cost <= tokens
    ? []
    : [{ path: 'tasks', problem: `they take about ${cost} tokens, and ${tokens} are allowed` }];
}

/** A plan without what can be mended by rules: second tasks of an id, tasks alike, dependencies that are not there or that close a cycle. */
export function mendPlan(plan: TaskPlan): TaskPlan {
  const kept = plan.tasks.filter(
    (task, at) =>
      plan.tasks.findIndex(({ task_id }) => task_id === task.task_id) === at &&
      alikeProblems(plan.tasks, at).length === 0,
  );
  const done = new Map<string, Task>();
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean => {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return (done.get(from)?.depends_on ?? []).some((next) => reaches(next, to, seen));
  };
  const known = new Set(kept.map(({ task_id }) => task_id));
  for (const task of kept) {
    const depends_on = task.depends_on.filter((id) => known.has(id) && !reaches(id, task.task_id));
    done.set(task.task_id, { ...task, depends_on });
  }
  return { ...plan, tasks: [...done.values()] };
}
