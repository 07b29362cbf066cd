/** The plan of a research: made by a model, reviewed and mended by rules and by a model; by rules alone where there is none. */
import { createHash } from 'node:crypto';
import { catchError, concatMap, defer, map, type Observable, of } from 'rxjs';
import { z } from 'zod';
import { type Asking, askCall } from '../calls/ask-call.js';
import type { QuestionType, ResearchAnswer } from '../calls/research-calls.js';
import { questionsByRules, type SubQuestion, usableQuestions, withAnswers } from '../deep/sub-questions.js';
import type { ClarifyQuestion } from '../research-events.js';
import { readChangedPlan } from './change-plan.js';
import { costOfCall, type PlanCall } from './plan-call.js';
import { costOfTool, isPlanTool, PLAN_TOOLS, toolFor } from './plan-tools.js';
import { mendPlan, reviewPlan, structureProblems, taskId } from './review-plan.js';
import { type Task, type TaskPlan, taskSchema } from './task-plan.js';

/** What is planned. */
export interface PlanWish {
  readonly question: string;
  /** What people said when they were asked, as question and answer. */
  readonly clarifications: readonly string[];
  /** Tasks at most. */
  readonly most: number;
  /** Names of the tools that a planner may choose, the usual one first. */
  readonly tools: readonly string[];
  /** Those of them that are no searches. @default none */
  readonly calls?: ReadonlyMap<string, PlanCall> | undefined;
}

/** Questions that are asked before a plan is made. */
const MAX_CLARIFICATIONS = 3;
const MAX_CLARIFICATION = 300;
const MAX_OPTIONS = 8;

/** The questions without whose answers the report would differ; none where a model cannot say. Emits once. */
export function clarificationsOf(asking: Asking, question: string): Observable<readonly ClarifyQuestion[]> {
  return askCall(asking, 'research_clarify', { question }).pipe(
    map(({ needs_clarification, questions }) => (needs_clarification ? clarifyQuestions(questions) : [])),
    catchError(() => of([])),
  );
}

function clarifyQuestions(given: ResearchAnswer<'research_clarify'>['questions']): readonly ClarifyQuestion[] {
  const asked = given
    .map((one) => (typeof one === 'string' ? { question: one, default: '', options: [] } : one))
    .filter((one) => one.question.trim() !== '');
  return asked.slice(0, MAX_CLARIFICATIONS).map((one, at) => {
    const options = [...new Set(one.options.map(shortened))].filter((option) => option !== '').slice(0, MAX_OPTIONS);
    const about = { id: `c${at + 1}`, question: shortened(one.question), default: shortened(one.default) };
    return options.length === 0 ? about : { ...about, options };
  });
}

function shortened(text: string): string {
  return text.trim().slice(0, MAX_CLARIFICATION);
}

/** Makes a plan that can be carried out; what is still wrong with it is in its `issues`. Never fails. Emits once. */
export function makePlan(wish: PlanWish, asking: Asking): Observable<TaskPlan> {
  return defer(() => decomposed(wish, asking)).pipe(
    map((plan) => mendPlan(plan, wish)),
    concatMap((plan) => reviewedByModel(plan, wish, asking)),
    map((plan) => {
      const issues = issuesOf(plan, wish, asking);
      return { ...plan, status: issues.length > 0 ? 'issues' : 'ready', issues: [...issues] };
    }),
  );
}

/** A plan of nothing, whose id follows from its question. */
function emptyPlan(question: string): TaskPlan {
  const plan_id = `plan_${createHash('sha256').update(question).digest('hex').slice(0, 12)}`;
  const about = { question_type: 'factual', status: 'ready' } as const;
  return { plan_id, question, ...about, clarifications: [], issues: [], tasks: [] };
}

/**
 * Reads the plan that a request brings for its question, whole or as `{tasks}` alone.
 *
 * @param tools names of those that there are
 * @throws EngineError PLAN_REJECTED with every problem and its path
 */
export function readGivenPlan(given: unknown, question: string, tools: readonly string[]): TaskPlan {
  return readChangedPlan(given, emptyPlan(question), { begun: new Set(), tools });
}

