/** Research by a plan: clarify, plan, approve, carry out, look for gaps, report. */
import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  finalize,
  ignoreElements,
  map,
  merge,
  Observable,
  of,
  ReplaySubject,
  Subject,
  startWith,
  take,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { languageOf } from '../../chat/intents/utterance.js';
import { askCall } from '../calls/ask-call.js';
import type { ResearchPlace, ResearchPorts } from '../deep/deep-ports.js';
import type { Depth } from '../deep/depths.js';
import { EMPTY_PICTURE, factsOf, foldResearch, type ResearchPicture } from '../deep/fold-research.js';
import { type Action, nextAction } from '../deep/ladder.js';
import { contradictionsOfFacts, type Validation, validateFindings } from '../deep/validate-findings.js';
import { EvidenceTable } from '../evidence/evidence-table.js';
import type { ClarifyQuestion, ResearchEvent } from '../research-events.js';
import type { Steer } from '../steer.js';
import { callTask } from './call-task.js';
import { changePlan } from './change-plan.js';
import { type ChangedTasks, executePlan, type TaskEvent, type TaskResult, type TaskTool } from './execute-plan.js';
import { clarificationsOf, makePlan } from './make-plan.js';
import type { PlanCall } from './plan-call.js';
import { depthOfTask, standInsFor } from './plan-tools.js';
import type { ReportForm } from './report-forms.js';
import { newTask, orderOfTasks } from './review-plan.js';
import { searchTask } from './search-task.js';
import type { TaskPlan } from './task-plan.js';
import { writeSections } from './write-sections.js';

/** What is researched by a plan. */
export interface PlannedRequest {
  readonly question: string;
  readonly depth: Depth;
  /** Whether people are asked what the question means, where the report would differ. */
  readonly clarifies: boolean;
  /** Whether the plan waits to be approved. */
  readonly waits: boolean;
  readonly form: ReportForm;
  /** The plan that is carried out; it was checked. @default one is made */
  readonly plan?: TaskPlan | undefined;
}

/** What a research by a plan works with. */
export interface PlannedPorts extends Omit<ResearchPorts, 'places'> {
  /** Where each tool searches, by its name; the first one is the usual one. */
  readonly tools: ReadonlyMap<string, readonly ResearchPlace[]>;
  /** Tools that are no searches, by name; none has the name of a search. @default none */
  readonly calls?: ReadonlyMap<string, PlanCall> | undefined;
}

/** Milliseconds that are waited for answers, after which those count that the questions have by themselves. */
const CLARIFY_MS = 600_000;
/** Milliseconds that are waited for an approval, after which nothing is carried out. */
const APPROVE_MS = 1_800_000;
/** Times that a tool is called which is no search, before another one is tried. */
const CALL_ATTEMPTS = 2;
/** Times that tasks are added for what is missing. */
const MAX_REPLANS = 2;
/** Behind an answer that no person gave. */
const ASSUMED = { en: '(assumed)', zh: '（默认）' } as const;
const NOTHING_CHANGED: Observable<readonly Steer[]> = of([]);

/**
 * Researches one question by a plan; cold, one subscription is one research. Unsubscribing ends everything that is at work for it.
 *
 * ```text
 * clarify   --c  a              (asked; answered)
 * plan            --p  A        (shown; approved)
 * task 1                --r|
 * task 2 (1)               --r|
 * gaps                        -g|       (tasks are added, twice at most, or none)
 * report                        --t-t-F|
 * ```
 *
 * Never fails, and always ends with `final`: what a model does not give, rules do; what the budget does not allow is left out and named. Waiting for people
 * does not count as time of the budget.
 */
export function runPlannedResearch(request: PlannedRequest, ports: PlannedPorts): Observable<ResearchEvent> {
  return new Observable((subscriber) => {
    const research = new PlannedResearch(request, ports, (event) => subscriber.next(event));
    return research.run().subscribe(subscriber);
  });
}

