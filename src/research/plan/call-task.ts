/** One task of a plan as the call of a tool, whose result is read as what a search finds is. */
import { concatMap, defer, type Observable, of, throwError } from 'rxjs';
import { EngineError } from '../../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { placeholdersIn, withAnswers } from '../deep/sub-questions.js';
import type { TaskInput, TaskResult } from './execute-plan.js';
import type { PlanCall } from './plan-call.js';
import { askedBy, lacks, searchTask, type TaskSearch } from './search-task.js';
import type { Task } from './task-plan.js';

/**
 * Emits what the tool gave once; cold. `{id}` of other tasks in the arguments become their answers. A result is evidence from which the task is answered; that of
 * a calculation is the answer.
 *
 * Errors: those of the call; EVIDENCE_MISSING where it asks for what others did not give, and where nothing that it gave answers the task.
 */
export function callTask(task: Task, input: TaskInput, call: PlanCall, search: TaskSearch): Observable<TaskResult> {
  return defer(() => {
    const { task_id, description, args } = task;
    const named = [description, ...textsIn(args)].flatMap(placeholdersIn);
    const lacking = task.depends_on.filter((id) => !input.results.has(id) && named.includes(id));
    if (lacking.length > 0) return throwError(() => lacks(task, lacking));
    const answers = new Map(task.depends_on.map((id) => [id, input.results.get(id)?.answer]));
    const read = call.isCalculation
      ? new Map([...answers].map(([id, answer]) => [id, answer && numberIn(answer)]))
      : answers;
    const asked = askedBy(task, input);
    const given = withAnswersIn(args, read) as JsonObject;
    const isBare = Object.keys(given).length === 0;
    const words = call.isCalculation ? withAnswers({ question: description }, read) : asked;
    return call.call(isBare ? call.argumentsOf(words) : given, asked).pipe(
      concatMap(({ text, found }) => {
        if (!call.isCalculation) {
          const place = { where: 'tool', find: () => of(found) } as const;
          return searchTask(task, input, { ...search, ports: { ...search.ports, places: [place] } });
        }
        const id = `${task_id}/q1`;
        search.tell({ type: 'question', id, text: words, parent: task_id, depends_on: [], round: 1 });
        const finding = { answer: text, supported_by: [], confidence: 1, verdict: 'calculated' } as const;
        search.tell({ type: 'finding', question: id, text: words, ...finding });
        return text === '' ? throwError(() => noValue(task)) : of({ answer: text, known: [`${words} ${text}`] });
      }),
    );
  });
}

/** Every text of a value. */
function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(textsIn);
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

function withAnswersIn(value: Json, answers: ReadonlyMap<string, string | undefined>): Json {
  if (typeof value === 'string') {
    // Blanks of a text without places are its own.
    return placeholdersIn(value).some((id) => answers.has(id)) ? withAnswers({ question: value }, answers) : value;
  }
  if (Array.isArray(value)) return (value as readonly Json[]).map((one) => withAnswersIn(one, answers));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withAnswersIn(one, answers)]));
}

const NUMBER = /(?<![\p{L}\p{N}.,])[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?![\p{L}\p{N}])/gu;

/** The number that an answer such as "in 1911" or "1,200 miles" is about; the answer as it is where it has none, or several. */
function numberIn(answer: string): string {
  const [number, another] = [...answer.matchAll(NUMBER)].map(([one]) => one);
  if (number === undefined || another !== undefined) return answer;
  const plain = number.replaceAll(',', '').replace('−', '-');
  return plain.startsWith('-') ? `(${plain})` : plain;
}

function noValue({ task_id, tool }: Task): EngineError {
  return new EngineError(
    'EVIDENCE_MISSING',
    `Task "${task_id}" has no value: "${tool}" was given nothing to calculate.`,
  );
}
