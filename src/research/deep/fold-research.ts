/** A research as one picture, folded from its events: the same while it works, behind a crash, and in lists. */
import type { Contradiction } from '../evidence/contradictions.js';
import type { ResearchEvidence } from '../evidence/evidence-table.js';
import type { TaskStatus } from '../plan/execute-plan.js';
import type { TaskPlan } from '../plan/task-plan.js';
import type { ResearchEvent, Verdict } from '../research-events.js';

/** How a sub-question stands. */
export type QuestionStatus = 'open' | 'answered' | 'unanswered' | 'dropped';

/** A sub-question and what became of it. */
export interface PicturedQuestion {
  readonly id: string;
  readonly text: string;
  readonly parent?: string;
  readonly dependsOn: readonly string[];
  readonly round: number;
  readonly status: QuestionStatus;
  /** Its answer; undefined before it has one. */
  readonly finding?: Finding;
}

/** The answer to a sub-question, and the evidence for it. */
export interface Finding {
  readonly id: string;
  readonly question: string;
  readonly answer: string;
  readonly supported_by: readonly string[];
  readonly confidence: number;
  readonly verdict: Verdict;
}

/** What is known of a research. */
export interface ResearchPicture {
  /** In the order in which they are worked off. */
  readonly questions: readonly PicturedQuestion[];
  readonly evidence: readonly ResearchEvidence[];
  /** Ids of the evidence of each question, the best first. */
  readonly read: ReadonlyMap<string, readonly string[]>;
  readonly contradictions: readonly Contradiction[];
  readonly round: number;
  /** Of a research by a plan, once there is one. */
  readonly planned?: PicturedPlan;
}

/** A plan, and how it stands. */
export interface PicturedPlan {
  readonly plan: TaskPlan;
  readonly tools: readonly string[];
  /** Of tasks that have begun. */
  readonly tasks: ReadonlyMap<string, TaskStatus | 'running'>;
}

/** A research of which nothing is known. */
export const EMPTY_PICTURE: ResearchPicture = {
  questions: [],
  evidence: [],
  read: new Map(),
  contradictions: [],
  round: 1,
};

/** Sources of a report. */
const MAX_SOURCES = 40;

/** Verdicts by which an answer counts. */
const COUNTS: ReadonlySet<Verdict> = new Set(['supported', 'quoted', 'given', 'calculated']);

/** Whether a finding is a fact. */
export function isFact({ answer, verdict }: Pick<Finding, 'answer' | 'verdict'>): boolean {
  return answer !== '' && COUNTS.has(verdict);
}

/** The picture behind one more event. */
export function foldResearch(picture: ResearchPicture, event: ResearchEvent): ResearchPicture {
  switch (event.type) {
    case 'question': {
      if (picture.questions.some(({ id }) => id === event.id)) return picture;
      const { id, text, parent, depends_on: dependsOn, round } = event;
      const added = { id, text, dependsOn, round, status: 'open', ...(parent !== undefined && { parent }) } as const;
      return { ...picture, questions: [...picture.questions, added], round: Math.max(picture.round, round) };
    }
    case 'evidence': {
      const known = new Set(picture.evidence.map(({ id }) => id));
      const fresh = event.items.filter(({ id }) => !known.has(id));
      const before = picture.read.get(event.question) ?? [];
      const ids = [...new Set([...before, ...event.items.map(({ id }) => id)])];
      return {
        ...picture,
        evidence: [...picture.evidence, ...fresh],
        read: new Map(picture.read).set(event.question, ids),
      };
    }
    case 'finding': {
      const { question: id, text, answer, supported_by, confidence, verdict } = event;
      const finding = { id, question: text, answer, supported_by, confidence, verdict };
      return changed(picture, id, (one) =>
        one.status === 'dropped' ? one : { ...one, status: isFact(finding) ? 'answered' : 'unanswered', finding },
      );
    }
    case 'plan':
      return { ...picture, planned: { plan: event.plan, tools: event.tools, tasks: new Map() } };
    case 'plan_changed':
      return picture.planned === undefined
        ? picture
        : { ...picture, planned: { ...picture.planned, plan: event.plan } };
    case 'task_started':
    case 'task_finished': {
      if (picture.planned === undefined) return picture;
      const tasks = new Map(picture.planned.tasks).set(event.task_id, event.status);
      return { ...picture, planned: { ...picture.planned, tasks } };
    }
    case 'contradiction':
      return { ...picture, contradictions: [...picture.contradictions, { a: event.a, b: event.b, why: event.why }] };
    case 'steered':
      if (event.action === 'drop') return changed(picture, event.question, (one) => ({ ...one, status: 'dropped' }));
      if (event.action === 'order') return { ...picture, questions: inOrder(picture.questions, event.questions) };
      return picture;
    default:
      return picture;
  }
}

function changed(
  picture: ResearchPicture,
  id: string,
  change: (question: PicturedQuestion) => PicturedQuestion,
): ResearchPicture {
  return { ...picture, questions: picture.questions.map((one) => (one.id === id ? change(one) : one)) };
}

function inOrder(questions: readonly PicturedQuestion[], ids: readonly string[]): readonly PicturedQuestion[] {
  const first = ids.flatMap((id) => questions.find((one) => one.id === id) ?? []);
  return [...new Set([...first, ...questions])];
}

/** The facts of a research, in the order of their questions. */
export function factsOf({ questions }: ResearchPicture): readonly Finding[] {
  return questions.flatMap(({ finding, status }) => (status === 'answered' && finding !== undefined ? [finding] : []));
}

/** What of `evidence` a report may cite; its place is its number, from 1: that of facts in their order, of contradictions, then `others` by id. */
export function citableEvidence(
  picture: ResearchPicture,
  evidence: readonly ResearchEvidence[],
  others: readonly string[] = [],
): readonly ResearchEvidence[] {
  const ids = new Set(factsOf(picture).flatMap(({ supported_by }) => supported_by));
  for (const { a, b } of picture.contradictions) for (const id of [a, b]) ids.add(id);
  for (const id of others) ids.add(id);
  const byId = new Map(evidence.map((one) => [one.id, one]));
  return [...ids].flatMap((id) => byId.get(id) ?? []).slice(0, MAX_SOURCES);
}

/** The answer of the last fact that no other question waits for. */
export function answerOf(picture: ResearchPicture): string | undefined {
  const needed = new Set(picture.questions.flatMap(({ dependsOn }) => dependsOn));
  return factsOf(picture).findLast(({ id }) => !needed.has(id))?.answer;
}
