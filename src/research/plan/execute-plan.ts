/** Carrying out a plan of tasks: as wide as dependencies and places allow, the most urgent first. */
import {
  catchError,
  concat,
  defaultIfEmpty,
  defer,
  EMPTY,
  ignoreElements,
  map,
  Observable,
  range,
  take,
  tap,
  throwError,
} from 'rxjs';
import { EngineError } from '../../errors.js';
import { expandQueue } from '../../operators/expand-queue.js';
import type { ResearchEvidence } from '../evidence/evidence-table.js';
import { rejected, reviewPlan, type Task, type TaskPlan } from './task-plan.js';

/** What a task gave. */
export interface TaskResult {
  readonly text: string;
  readonly evidence: readonly ResearchEvidence[];
  /** 0 to 1. */
  readonly confidence: number;
}

/** How a task ended. `skipped`: it needs what another one did not give. */
export type TaskStatus = 'done' | 'failed' | 'skipped';

/** What is told of a task. */
export type TaskEvent =
  | { readonly type: 'task_started'; readonly task_id: string; readonly tool: string; readonly status: 'running' }
  | TaskFinished;

/** The end of a task. */
export interface TaskFinished {
  readonly type: 'task_finished';
  readonly task_id: string;
  readonly status: TaskStatus;
  readonly ms: number;
  readonly result?: TaskResult;
  /** Why it has no result. */
  readonly problem?: string;
}

/** What a task is given of those that it depends on: a result, or the problem in its place. */
export interface TaskInput {
  readonly results: ReadonlyMap<string, TaskResult>;
  /** Ids of tasks that gave nothing, with the reason. */
  readonly gaps: ReadonlyMap<string, string>;
}

/** Does one task; emits its result once. Cold: unsubscribing ends it. */
export type TaskTool = (task: Task, input: TaskInput) => Observable<TaskResult>;

