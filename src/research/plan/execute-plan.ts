/** Carrying out a plan of tasks: as wide as dependencies and places allow, the most urgent first. */
import {
  catchError,
  concat,
  defaultIfEmpty,
  defer,
  EMPTY,
  ignoreElements,
  map,
  merge,
  NEVER,
  Observable,
  range,
  Subject,
  take,
  takeUntil,
  tap,
  throwError,
} from 'rxjs';
import { EngineError } from '../../errors.js';
import { expandQueue } from '../../operators/expand-queue.js';
import { retryWith } from '../../operators/retry-with.js';
import { structureProblems } from './review-plan.js';
import { rejected, type Task } from './task-plan.js';

/** What a task gave. */
export interface TaskResult {
  /** The answer, as it is put into other tasks. */
  readonly answer: string;
  /** Everything that was found, a line for each. */
  readonly known: readonly string[];
}

/** How a task ended. `skipped`: it was not begun, or needs what another one did not give. */
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

/** Tasks in place of those before. Those that have begun stay as they are. */
export interface ChangedTasks {
  readonly tasks: readonly Task[];
  /** A result that needs no work: id of its task, which has not begun. */
  readonly given?: readonly [string, TaskResult];
}

/** What a plan is carried out with. */
export interface ExecuteOptions {
  readonly tools: ReadonlyMap<string, TaskTool>;
  /** Times that a tool is tried which could not be reached or failed, before another one is. @default 1 */
  readonly attemptsOf?: ((tool: string) => number) | undefined;
  /** Names of tools that stand in for one that fails, in order. @default none do */
  readonly othersOf?: ((tool: string) => readonly string[]) | undefined;
  /** Tasks at the same time. @default 4 */
  readonly concurrency?: number | undefined;
  /** Hot. @default nothing is changed */
  readonly changes$?: Observable<ChangedTasks> | undefined;
  /** What tasks gave that are over. @default none are */
  readonly over?: TaskInput | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const CONCURRENCY = 4;
/** Milliseconds before a tool is tried again. */
const RETRY_MS = 250;

/**
 * Carries out the tasks of a plan; cold, one subscription is one execution, and unsubscribing ends every task at work. A task that fails is tried again, then
 * with another tool; what depends on it is given the gap by name, or is skipped where its `expects` begins with `required`.
 *
 * ```text
 * a       --r|
 * b (a)      --r|
 * c       -#-#-#--#|        (again, another tool, failed)
 * changes        -d         (a task is added)
 * told    s-fs-f---f-s-f|
 * ```
 *
 * @throws EngineError PLAN_REJECTED, as the error of the stream, for tasks that cannot be carried out.
 */
export function executePlan(tasks: readonly Task[], options: ExecuteOptions): Observable<TaskEvent> {
  return defer(() => {
    const problems = structureProblems(tasks, [...options.tools.keys()]);
    if (problems.length > 0) return throwError(() => rejected(problems));
    return new Observable<TaskEvent>((subscriber) => {
      const execution = new Execution(tasks, options, (event) => subscriber.next(event));
      return execution.run().subscribe(subscriber);
    });
  });
}

/** Permission to begin the most urgent task that is ready. */
type Turn = 'turn';

class Execution {
  #tasks: readonly Task[];
  readonly #options: ExecuteOptions;
  readonly #tell: (event: TaskEvent) => void;
  readonly #begun = new Set<string>();
  readonly #results: Map<string, TaskResult>;
  readonly #gaps: Map<string, string>;
  readonly #added = new Subject<Turn>();
  #working = 0;

  constructor(tasks: readonly Task[], options: ExecuteOptions, tell: (event: TaskEvent) => void) {
    this.#tasks = tasks;
    this.#options = options;
    this.#tell = tell;
    this.#results = new Map(options.over?.results);
    this.#gaps = new Map(options.over?.gaps);
  }

  run(): Observable<never> {
    const { concurrency = CONCURRENCY, changes$ = NEVER } = this.#options;
    const count = this.#ready().length;
    if (count === 0) return EMPTY;
    const over = new Subject<void>();
    const changed$ = changes$.pipe(
      tap((change) => this.#change(change)),
      takeUntil(over),
      ignoreElements(),
    );
    const work$ = merge(turns(count), this.#added).pipe(
      expandQueue<Turn>(() => this.#begin(), { concurrency }),
      tap({ complete: () => over.next() }),
      ignoreElements(),
    );
    return merge(changed$, work$);
  }

  #isOver(id: string): boolean {
    return this.#results.has(id) || this.#gaps.has(id);
  }

  #ready(): readonly Task[] {
    return this.#tasks
      .filter(
        ({ task_id, depends_on }) =>
          !this.#begun.has(task_id) && !this.#isOver(task_id) && depends_on.every((id) => this.#isOver(id)),
      )
      .sort((a, b) => a.priority - b.priority);
  }

