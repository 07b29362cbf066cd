/** One task of a plan as a research of its own, whose findings are its result. */
import { concat, defer, ignoreElements, type Observable, of, tap, throwError } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { ResearchPorts } from '../deep/deep-ports.js';
import { runDeepSearch } from '../deep/deep-search.js';
import type { Depth } from '../deep/depths.js';
import { answerOf, EMPTY_PICTURE, factsOf, foldResearch } from '../deep/fold-research.js';
import { withAnswers } from '../deep/sub-questions.js';
import type { ResearchEvent } from '../research-events.js';
import type { TaskInput, TaskResult } from './execute-plan.js';
import type { Task } from './task-plan.js';

/** What a task is done with. */
export interface TaskSearch {
  readonly depth: Depth;
  readonly ports: ResearchPorts;
  /** Told what happens; ids of sub-questions begin with that of the task, which they follow from. */
  readonly tell: (event: ResearchEvent) => void;
}

/** Emits what was found once; cold. Errors: EVIDENCE_MISSING where nothing was found that answers the task. */
export function searchTask(task: Task, input: TaskInput, { depth, ports, tell }: TaskSearch): Observable<TaskResult> {
  const { task_id, description, depends_on } = task;
  return defer(() => {
    const lacking = depends_on.filter((id) => !input.results.has(id) && description.includes(`{${id}}`));
    // Half a question has no answer.
    if (lacking.length > 0) return throwError(() => lacks(task, lacking));
    let picture = EMPTY_PICTURE;
    const known = depends_on.flatMap((id) => input.results.get(id)?.known ?? []);
    const own: ResearchPorts = { ...ports, asking: { ...ports.asking, about: task_id } };
    return concat(
      runDeepSearch({ question: askedBy(task, input), depth, known, writes: false }, own).pipe(
        tap((event) => {
          picture = foldResearch(picture, event);
          const told = eventOfTask(event, task_id);
          if (told !== undefined) tell(told);
        }),
        ignoreElements(),
      ),
      defer(() => {
        const facts = factsOf(picture);
        const answer = answerOf(picture) ?? facts.at(-1)?.answer;
        if (answer === undefined) return throwError(() => nothingFound(task));
        return of({ answer, known: facts.map((fact) => `${fact.question} ${fact.answer}`) });
      }),
    );
  });
}

/** What a task asks, with the answers of others in it. */
export function askedBy({ description, depends_on }: Task, { results }: TaskInput): string {
  const answers = new Map(depends_on.map((id) => [id, results.get(id)?.answer]));
  const question = withAnswers({ question: description }, answers);
  // Without a place for earlier answers a description is no question by itself; these are put behind it.
  const isWhole = depends_on.length === 0 || question !== description;
  return isWhole ? question : [question, ...new Set([...answers.values()])].join(' ').trim();
}

/** An event of the search of a task as one of the research; undefined for what concerns the task alone. */
function eventOfTask(event: ResearchEvent, task: string): ResearchEvent | undefined {
  const idOf = (id: string): string => `${task}/${id}`;
  switch (event.type) {
    case 'question':
      return {
        ...event,
        id: idOf(event.id),
        parent: event.parent === undefined ? task : idOf(event.parent),
        depends_on: event.depends_on.map(idOf),
      };
    case 'searched':
    case 'evidence':
    case 'finding':
      return { ...event, question: idOf(event.question) };
    case 'contradiction':
    case 'budget':
      return event;
    default:
      return undefined;
  }
}

function nothingFound({ task_id }: Task): EngineError {
  return new EngineError('EVIDENCE_MISSING', `Task "${task_id}" found nothing that answers it.`);
}

/** The error of a task that has a place for an answer that is not there. */
export function lacks({ task_id }: Task, ids: readonly string[]): EngineError {
  return new EngineError('EVIDENCE_MISSING', `Task "${task_id}" asks for what ${ids.join(', ')} did not give.`);
}