/** A task for each part of the question, as a model splits it, else as rules do. */
function decomposed({ question, clarifications, most, tools }: PlanWish, asking: Asking): Observable<TaskPlan> {
  const planOf = (type: QuestionType, tasks: readonly Task[]): TaskPlan => ({
    ...emptyPlan(question),
    question_type: type,
    clarifications: [...clarifications],
    tasks: [...tasks],
  });
  return askCall(asking, 'research_decompose', { question, known: [...clarifications], limit: most }).pipe(
    map(({ question_type, sub_questions }) => {
      const parts = usableQuestions(sub_questions, most);
      return parts.length === 0
        ? planOf(question_type, templateTasks(question, most, tools))
        : planOf(question_type, tasksOf(parts, tools));
    }),
    catchError(() => of(planOf('factual', templateTasks(question, most, tools)))),
  );
}

/** Sub-questions as tasks; their placeholders name tasks then. */
function tasksOf(parts: readonly SubQuestion[], tools: readonly string[]): readonly Task[] {
  const ids = new Map(parts.map(({ id }, at) => [id, taskId(at + 1)]));
  const placeholders = new Map([...ids].map(([id, task]) => [id, `{${task}}`]));
  return parts.map(({ id, question, dependsOn }) => {
    const description = withAnswers({ question }, placeholders);
    const depends_on = dependsOn.flatMap((one) => ids.get(one) ?? []);
    const tool = toolFor(question, tools);
    return { task_id: ids.get(id) as string, description, tool, args: {}, priority: 1, depends_on, expects: '' };
  });
}

/** The plan without a model: each part of the question in the documents, and in the graph where there is one. */
function templateTasks(question: string, most: number, tools: readonly string[]): readonly Task[] {
  const parts = questionsByRules(question, most);
  const [usual = 'deep_search'] = tools;
  const searched = usual === 'kb_search' && tools.includes('local_search') ? [usual, 'local_search'] : [usual];
  return parts
    .flatMap(({ question: description }) => searched.map((tool) => ({ description, tool })))
    .map(({ description, tool }, at) => ({
      ...{ task_id: taskId(at + 1), description, tool, args: {} },
      ...{ priority: 1, depends_on: [], expects: '' },
    }));
}

/** What a model makes of a plan, where that is better by the rules or as good; one task is not worth a call. */
function reviewedByModel(plan: TaskPlan, wish: PlanWish, asking: Asking): Observable<TaskPlan> {
  if (plan.tasks.length < 2) return of(plan);
  const { question, most, tools } = wish;
  const does = Object.fromEntries(tools.map((name) => [name, doesOf(name, wish)]));
  const before = issuesOf(plan, wish, asking);
  const input = { question, tasks: plan.tasks.map((task) => ({ ...task })), tools: does, issues: [...before] };
  return askCall(asking, 'plan_review', input).pipe(
    map(({ tasks }) => {
      const read = z.array(taskSchema).min(1).max(most).safeParse(tasks);
      if (!read.success) return plan;
      const changed = mendPlan({ ...plan, tasks: read.data }, wish);
      const isSound = structureProblems(changed.tasks, tools).length === 0;
      return isSound && issuesOf(changed, wish, asking).length <= before.length ? changed : plan;
    }),
    catchError(() => of(plan)),
  );
}

function doesOf(name: string, { calls }: PlanWish): string {
  return isPlanTool(name) ? PLAN_TOOLS[name].does : (calls?.get(name)?.does ?? '');
}

function issuesOf(plan: TaskPlan, { tools, calls }: PlanWish, { budget, model }: Asking): readonly string[] {
  const costOf = (name: string): number => {
    const call = calls?.get(name);
    return call === undefined ? costOfTool(name) : costOfCall(call);
  };
  const costs = model === undefined ? {} : { costOf, tokens: budget.limits.tokens };
  return reviewPlan(plan, { tools, ...costs }).map(({ path, problem }) => `${path}: ${problem}`);
}
