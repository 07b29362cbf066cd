/** The search of a question by its parts: decompose, retrieve, read, verify, gaps, again, write. */
import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  forkJoin,
  ignoreElements,
  map,
  merge,
  Observable,
  of,
  ReplaySubject,
  range,
  Subject,
  take,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { expandQueue } from '../../operators/expand-queue.js';
import { askCall, askingAbout } from '../calls/ask-call.js';
import { EvidenceTable, type FoundEvidence, type ResearchEvidence } from '../evidence/evidence-table.js';
import type { ResearchEvent } from '../research-events.js';
import type { Steer } from '../steer.js';
import type { ResearchPlace, ResearchPorts } from './deep-ports.js';
import type { Depth } from './depths.js';
import {
  EMPTY_PICTURE,
  factsOf,
  foldResearch,
  isFact,
  type PicturedQuestion,
  type ResearchPicture,
} from './fold-research.js';
import { type Action, nextAction } from './ladder.js';
import { BESIDE, FOUND_AT_ONCE, NOT_READ, partOf, READ_AT_ONCE, rankByRank, WHOLE } from './looks.js';
import { type Reading, readQuestion } from './read-question.js';
import { questionsByRules, type SubQuestion, usableQuestions, withAnswers } from './sub-questions.js';
import { contradictionsOfFacts, validateFindings } from './validate-findings.js';
import { writeReport } from './write-report.js';

/** What is researched. */
export interface DeepRequest {
  readonly question: string;
  readonly depth: Depth;
  /** What is known already. @default nothing */
  readonly known?: readonly string[] | undefined;
  /** false: ends with its findings, without a report. @default true */
  readonly writes?: boolean | undefined;
}

/** Sub-questions that are worked off at the same time. */
const CONCURRENCY = 4;
/** Below it an answer is too uncertain to count while there is another look. */
const SURE = 0.3;

/**
 * Researches one question; cold, one subscription is one research. Unsubscribing ends everything that is at work for it.
 *
 * The frontier of open sub-questions is an expand: each that is over lets those begin that wait for it, and the last one of a round leads to the next round.
 * What is known is a scan of the events. At most four are at work.
 *
 * ```text
 * decompose  --d|
 * q1           -s--f|            (searched, finding)
 * q2 {q1}           -s--f|
 * q3           -s------f|
 * gaps                   -g|     (validated; rounds follow, or none)
 * report                   -t-t-F|
 * ```
 *
 * Never fails, and ends with `final` unless it is not to write: what a model does not give, rules do; what the budget does not allow is left out and named.
 */
export function runDeepSearch(request: DeepRequest, ports: ResearchPorts): Observable<ResearchEvent> {
  return new Observable((subscriber) => {
    const search = new DeepSearch(request, ports, (event) => subscriber.next(event));
    return search.run().subscribe(subscriber);
  });
}

const NOTHING_CHANGED: Observable<readonly Steer[]> = of([]);

/** Permission to work off the first sub-question that is ready. */
type Turn = 'turn';

/** One question in one round is not split, and what it gives is not weighed. */
function isSingle({ rounds, questions }: Depth): boolean {
  return rounds === 1 && questions === 1;
}

class DeepSearch {
  readonly #request: DeepRequest;
  readonly #ports: ResearchPorts;
  readonly #report: (event: ResearchEvent) => void;
  readonly #table = new EvidenceTable();
  readonly #begun = new Set<string>();
  readonly #found = new Map<string, readonly ResearchEvidence[]>();
  readonly #added = new Subject<Turn>();
  readonly #cut = new Subject<void>();
  readonly #dropped = new Subject<string>();
  readonly #waiting: Steer[] = [];
  #picture: ResearchPicture = EMPTY_PICTURE;
  #working = 0;
  #round = 1;
  #isCut = false;
  #missing: readonly string[] = [];
  #outcome: Action = 'unanswerable';
  #failedPlaces = 0;

  constructor(request: DeepRequest, ports: ResearchPorts, tell: (event: ResearchEvent) => void) {
    this.#request = request;
    this.#ports = ports;
    this.#report = tell;
  }