/** What a plan is carried out with. */
export interface ExecuteOptions {
  readonly tools: ReadonlyMap<string, TaskTool>;
  /** Names of tools that stand in for one that fails, in order. @default none do */
  readonly othersOf?: ((tool: string) => readonly string[]) | undefined;
  /** Tasks at the same time. @default 4 */
  readonly concurrency?: number | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const CONCURRENCY = 4;
/** Attempts with the tool that a task names, before another one. */
const ATTEMPTS = 2;

/**
 * Carries out a plan; cold, one subscription is one execution, and unsubscribing ends every task at work. A task that fails is tried once more, then with another
 * tool; what depends on it is given the gap by name, or is skipped where its `expects` begins with `required`.
 *
 * ```text
 * a       --r|
 * b (a)      --r|
 * c       ----#--#|         (tried again, failed)
 * told    s-fs-f---f|
 * ```
 *
 * @throws EngineError PLAN_REJECTED, as the error of the stream, for a plan that has problems.
 */
export function executePlan(plan: TaskPlan, options: ExecuteOptions): Observable<TaskEvent> {
  return defer(() => {
    const problems = reviewPlan(
      { ...plan, question: plan.tasks.map(({ description }) => description).join(' ') },
      {
        tools: [...options.tools.keys()],
      },
    );
    if (problems.length > 0) return throwError(() => rejected(problems));
    return new Observable<TaskEvent>((subscriber) => {
      const execution = new Execution(plan, options, (event) => subscriber.next(event));
      return execution.run().subscribe(subscriber);
    });
  });
}

/** Tasks in the order in which they begin when each takes as long as any other: by dependencies, then priority, then their place. */
export function orderOfTasks({ tasks }: Pick<TaskPlan, 'tasks'>): readonly string[] {
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

/** Permission to begin the most urgent task that is ready. */
type Turn = 'turn';

class Execution {
  readonly #plan: TaskPlan;
  readonly #options: ExecuteOptions;
  readonly #begun = new Set<string>();
  readonly #results = new Map<string, TaskResult>();
  readonly #gaps = new Map<string, string>();

  readonly #tell: (event: TaskEvent) => void;

  constructor(plan: TaskPlan, options: ExecuteOptions, tell: (event: TaskEvent) => void) {
    this.#plan = plan;
    this.#options = options;
    this.#tell = tell;
  }

  run(): Observable<never> {
    const { concurrency = CONCURRENCY } = this.#options;
    return turns(this.#ready().length).pipe(
      expandQueue<Turn>(() => this.#begin(), { concurrency }),
      ignoreElements(),
    );
  }

  #ready(): readonly Task[] {
    const isOver = (id: string): boolean => this.#results.has(id) || this.#gaps.has(id);
    return this.#plan.tasks
      .filter(({ task_id, depends_on }) => !this.#begun.has(task_id) && depends_on.every(isOver))
      .sort((a, b) => a.priority - b.priority);
  }

  /** Does the most urgent task that is ready; then lets those begin that waited for it. */
  #begin(): Observable<Turn> {
    const task = this.#ready()[0];
    if (task === undefined) return EMPTY;
    const { task_id, tool } = task;
    this.#begun.add(task_id);
    const others = new Set(this.#ready().map((one) => one.task_id));
    const begunAt = this.#options.now();
    const finished = (end: Pick<TaskFinished, 'status' | 'result' | 'problem'>): void => {
      this.#tell({ type: 'task_finished', task_id, ms: Math.max(0, this.#options.now() - begunAt), ...end });
    };
    this.#tell({ type: 'task_started', task_id, tool, status: 'running' });
    const work$ = this.#work(task).pipe(
      tap((result) => {
        this.#results.set(task_id, result);
        finished({ status: 'done', result });
      }),
      catchError((error: unknown) => {
        const problem = EngineError.is(error) ? error.message : String(error);
        this.#gaps.set(task_id, problem);
        const status = EngineError.is(error) && error.code === 'EVIDENCE_MISSING' ? 'skipped' : 'failed';
        finished({ status, problem });
        return EMPTY;
      }),
      ignoreElements(),
    );
    return concat(
      work$,
      defer(() => {
        const fresh = this.#ready().filter((one) => !others.has(one.task_id));
        return turns(fresh.length);
      }),
    );
  }

  #work(task: Task): Observable<TaskResult> {
    const { tools, othersOf } = this.#options;
    const missing = task.depends_on.filter((id) => this.#gaps.has(id));
    if (missing.length > 0 && /^required\b/i.test(task.expects)) {
      return throwError(
        () =>
          new EngineError('EVIDENCE_MISSING', `Task "${task.task_id}" needs what ${missing.join(', ')} did not give.`),
      );
    }
    const input: TaskInput = { results: pick(this.#results, task.depends_on), gaps: pick(this.#gaps, task.depends_on) };
    const names = [...Array<string>(ATTEMPTS).fill(task.tool), ...(othersOf?.(task.tool) ?? [])];
    const attempts = names.flatMap((name) => tools.get(name) ?? []);
    return attempts.reduceRight<Observable<TaskResult>>(
      (next$, tool) =>
        defer(() => tool(task, input)).pipe(
          take(1),
          defaultIfEmpty(NOTHING),
          catchError((error: unknown) => (next$ === NO_MORE ? throwError(() => error) : next$)),
        ),
      NO_MORE,
    );
  }
}

const NOTHING: TaskResult = { text: '', evidence: [], confidence: 0 };
const NO_MORE: Observable<never> = throwError(() => new EngineError('TOOL_UNKNOWN', 'There is no tool for the task.'));

function turns(count: number): Observable<Turn> {
  return range(0, count).pipe(map((): Turn => 'turn'));
}

function pick<T>(from: ReadonlyMap<string, T>, ids: readonly string[]): ReadonlyMap<string, T> {
  return new Map(ids.flatMap((id) => (from.has(id) ? [[id, from.get(id) as T] as const] : [])));
}