class PlannedResearch {
  readonly #request: PlannedRequest;
  readonly #ports: PlannedPorts;
  readonly #report: (event: ResearchEvent) => void;
  /** Names of all tools; of those that a planner may choose. */
  readonly #tools: readonly string[];
  readonly #offered: readonly string[];
  readonly #cut = new Subject<void>();
  readonly #answers = new ReplaySubject<Readonly<Record<string, string>>>(1);
  readonly #approved = new ReplaySubject<void>(1);
  readonly #changes = new Subject<ChangedTasks>();
  readonly #excluded: Steer[] = [];
  readonly #exclusions = new Subject<Steer>();
  /** Changes of a plan that is not there yet. */
  readonly #early: Steer[] = [];
  readonly #results = new Map<string, TaskResult>();
  readonly #gaps = new Map<string, string>();
  #picture: ResearchPicture = EMPTY_PICTURE;
  #plan: TaskPlan | undefined;
  #clarifications: readonly string[] = [];
  readonly #assumed: string[] = [];
  #missing: readonly string[] = [];
  #outcome: Action = 'unanswerable';
  #workedMs = 0;
  #replans = 0;
  #isCut = false;
  #isWriting = false;

  constructor(request: PlannedRequest, ports: PlannedPorts, tell: (event: ResearchEvent) => void) {
    this.#request = request;
    this.#ports = ports;
    this.#report = tell;
    const { tools, calls = new Map<string, PlanCall>() } = ports;
    this.#tools = [...tools.keys(), ...calls.keys()];
    this.#offered = [...tools.keys(), ...[...calls].flatMap(([name, { isOffered }]) => (isOffered ? [name] : []))];
  }

  run(): Observable<never> {
    const { steers$ = NOTHING_CHANGED } = this.#ports;
    const begun = new ReplaySubject<void>(1);
    const written = new Subject<void>();
    const steered$ = steers$.pipe(
      tap((steers) => {
        for (const steer of steers) this.#steer(steer);
        begun.next();
      }),
      ignoreElements(),
      takeUntil(written),
    );
    const work$ = concat(
      begun.pipe(take(1), ignoreElements()),
      this.#clarify(),
      this.#within(() => this.#makePlan()),
      this.#awaitApproval(),
      this.#within(() => this.#carryOut()),
      defer(() => this.#write()),
    );
    return merge(steered$, work$.pipe(tap({ complete: () => written.next() })));
  }

  #tell(event: ResearchEvent): void {
    this.#picture = foldResearch(this.#picture, event);
    this.#report(event);
  }

