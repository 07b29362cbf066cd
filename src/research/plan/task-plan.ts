/** Plans of tasks: their form. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';
import { QUESTION_TYPES } from '../calls/research-calls.js';

const text = z.string().trim().min(1).max(2_000);
const id = z.string().trim().min(1).max(48);

/** Tasks of one plan. */
export const MAX_TASKS = 100;

/** The form of one task. */
export const taskSchema = z.strictObject({
  task_id: id,
  /** May hold `{id}` of tasks that it depends on, which becomes their answer. */
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
  tasks: z.array(taskSchema).min(1).max(MAX_TASKS),
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

/** The error of a plan with problems, which clients get as `issues`. */
export function rejected(problems: readonly PlanProblem[]): EngineError {
  const lines = problems.map(({ path, problem }) => `${path}: ${problem}`);
  return new EngineError('PLAN_REJECTED', `The plan cannot be carried out: ${lines.join('; ')}.`, {
    details: { issues: problems } as unknown as Json,
  });
}