  run(): Observable<never> {
    const { asking, steers$ = NOTHING_CHANGED } = this.#ports;
    const { workMs } = asking.budget;
    const time$ =
      workMs === undefined
        ? EMPTY
        : timer(workMs).pipe(
            tap(() => this.#cutShort()),
            ignoreElements(),
          );
    const begun = new ReplaySubject<void>(1);
    const steered$ = steers$.pipe(
      tap((steers) => {
        for (const steer of steers) this.#steer(steer);
        begun.next();
      }),
      ignoreElements(),
    );
    const written = new Subject<void>();
    const work$ = concat(
      begun.pipe(take(1), ignoreElements()),
      defer(() => merge(this.#searchWhole(), this.#decompose()).pipe(takeUntil(this.#cut))),
      defer(() => this.#frontier()),
      defer(() => (this.#request.writes === false ? EMPTY : this.#write())),
      defer(() => {
        written.next();
        return EMPTY;
      }),
    );
    // Steers and the clock come first: what is stored of a run before counts from its beginning.
    return merge(merge(steered$, time$).pipe(takeUntil(written)), work$).pipe(ignoreElements());
  }

  #tell(event: ResearchEvent): void {
    this.#picture = foldResearch(this.#picture, event);
    this.#report(event);
  }

  #decompose(): Observable<never> {
    const { question, depth, known = [] } = this.#request;
    const input = { question, known, limit: depth.questions };
    const split$ = isSingle(depth)
      ? of([])
      : askCall(this.#ports.asking, 'research_decompose', input).pipe(
          map(({ sub_questions }) => usableQuestions(sub_questions, depth.questions)),
          catchError(() => of(questionsByRules(question, depth.questions))),
        );
    return split$.pipe(
      map((questions) => (questions.length > 0 ? questions : [{ id: 'q1', question, dependsOn: [] }])),
      tap((questions) => {
        for (const one of questions) this.#open(one);
        this.#steerAgain();
      }),
      ignoreElements(),
    );
  }

  #open({ id, question, dependsOn }: SubQuestion, parent?: string): void {
    const about = { id, text: question, depends_on: dependsOn, round: this.#round };
    this.#tell({ type: 'question', ...about, ...(parent !== undefined && { parent }) });
  }

  /** Open sub-questions whose dependencies are over and that are not at work, in their order. */
  #ready(): readonly PicturedQuestion[] {
    const { questions } = this.#picture;
    const isOpen = (id: string): boolean => questions.some((one) => one.id === id && one.status === 'open');
    return questions.filter(
      ({ id, status, dependsOn }) => status === 'open' && !this.#begun.has(id) && !dependsOn.some(isOpen),
    );
  }

  #frontier(): Observable<never> {
    if (this.#isCut) return EMPTY;
    const turns$ = merge(range(0, this.#ready().length).pipe(map((): Turn => 'turn')), this.#added);
    return turns$.pipe(
      expandQueue<Turn>(() => this.#workOff(), { concurrency: CONCURRENCY }),
      takeUntil(this.#cut),
      ignoreElements(),
    );
  }

  /** Works off the first sub-question that is ready; emits a turn for each that may begin behind it. */
  #workOff(): Observable<Turn> {
    const next = this.#ready()[0];
    if (next === undefined) return this.#working === 0 ? this.#endRound() : EMPTY;
    const { id } = next;
    this.#begun.add(id);
    this.#working += 1;
    const before = new Set(this.#ready().map((one) => one.id));
    const work$ = concat(
      this.#search(next),
      defer(() => this.#read(next)),
    ).pipe(takeUntil(this.#dropped.pipe(concatMap((dropped) => (dropped === id ? of(dropped) : EMPTY)))));
    return concat(
      work$,
      defer((): Observable<Turn> => {
        this.#working -= 1;
        this.#tellBudget();
        const ready = this.#ready().filter((one) => !before.has(one.id));
        if (ready.length > 0) return range(0, ready.length).pipe(map((): Turn => 'turn'));
        return this.#working === 0 && this.#ready().length === 0 ? this.#endRound() : EMPTY;
      }),
    );
  }

  #textOf({ text, dependsOn }: PicturedQuestion): string {
    const answers = dependsOn.map((id): [string, string | undefined] => {
      const finding = this.#picture.questions.find((one) => one.id === id)?.finding;
      return [id, finding !== undefined && isFact(finding) ? finding.answer : undefined];
    });
    return withAnswers({ question: text }, new Map(answers));
  }

  /** The question as it is, for what its parts do not find; costs no call of a model. */
  #searchWhole(): Observable<never> {
    return this.#searchFor(WHOLE, this.#request.question).pipe(
      tap(({ all }) => this.#tell({ type: 'evidence', question: WHOLE, items: all })),
      ignoreElements(),
    );
  }

  #search(question: PicturedQuestion): Observable<never> {
    return this.#searchFor(question.id, this.#textOf(question)).pipe(
      tap(({ all }) => this.#found.set(question.id, all)),
      ignoreElements(),
    );
  }

  /** All places at the same time; what they find as one list, a place after the other, rank by rank. */
  #searchFor(id: string, text: string): Observable<{ readonly all: readonly ResearchEvidence[] }> {
    const { places, now } = this.#ports;
    if (text === '' || places.length === 0) return of({ all: [] });
    const searches = places.map((place) => this.#searchIn(place, id, text));
    return forkJoin(searches).pipe(map((lists) => this.#table.add(rankByRank(lists), id, now())));
  }

  #searchIn(place: ResearchPlace, id: string, text: string): Observable<readonly FoundEvidence[]> {
    return defer(() => {
      const { now } = this.#ports;
      const begunAt = now();
      return place.find(text, FOUND_AT_ONCE).pipe(
        catchError(() => {
          this.#failedPlaces += 1;
          return of([]);
        }),
        tap((found) => {
          const ms = Math.max(0, now() - begunAt);
          const about = { question: id, where: place.where, found: found.length, ms };
          const unread = found.flatMap(({ url, unread: why }) => (url && why ? [{ url, why }] : []));
          this.#tell({ type: 'searched', ...about, ...(unread.length > 0 && { unread }) });
        }),
      );
    });
  }

  #read(question: PicturedQuestion): Observable<never> {
    const { depth } = this.#request;
    const text = this.#textOf(question);
    const found = this.#found.get(question.id) ?? [];
    const isBroken = question.dependsOn.some((id) => !this.#hasAnswer(id));
    // Half a question has no answer; what was found for it is evidence all the same.
    const looks = isBroken ? 0 : depth.looks;
    this.#tell({ type: 'evidence', question: question.id, items: found.slice(0, READ_AT_ONCE) });
    return this.#look(text, found, 0, looks, undefined, question.id).pipe(
      tap((reading) => this.#tell({ type: 'finding', question: question.id, text, ...reading })),
      ignoreElements(),
    );
  }

  #hasAnswer(id: string): boolean {
    return this.#picture.questions.some((one) => one.id === id && one.status === 'answered');
  }

  /** Looks, and once more at what is left, or at all of it, while the answer is none, is not borne out, or is unsure. */
  #look(
    text: string,
    found: readonly ResearchEvidence[],
    at: number,
    looks: number,
    best: Reading | undefined,
    id: string,
  ): Observable<Reading> {
    const part = partOf(found, at, best);
    if (at >= looks || part.length === 0) return of(best ?? NOT_READ);
    if (at > 0) this.#tell({ type: 'evidence', question: id, items: part });
    return readQuestion(askingAbout(this.#ports.asking, id), text, part).pipe(
      concatMap((reading) => {
        if (isFact(reading) && reading.confidence >= SURE) return of(reading);
        const better = best !== undefined && isFact(best) && !isFact(reading) ? best : reading;
        return this.#look(text, found, at + 1, looks, better, id);
      }),
    );
  }

  /** Decides what follows a round; emits a turn for each question of the next one. */
  #endRound(): Observable<Turn> {
    return defer(() => this.#validate()).pipe(
      concatMap(({ isSufficient, missing }) => {
        const action = nextAction(this.#standing(isSufficient, missing));
        this.#missing = missing;
        this.#outcome = action;
        this.#tell({ type: 'gap', missing, action });
        if (action === 'follow_up') return this.#followUp(missing);
        return this.#over();
      }),
    );
  }

  #over(): Observable<never> {
    this.#added.complete();
    return EMPTY;
  }

  #standing(isSufficient: boolean, missing: readonly string[]) {
    const { questions, contradictions } = this.#picture;
    const { depth } = this.#request;
    const isFull = questions.length >= depth.questions;
    const answered = questions.filter(({ status }) => status === 'answered');
    return {
      isSufficient,
      missing,
      answered: answered.length,
      roundsLeft: isFull ? 0 : depth.rounds - this.#round,
      isCut: this.#isCut || (this.#failedPlaces > 0 && this.#table.items.length === 0),
      contradictions: contradictions.length,
    };
  }

  /** What a model says of the findings; by rules they suffice when what nothing else waits for is answered. */
  #validate(): Observable<{ readonly isSufficient: boolean; readonly missing: readonly string[] }> {
    const { question, depth } = this.#request;
    const facts = factsOf(this.#picture);
    this.#contradictByRules();
    if (facts.length === 0) return of({ isSufficient: false, missing: this.#unansweredTexts() });
    const byRules = { isSufficient: this.#isAnsweredByRules(), missing: [] };
    if (isSingle(depth)) return of(byRules);
    return validateFindings(this.#ports.asking, question, facts).pipe(
      tap(({ contradictions }) => {
        for (const one of contradictions) this.#contradict(one);
      }),
      catchError(() => of(byRules)),
    );
  }

  #unansweredTexts(): readonly string[] {
    return this.#picture.questions.filter(({ status }) => status === 'unanswered').map((one) => this.#textOf(one));
  }

  #isAnsweredByRules(): boolean {
    const { questions } = this.#picture;
    const isNeeded = new Set(questions.flatMap(({ dependsOn }) => dependsOn));
    return questions.every(({ id, status }) => isNeeded.has(id) || status === 'answered' || status === 'dropped');
  }

  #contradictByRules(): void {
    const facts = factsOf(this.#picture);
    const ids = facts.flatMap(({ supported_by }) => supported_by);
    const beside = this.#picture.questions.flatMap(({ id }) => this.#picture.read.get(id)?.slice(0, BESIDE) ?? []);
    const looked = [...new Set([...ids, ...beside])].flatMap((id) => this.#table.find(id) ?? []);
    for (const one of contradictionsOfFacts(facts, looked)) this.#contradict(one);
  }

  #contradict(one: { readonly a: string; readonly b: string; readonly why: string }): void {
    const isKnown = this.#picture.contradictions.some(({ a, b }) => a === one.a && b === one.b);
    if (!isKnown) this.#tell({ type: 'contradiction', a: one.a, b: one.b, why: one.why });
  }

  #followUp(missing: readonly string[]): Observable<Turn> {
    const { question, depth } = this.#request;
    const findings = factsOf(this.#picture).map(({ id, question: text, answer }) => ({ id, question: text, answer }));
    return askCall(this.#ports.asking, 'research_followups', { question, findings, missing }).pipe(
      map(({ questions }) => questions),
      catchError(() => of([])),
      concatMap((questions) => {
        const known = new Set(this.#picture.questions.map((one) => this.#textOf(one).toLowerCase()));
        const room = depth.questions - this.#picture.questions.length;
        const fresh = questions.map((one) => one.trim()).filter((one) => one !== '' && !known.has(one.toLowerCase()));
        if (fresh.length === 0 || this.#isCut) {
          this.#outcome = factsOf(this.#picture).length > 0 ? 'answer_with_caveat' : 'unanswerable';
          this.#tell({ type: 'gap', missing, action: this.#outcome });
          return this.#over();
        }
        this.#round += 1;
        const asked = fresh.slice(0, Math.max(0, room));
        for (const [at, text] of asked.entries()) {
          this.#open({ id: this.#freeId(`r${this.#round}_${at + 1}`), question: text, dependsOn: [] });
        }
        this.#steerAgain();
        return range(0, asked.length).pipe(map((): Turn => 'turn'));
      }),
    );
  }

  #freeId(wanted: string): string {
    const known = new Set(this.#picture.questions.map(({ id }) => id));
    let id = wanted;
    for (let at = 2; known.has(id); at += 1) id = `${wanted}_${at}`;
    return id;
  }

  /** What names questions that are not there yet waits for them: behind a crash changes come before the questions. */
  #steer(steer: Steer): void {
    const named =
      steer.action === 'order'
        ? steer.questions
        : 'question' in steer && steer.action !== 'add'
          ? [steer.question]
          : [];
    if (named.length > 0 && !this.#picture.questions.some(({ id }) => named.includes(id))) {
      this.#waiting.push(steer);
      return;
    }
    this.#tell({ type: 'steered', ...steer });
    switch (steer.action) {
      case 'add':
        this.#open({ id: this.#freeId('u1'), question: steer.question, dependsOn: [] });
        this.#added.next('turn');
        return;
      case 'drop':
        this.#dropped.next(steer.question);
        return;
      case 'answer': {
        const one = this.#picture.questions.find(({ id }) => id === steer.question);
        if (one === undefined) return;
        const given = { answer: steer.answer, supported_by: [], confidence: 1, verdict: 'given' } as const;
        this.#tell({ type: 'finding', question: one.id, text: this.#textOf(one), ...given });
        this.#begun.add(one.id);
        this.#dropped.next(one.id);
        this.#added.next('turn');
        return;
      }
      case 'exclude':
        this.#table.exclude(steer.source);
        return;
      case 'enough':
        this.#cutShort();
        return;
      default:
        return;
    }
  }

  #steerAgain(): void {
    for (const steer of this.#waiting.splice(0)) this.#steer(steer);
  }

  #cutShort(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.#cut.next();
    this.#added.complete();
  }

  #tellBudget(): void {
    const { budget } = this.#ports.asking;
    this.#tell({ type: 'budget', ...budget.standing });
  }

  #write(): Observable<never> {
    if (this.#isCut) {
      this.#outcome = nextAction(this.#standing(false, this.#missing));
      this.#tell({ type: 'gap', missing: this.#missing, action: this.#outcome });
    }
    return defer(() =>
      writeReport({
        question: this.#request.question,
        picture: this.#picture,
        evidence: this.#table.items.filter((one) => !this.#table.isExcluded(one)),
        outcome: this.#outcome,
        missing: this.#missing,
        asking: this.#ports.asking,
      }),
    ).pipe(
      tap((event) => this.#tell(event)),
      ignoreElements(),
    );
  }
}
