/** The tree of a research: tasks, their questions, and the questions that follow from them; each with what was searched, read and found. */
import { isFact, type PicturedQuestion } from '../../../src/research/deep/fold-research.js';
import type { ResearchEvidence } from '../../../src/research/evidence/evidence-table.js';
import type { Task } from '../../../src/research/plan/task-plan.js';
import { isOver, type ResearchShown } from '../research-picture.js';

/** How a task or question stands. `unfinished`: the research ended before it. */
export type Mark = 'queued' | 'searching' | 'reading' | 'verified' | 'failed' | 'skipped' | 'dropped' | 'unfinished';

export type Search = NonNullable<ReturnType<ResearchShown['searched']['get']>>[number];

export interface TreeQuestion {
  readonly question: PicturedQuestion;
  readonly mark: Mark;
  readonly searched: readonly Search[];
  /** What its answer stands on comes first. */
  readonly evidence: readonly ResearchEvidence[];
  readonly children: readonly TreeQuestion[];
}

export interface TreeTask {
  readonly task: Task;
  readonly mark: Mark;
  /** Milliseconds, when it is over. */
  readonly ms?: number | undefined;
  /** Why it has no result. */
  readonly problem?: string | undefined;
  readonly searched: readonly Search[];
  readonly children: readonly TreeQuestion[];
}

export interface ResearchTree {
  /** Of a research by a plan. */
  readonly tasks: readonly TreeTask[];
  /** Those that belong to no task. */
  readonly questions: readonly TreeQuestion[];
  /** Searches for the question as a whole. */
  readonly searched: readonly Search[];
}

/** Name of the question as a whole, where searches tell for which question they are. */
const WHOLE = 'question';

export function treeOf(shown: ResearchShown): ResearchTree {
  const { picture, searched, dropped } = shown;
  const tasks = picture.planned?.plan.tasks ?? [];
  const parents = new Set([...tasks, ...dropped].map(({ task_id }) => task_id));
  for (const { id } of picture.questions) parents.add(id);
  const byParent = new Map<string, PicturedQuestion[]>();
  for (const one of picture.questions) {
    const parent = one.parent !== undefined && parents.has(one.parent) && one.parent !== one.id ? one.parent : '';
    byParent.set(parent, [...(byParent.get(parent) ?? []), one]);
  }
  const below = questionsBelow(shown, byParent);
  const taskOf = (task: Task, isDropped: boolean): TreeTask => {
    const { task_id: id } = task;
    const end = shown.ends.get(id);
    return {
      task,
      mark: isDropped ? 'dropped' : markOfTask(shown, id),
      ms: end?.ms,
      problem: end?.problem,
      searched: searched.get(`${id}/${WHOLE}`) ?? [],
      children: below(id),
    };
  };
  return {
    tasks: [...tasks.map((one) => taskOf(one, false)), ...dropped.map((one) => taskOf(one, true))],
    questions: below(''),
    searched: searched.get(WHOLE) ?? [],
  };
}

/** Each question stands in the tree once, also where their parents make a ring. */
function questionsBelow(shown: ResearchShown, byParent: ReadonlyMap<string, readonly PicturedQuestion[]>) {
  const { picture, searched } = shown;
  const evidence = new Map(picture.evidence.map((one) => [one.id, one]));
  const seen = new Set<string>();
  const below = (parent: string): readonly TreeQuestion[] =>
    (byParent.get(parent) ?? []).flatMap((question) => {
      const { id, finding } = question;
      if (seen.has(id)) return [];
      seen.add(id);
      const read = [...new Set([...(finding?.supported_by ?? []), ...(picture.read.get(id) ?? [])])];
      const node = {
        question,
        mark: markOfQuestion(shown, question),
        searched: searched.get(id) ?? [],
        evidence: read.flatMap((one) => evidence.get(one) ?? []),
        children: below(id),
      };
      return [node];
    });
  return below;
}

function markOfTask(shown: ResearchShown, id: string): Mark {
  const status = shown.picture.planned?.tasks.get(id);
  if (status === 'done') return 'verified';
  if (status === 'failed' || status === 'skipped') return status;
  if (isOver(shown)) return 'unfinished';
  return status === 'running' ? 'searching' : 'queued';
}

function markOfQuestion(shown: ResearchShown, question: PicturedQuestion): Mark {
  const { picture } = shown;
  const { id, status, finding, dependsOn } = question;
  if (status === 'dropped') return 'dropped';
  if (finding !== undefined) return isFact(finding) ? 'verified' : 'failed';
  if (isOver(shown)) return 'unfinished';
  if (picture.read.has(id)) return 'reading';
  const isOpen = (other: string): boolean => picture.questions.some((one) => one.id === other && one.status === 'open');
  return shown.searched.has(id) || !dependsOn.some(isOpen) ? 'searching' : 'queued';
}