  /** Work that ends when a person or the time says so; together it takes no longer than the budget allows. */
  #within(work: () => Observable<never>): Observable<never> {
    return defer(() => {
      if (this.#isCut) return EMPTY;
      const { asking, now } = this.#ports;
      const { workMs } = asking.budget;
      const begunAt = now();
      const left$ = workMs === undefined ? EMPTY : timer(Math.max(0, workMs - this.#workedMs));
      const cut$ = merge(this.#cut, left$.pipe(tap(() => this.#cutShort())));
      return work().pipe(
        takeUntil(cut$),
        finalize(() => {
          this.#workedMs += Math.max(0, now() - begunAt);
        }),
      );
    });
  }

  #clarify(): Observable<never> {
    const { clarifies, question } = this.#request;
    if (!clarifies) return EMPTY;
    let asked: readonly ClarifyQuestion[] = [];
    const ask$ = this.#within(() =>
      clarificationsOf(this.#ports.asking, question).pipe(
        tap((questions) => {
          asked = questions;
        }),
        ignoreElements(),
      ),
    );
    const wait$ = defer(() => {
      if (asked.length === 0 || this.#isCut) return EMPTY;
      this.#tell({ type: 'clarify', form: { questions: asked } });
      const late$ = timer(CLARIFY_MS).pipe(map(() => ({})));
      return merge(this.#answers, late$).pipe(
        take(1),
        tap((answers) => this.#takeAnswers(asked, answers)),
        takeUntil(this.#cut),
        ignoreElements(),
      );
    });
    return concat(ask$, wait$);
  }

  /** What is not answered is as its default says; the plan and the report name that. */
  #takeAnswers(asked: readonly ClarifyQuestion[], answers: Readonly<Record<string, string>>): void {
    const given = new Map(Object.entries(answers));
    const mark = ASSUMED[languageOf(this.#request.question)];
    const clarifications: string[] = [];
    for (const { id, question, default: usual } of asked) {
      const answer = given.get(id) ?? '';
      if (answer !== '') clarifications.push(`${question} ${answer}`);
      else if (usual !== '') {
        clarifications.push(`${question} ${usual} ${mark}`);
        this.#assumed.push(`${question} ${usual}`);
      }
    }
    this.#clarifications = clarifications;
  }

  #makePlan(): Observable<never> {
    const { question, depth, waits, plan: given } = this.#request;
    const { asking, calls } = this.#ports;
    const wish = { question, clarifications: this.#clarifications, most: depth.questions, tools: this.#offered, calls };
    return (given === undefined ? makePlan(wish, asking) : of(given)).pipe(
      tap((plan) => {
        this.#plan = plan;
        this.#tell({ type: 'plan', plan, tools: this.#tools, waits });
        for (const steer of this.#early.splice(0)) this.#change(steer);
      }),
      ignoreElements(),
    );
  }

  #awaitApproval(): Observable<never> {
    return defer(() => {
      if (!this.#request.waits || this.#plan === undefined || this.#isCut) return EMPTY;
      const late$ = timer(APPROVE_MS).pipe(tap(() => this.#cutShort()));
      return this.#approved.pipe(take(1), takeUntil(merge(this.#cut, late$)), ignoreElements());
    });
  }

  /** Carries out what of the plan is not over, and looks for what is missing then. */
  #carryOut(): Observable<never> {
    return defer(() => {
      const tools = new Map(this.#tools.map((name) => [name, this.#toolOf(name)]));
      const over = { results: this.#results, gaps: this.#gaps };
      const { calls } = this.#ports;
      const done$ = executePlan(this.#plan?.tasks ?? [], {
        tools,
        over,
        attemptsOf: (tool) => (calls?.get(tool)?.isRepeatable ? CALL_ATTEMPTS : 1),
        // No passage says what is to be calculated.
        othersOf: (tool) => (calls?.get(tool)?.isCalculation ? [] : standInsFor(tool, this.#tools)),
        changes$: this.#changes,
        now: this.#ports.now,
      }).pipe(
        tap((event) => this.#tellOfTask(event)),
        ignoreElements(),
      );
      return concat(
        done$,
        defer(() => this.#judge()),
      );
    });
  }

  #tellOfTask(event: TaskEvent): void {
    if (event.type === 'task_finished' && event.status !== 'done') {
      this.#gaps.set(event.task_id, event.problem ?? event.status);
    }
    this.#tell(event);
  }

  #toolOf(name: string): TaskTool {
    return (task, input) => {
      const { asking, now, tools, calls } = this.#ports;
      const steers$ = this.#exclusions.pipe(
        map((steer) => [steer]),
        startWith([...this.#excluded]),
      );
      const ports: ResearchPorts = { asking, now, places: tools.get(name) ?? [], steers$ };
      const depth = depthOfTask(name, this.#request.depth);
      const search = { depth, ports, tell: (event: ResearchEvent): void => this.#tell(event) };
      const call = calls?.get(name);
      const result$ = call === undefined ? searchTask(task, input, search) : callTask(task, input, call, search);
      return result$.pipe(tap((result) => this.#results.set(task.task_id, result)));
    };
  }

  /** Sub-questions in the order of their tasks, so that what is asked of a model does not depend on which was over first. */
  #inOrder(): ResearchPicture {
    const order = orderOfTasks(this.#plan?.tasks ?? []);
    const placeOf = (id: string): number => order.indexOf(id.split('/')[0] ?? '');
    const questions = [...this.#picture.questions].sort((a, b) => placeOf(a.id) - placeOf(b.id));
    const contradictions = [...this.#picture.contradictions].sort((a, b) =>
      `${a.a} ${a.b}`.localeCompare(`${b.a} ${b.b}`, 'en'),
    );
    return { ...this.#picture, questions, contradictions };
  }

  /** Decides what follows; tasks for what is missing are carried out, too. */
  #judge(): Observable<never> {
    return defer(() => this.#validate()).pipe(
      concatMap(({ isSufficient, missing, contradictions }) => {
        for (const one of contradictions) this.#contradict(one);
        const action = nextAction(this.#standing(isSufficient, missing));
        this.#missing = missing;
        this.#outcome = action;
        this.#tell({ type: 'gap', missing, action });
        this.#tellBudget();
        return action === 'follow_up' ? this.#replan(missing) : this.#added();
      }),
    );
  }

  /** What people added while the findings were looked at. */
  #added(): Observable<never> {
    const isOver = (id: string): boolean => this.#results.has(id) || this.#gaps.has(id);
    return (this.#plan?.tasks ?? []).every(({ task_id }) => isOver(task_id)) ? EMPTY : this.#carryOut();
  }

  #contradict(one: Validation['contradictions'][number]): void {
    const isKnown = this.#picture.contradictions.some(({ a, b }) => a === one.a && b === one.b);
    if (!isKnown) this.#tell({ type: 'contradiction', a: one.a, b: one.b, why: one.why });
  }

  #standing(isSufficient: boolean, missing: readonly string[]) {
    const { contradictions } = this.#picture;
    return {
      isSufficient,
      missing,
      answered: factsOf(this.#picture).length,
      roundsLeft: Math.min(MAX_REPLANS, this.#request.depth.rounds - 1) - this.#replans,
      isCut: this.#isCut,
      contradictions: contradictions.length,
    };
  }

  /** What a model says of the findings; by rules they suffice when every task gave something. */
  #validate(): Observable<Validation> {
    const picture = this.#inOrder();
    const facts = factsOf(picture);
    const open = (this.#plan?.tasks ?? []).filter(({ task_id }) => this.#gaps.has(task_id));
    if (facts.length === 0) {
      return of({ isSufficient: false, missing: open.map(({ description }) => description), contradictions: [] });
    }
    const ids = new Set(facts.flatMap(({ supported_by }) => supported_by));
    const between = contradictionsOfFacts(
      facts,
      picture.evidence.filter(({ id }) => ids.has(id)),
    );
    for (const one of between) this.#contradict(one);
    const byRules = { isSufficient: open.length === 0, missing: [], contradictions: [] };
    // The answer to the one task is that to the question.
    if (this.#plan?.tasks.length === 1) return of(byRules);
    return validateFindings(this.#ports.asking, this.#request.question, facts).pipe(catchError(() => of(byRules)));
  }

  #replan(missing: readonly string[]): Observable<never> {
    const { question, depth } = this.#request;
    const findings = factsOf(this.#inOrder()).map(({ id, question: text, answer }) => ({ id, question: text, answer }));
    return askCall(this.#ports.asking, 'research_followups', { question, findings, missing: [...missing] }).pipe(
      map(({ questions }) => questions),
      catchError(() => of([])),
      concatMap((questions) => {
        const plan = this.#plan as TaskPlan;
        const known = new Set(plan.tasks.map(({ description }) => description.toLowerCase()));
        const fresh = questions.map((one) => one.trim()).filter((one) => one !== '' && !known.has(one.toLowerCase()));
        const room = Math.max(0, depth.questions - plan.tasks.length);
        const tasks = [...plan.tasks];
        for (const one of fresh.slice(0, room)) tasks.push(newTask(tasks, one.slice(0, 2_000), this.#tools[0] ?? ''));
        if (tasks.length === plan.tasks.length) {
          this.#outcome = factsOf(this.#picture).length > 0 ? 'answer_with_caveat' : 'unanswerable';
          this.#tell({ type: 'gap', missing, action: this.#outcome });
          return this.#added();
        }
        this.#replans += 1;
        this.#plan = { ...plan, tasks };
        this.#tell({ type: 'plan_changed', plan: this.#plan, by: 'planner' });
        return this.#carryOut();
      }),
    );
  }

  #steer(steer: Steer): void {
    if (this.#isWriting) return;
    switch (steer.action) {
      case 'clarify':
        this.#tell({ type: 'steered', ...steer });
        this.#answers.next(steer.answers);
        return;
      case 'approve':
        this.#tell({ type: 'steered', ...steer });
        this.#approved.next();
        return;
      case 'exclude':
        this.#tell({ type: 'steered', ...steer });
        this.#excluded.push(steer);
        this.#exclusions.next(steer);
        return;
      case 'enough':
        this.#tell({ type: 'steered', ...steer });
        this.#cutShort();
        return;
      default:
        // Behind a crash changes come before the plan.
        if (this.#plan === undefined) this.#early.push(steer);
        else this.#change(steer);
    }
  }

  #change(steer: Steer): void {
    const plan = this.#plan as TaskPlan;
    const begun = new Set(this.#picture.planned?.tasks.keys());
    this.#tell({ type: 'steered', ...steer });
    if (steer.action === 'answer') {
      this.#answer(steer, plan, begun);
      return;
    }
    const changed = changePlan(plan, steer, { begun, tools: this.#tools });
    if (changed === undefined) return;
    this.#plan = changed;
    this.#tell({ type: 'plan_changed', plan: changed, by: 'user' });
    this.#changes.next({ tasks: changed.tasks });
  }

  /** The answer of a person is the result of a task that has not begun. */
  #answer(
    { question: id, answer }: Extract<Steer, { readonly action: 'answer' }>,
    { tasks }: TaskPlan,
    begun: ReadonlySet<string>,
  ): void {
    const task = tasks.find(({ task_id }) => task_id === id);
    if (task === undefined || begun.has(id)) return;
    const { description: text } = task;
    const result: TaskResult = { answer, known: [`${text} ${answer}`] };
    this.#results.set(id, result);
    this.#tell({ type: 'question', id, text, depends_on: [], round: 1 });
    const finding = { answer, supported_by: [], confidence: 1, verdict: 'given' } as const;
    this.#tell({ type: 'finding', question: id, text, ...finding });
    this.#tell({ type: 'task_finished', task_id: id, status: 'done', ms: 0 });
    this.#changes.next({ tasks, given: [id, result] });
  }

  #cutShort(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.#cut.next();
  }

  #tellBudget(): void {
    const { budget } = this.#ports.asking;
    this.#tell({ type: 'budget', ...budget.standing });
  }

  #write(): Observable<never> {
    this.#isWriting = true;
    if (this.#isCut) this.#tellCut();
    const { question, form } = this.#request;
    const { asking } = this.#ports;
    const picture = this.#inOrder();
    const table = new EvidenceTable();
    for (const steer of this.#excluded) if (steer.action === 'exclude') table.exclude(steer.source);
    const evidence = picture.evidence.filter((one) => !table.isExcluded(one));
    const found = { picture, evidence, outcome: this.#outcome, missing: this.#missing };
    const input = { question, ...found, asking, assumed: this.#assumed };
    return writeSections({ ...input, form }).pipe(
      tap((event) => this.#tell(event)),
      ignoreElements(),
    );
  }

  /** What was not carried out, and what the ladder says of that. */
  #tellCut(): void {
    const open = (this.#plan?.tasks ?? []).filter(({ task_id }) => {
      const status = this.#picture.planned?.tasks.get(task_id);
      return status === undefined || status === 'running';
    });
    for (const { task_id, description } of open) {
      const problem = `"${description}" was not worked off, for the research was ended.`;
      this.#tell({ type: 'task_finished', task_id, status: 'skipped', ms: 0, problem });
    }
    this.#missing = [...new Set([...this.#missing, ...open.map(({ description }) => description)])];
    this.#outcome = nextAction(this.#standing(false, this.#missing));
    this.#tell({ type: 'gap', missing: this.#missing, action: this.#outcome });
  }
}
