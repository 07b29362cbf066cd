/** What the screen of a research shows, folded from the events of its run: the same live, behind a reload and in a second tab. */
import type { RunEvent } from '../../src/graph/events.js';
import { isJsonObject, type JsonObject } from '../../src/json.js';
import { EMPTY_PICTURE, foldResearch, type ResearchPicture } from '../../src/research/deep/fold-research.js';
import type { Task } from '../../src/research/plan/task-plan.js';
import type { ClarifyForm, ResearchEvent, ResearchFinal } from '../../src/research/research-events.js';
import { RESEARCH_NODE, toResearchEvent } from '../../src/research/service/research-frames.js';
import type { Steer } from '../../src/research/steer.js';

export type ResearchStatus = 'running' | 'stopping' | 'succeeded' | 'failed' | 'cancelled';

type Told<T extends ResearchEvent['type']> = Extract<ResearchEvent, { readonly type: T }>;

/** What followed a round. */
export interface RoundEnd extends Pick<Told<'gap'>, 'missing' | 'action'> {
  readonly round: number;
}

/** A research as the screen shows it. */
export interface ResearchShown {
  /** Number of the last event; 0 before the first. */
  readonly lastSeq: number;
  readonly status: ResearchStatus;
  readonly question: string;
  /** What it was asked with, as the request had it. */
  readonly settings: JsonObject;
  /** Milliseconds since 1970; 0 before the first event. */
  readonly startedAt: number;
  readonly lastAt: number;
  /** Questions, evidence and the plan. */
  readonly picture: ResearchPicture;
  /** The form that waits for a person. */
  readonly clarify?: ClarifyForm | undefined;
  /** The plan waits to be approved. */
  readonly isWaiting: boolean;
  /** Tasks that were taken out of the plan. */
  readonly dropped: readonly Task[];
  /** How tasks ended, by id. */
  readonly ends: ReadonlyMap<string, Told<'task_finished'>>;
  /** Searches by the id of their question. */
  readonly searched: ReadonlyMap<string, readonly Told<'searched'>[]>;
  readonly rounds: readonly RoundEnd[];
  readonly budget?: Omit<Told<'budget'>, 'type'> | undefined;
  /** What people changed, the newest last. */
  readonly steers: readonly Steer[];
  /** Titles of the report's sections. */
  readonly outline: readonly string[];
  /** Markdown, as far as it is written. */
  readonly report: string;
  readonly final?: ResearchFinal | undefined;
  readonly error?: Told<'error'> | undefined;
}

export const NOTHING_SHOWN: ResearchShown = {
  ...{ lastSeq: 0, status: 'running', question: '', settings: {}, startedAt: 0, lastAt: 0 },
  ...{ picture: EMPTY_PICTURE, isWaiting: false, dropped: [], ends: new Map(), searched: new Map(), rounds: [] },
  ...{ steers: [], outline: [], report: '' },
};

/** Changes of people that are kept for the screen. */
const MAX_STEERS = 100;

/** What is shown behind one more event of the run. */
export function foldShown(shown: ResearchShown, event: RunEvent): ResearchShown {
  const { seq: lastSeq, at: lastAt } = event;
  if (event.type === 'run-started' && lastSeq === 1) {
    return { ...NOTHING_SHOWN, ...startOf(event.input), lastSeq, lastAt, startedAt: lastAt };
  }
  if (event.type === 'node-started' && event.node === RESEARCH_NODE && event.retractFrom !== undefined) {
    // The process was lost: what it told is told anew by another one.
    const { question, settings, startedAt } = shown;
    return { ...NOTHING_SHOWN, question, settings, startedAt, lastSeq, lastAt };
  }
  const told = toResearchEvent(event, '');
  if (told === undefined) return { ...shown, lastSeq, lastAt };
  return { ...withTold(shown, told), picture: foldResearch(shown.picture, told), lastSeq, lastAt };
}

function startOf(input: unknown): Pick<ResearchShown, 'question' | 'settings'> {
  const { query, variables } = isJsonObject(input) ? input : {};
  const settings = isJsonObject(variables) ? variables['sys.research'] : undefined;
  return { question: typeof query === 'string' ? query : '', settings: isJsonObject(settings) ? settings : {} };
}

function withTold(shown: ResearchShown, told: ResearchEvent): ResearchShown {
  switch (told.type) {
    case 'clarify':
      return { ...shown, clarify: told.form };
    case 'plan':
      return { ...shown, clarify: undefined, isWaiting: told.waits };
    case 'plan_changed':
      return { ...shown, dropped: droppedBy(shown, told.plan.tasks) };
    case 'task_started':
      return { ...shown, isWaiting: false };
    case 'task_finished':
      return { ...shown, ends: new Map(shown.ends).set(told.task_id, told) };
    case 'searched': {
      const before = shown.searched.get(told.question) ?? [];
      return { ...shown, searched: new Map(shown.searched).set(told.question, [...before, told]) };
    }
    case 'gap': {
      const { missing, action } = told;
      return { ...shown, rounds: [...shown.rounds, { round: shown.picture.round, missing, action }] };
    }
    case 'budget': {
      const { type: _, ...budget } = told;
      return { ...shown, budget };
    }
    case 'steered':
      return steered(shown, told);
    case 'report_outline':
      return { ...shown, isWaiting: false, outline: told.sections.map(({ title }) => title) };
    case 'token':
      return { ...shown, clarify: undefined, isWaiting: false, report: shown.report + told.content };
    case 'retract':
      return { ...shown, report: '' };
    case 'final':
      return { ...ended(shown, 'succeeded'), report: told.report, budget: told.budget, final: told };
    case 'error':
      return { ...ended(shown, told.code === 'RUN_CANCELLED' ? 'cancelled' : 'failed'), error: told };
    default:
      return shown;
  }
}

function steered(shown: ResearchShown, { type: _, ...steer }: Told<'steered'>): ResearchShown {
  const steers = [...shown.steers, steer as Steer].slice(-MAX_STEERS);
  const isAnswered = steer.action === 'clarify' || steer.action === 'enough';
  const isDecided = steer.action === 'approve' || steer.action === 'enough';
  return {
    ...shown,
    steers,
    clarify: isAnswered ? undefined : shown.clarify,
    isWaiting: shown.isWaiting && !isDecided,
  };
}

/** Tasks of the plan before that are not in the new one, behind those that were dropped earlier. */
function droppedBy({ dropped, picture }: ResearchShown, tasks: readonly Task[]): readonly Task[] {
  const kept = new Set(tasks.map(({ task_id }) => task_id));
  const gone = (picture.planned?.plan.tasks ?? []).filter(({ task_id }) => !kept.has(task_id));
  return [...dropped.filter(({ task_id }) => !kept.has(task_id)), ...gone];
}

const ended = (shown: ResearchShown, status: ResearchStatus): ResearchShown => ({
  ...shown,
  status,
  clarify: undefined,
  isWaiting: false,
});

/** Whether it is over: nothing of it can be changed. */
export const isOver = ({ status }: Pick<ResearchShown, 'status'>): boolean =>
  status !== 'running' && status !== 'stopping';