  #change({ tasks, given }: ChangedTasks): void {
    const before = new Set(this.#ready().map(({ task_id }) => task_id));
    const begun = this.#tasks.filter(({ task_id }) => this.#begun.has(task_id) || this.#isOver(task_id));
    const kept = new Set(begun.map(({ task_id }) => task_id));
    this.#tasks = [...begun, ...tasks.filter(({ task_id }) => !kept.has(task_id))];
    if (given !== undefined && !kept.has(given[0])) this.#results.set(...given);
    const fresh = this.#ready().filter(({ task_id }) => !before.has(task_id));
    for (let at = 0; at < fresh.length; at += 1) this.#added.next('turn');
  }

  /** Does the most urgent task that is ready; then lets those begin that waited for it. */
  #begin(): Observable<Turn> {
    const task = this.#ready()[0];
    if (task === undefined) return this.#after(new Set());
    const { task_id, tool } = task;
    this.#begun.add(task_id);
    this.#working += 1;
    const others = new Set(this.#ready().map((one) => one.task_id));
    const begunAt = this.#options.now();
    const finished = (end: Pick<TaskFinished, 'status' | 'problem'>): void => {
      this.#tell({ type: 'task_finished', task_id, ms: Math.max(0, this.#options.now() - begunAt), ...end });
    };
    const missing = this.#missing(task);
    if (missing !== undefined) {
      this.#gaps.set(task_id, missing);
      finished({ status: 'skipped', problem: missing });
    } else this.#tell({ type: 'task_started', task_id, tool, status: 'running' });
    const work$ = missing !== undefined ? EMPTY : this.#work(task);
    const settled$ = work$.pipe(
      tap((result) => {
        this.#results.set(task_id, result);
        finished({ status: 'done' });
      }),
      catchError((error: unknown) => {
        const problem = EngineError.is(error) ? error.message : String(error);
        this.#gaps.set(task_id, problem);
        finished({ status: 'failed', problem });
        return EMPTY;
      }),
      ignoreElements(),
    );
    return concat(
      settled$,
      defer(() => {
        this.#working -= 1;
        return this.#after(others);
      }),
    );
  }

  /** Turns for what became ready; the end where nothing is at work or ready. */
  #after(before: ReadonlySet<string>): Observable<Turn> {
    const ready = this.#ready();
    if (ready.length === 0 && this.#working === 0) this.#added.complete();
    return turns(ready.filter(({ task_id }) => !before.has(task_id)).length);
  }

  /** Why a task is not begun: it needs what others did not give. */
  #missing({ task_id, depends_on, expects }: Task): string | undefined {
    const missing = depends_on.filter((id) => this.#gaps.has(id));
    if (missing.length === 0 || !/^required\b/i.test(expects)) return undefined;
    return `Task "${task_id}" needs what ${missing.join(', ')} did not give.`;
  }

  #work(task: Task): Observable<TaskResult> {
    const { tools, othersOf, attemptsOf } = this.#options;
    const input: TaskInput = { results: pick(this.#results, task.depends_on), gaps: pick(this.#gaps, task.depends_on) };
    const names = [task.tool, ...(othersOf?.(task.tool) ?? [])].filter((name) => tools.has(name));
    return names.reduceRight<Observable<TaskResult>>(
      (next$, name) =>
        defer(() => (tools.get(name) as TaskTool)(task, input)).pipe(
          take(1),
          defaultIfEmpty(NOTHING),
          retryWith({ attempts: attemptsOf?.(name) ?? 1, delayMs: () => RETRY_MS, isRetryable: mayPass }),
          catchError((error: unknown) => (next$ === NO_MORE ? throwError(() => error) : orFirst(next$, error))),
        ),
      NO_MORE,
    );
  }
}

/** Whether a tool may do better when it is tried again: what it was given fits, and it was there to fail. */
function mayPass(error: unknown): boolean {
  return EngineError.is(error) && (error.retryable || error.code === 'TOOL_FAILED');
}

/** That nothing was found instead says less than why the task's own tool failed. */
function orFirst(next$: Observable<TaskResult>, first: unknown): Observable<TaskResult> {
  return next$.pipe(
    catchError((error: unknown) => {
      const isNothing = EngineError.is(error) && error.code === 'EVIDENCE_MISSING';
      return throwError(() => (isNothing ? first : error));
    }),
  );
}

const NOTHING: TaskResult = { answer: '', known: [] };
const NO_MORE: Observable<never> = throwError(() => new EngineError('TOOL_UNKNOWN', 'There is no tool for the task.'));

function turns(count: number): Observable<Turn> {
  return range(0, count).pipe(map((): Turn => 'turn'));
}

function pick<T>(from: ReadonlyMap<string, T>, ids: readonly string[]): ReadonlyMap<string, T> {
  return new Map(ids.flatMap((id) => (from.has(id) ? [[id, from.get(id) as T] as const] : [])));
}
