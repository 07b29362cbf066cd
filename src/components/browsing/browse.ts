import { catchError, concat, concatMap, defer, EMPTY, filter, type Observable, of } from 'rxjs';
import type { ActionOutcome, BrowserAction, PageView } from '../../adapters/browser/action.js';
import type { BrowserSession } from '../../adapters/browser/browsers.js';
import type { Chat } from '../../agents/chat.js';
import { EngineError } from '../../errors.js';
import { callFinished, callStarted, type NodeEvent, warning } from '../../graph/node-events.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { type ChatDelta, type ChatMessage, contentText, type ToolDefinition } from '../../models/chat-model.js';
import { type ChatAnswer, collectAnswer } from '../../models/collect-answer.js';
import { estimateTokens } from '../../models/estimate-tokens.js';
import { expandQueue } from '../../operators/expand-queue.js';
import { usageEvent } from '../chat/answers.js';
import { askForCall } from '../prompts.js';
import { extract, type ReadCall, type Round, readCalls, roundOf, type Step, stepMessages, stepTools } from './steps.js';

/** Answers in a row without anything that can be done, before the work is given up. */
const MAX_MISSES = 3;

/** Pictures that are stored, and the largest that a model is shown, in bytes. */
const MAX_PICTURES = 10;
const MAX_SHOWN_BYTES = 5 * 1_048_576;

/** Longest result of a step that a model gets, and longest data that is stored, in UTF-16 units. */
const MAX_RESULT = 4_000;
const MAX_DATA = 1_048_576;

/** What a model is to do with a browser, and how much it may take. */
export interface BrowseOptions {
  readonly node: string;
  readonly chat: Chat;
  readonly session: BrowserSession;
  readonly task: string;
  /** Names of files that pages may be given. */
  readonly files: readonly string[];
  /** Answers of the model. */
  readonly maxRounds: number;
  /** Tokens of all its calls together. */
  readonly maxTokens: number;
  /** Further attempts after an answer that is no JSON object. */
  readonly maxRetries: number;
}

/** The result. */
export interface Browsed {
  readonly type: 'browsed';
  /** Empty when the model came to no end within its bounds. */
  readonly answer: string;
  /** PNGs, in order. */
  readonly pictures: readonly Uint8Array[];
}

/** Events of the work: token counts, warnings, calls of the model, and the result. */
export type BrowseEvent = NodeEvent | Browsed;

/** The state between two rounds. */
interface Standing {
  readonly type: 'standing';
  readonly round: number;
  readonly misses: number;
  readonly tokens: number;
  readonly rounds: readonly Round[];
  readonly pictures: readonly Uint8Array[];
  /** The last picture, as a data URL, until the model has seen it. */
  readonly shown: string | undefined;
  /** JSON of the last data that was read. */
  readonly data: string | undefined;
}

const NOTHING = { rounds: [], pictures: [], shown: undefined, data: undefined } as const;
const START: Standing = { type: 'standing', round: 0, misses: 0, tokens: 0, ...NOTHING };

/**
 * Lets a model drive a browser, one round after the other: it sees the page, it chooses, what it chose is done.
 *
 * ```text
 * look      -v   -v
 * model       --u   --u           (calls click; calls done)
 * click          -o
 * result    ---u-----u(b|)
 * ```
 *
 * What does not work on a page goes back to the model. Emits token counts as they come, and at the end the result, with
 * a warning when the bounds were reached. Errors: those of the model and of the browser; `NODE_FAILED` when three answers
 * in a row have no step that can be done.
 */
export function browse(options: BrowseOptions): Observable<BrowseEvent> {
  const tools = stepTools();
  return of<Standing | BrowseEvent>(START).pipe(
    expandQueue((event) => (event.type === 'standing' ? nextRound(event, options, tools) : EMPTY)),
    filter((event) => event.type !== 'standing'),
  );
}

function nextRound(
  progress: Standing,
  options: BrowseOptions,
  tools: readonly ToolDefinition[],
): Observable<Standing | BrowseEvent> {
  const { session, chat, task, files, maxRounds, maxTokens } = options;
  const { round, tokens, rounds, shown, pictures } = progress;
  const exceeded = round >= maxRounds ? `${maxRounds} rounds` : tokens >= maxTokens ? `${maxTokens} tokens` : undefined;
  if (exceeded !== undefined) {
    const unfinished = warning(`The browser came to no end within ${exceeded}; there is no answer.`);
    return of<BrowseEvent[]>(unfinished, { type: 'browsed', answer: '', pictures });
  }
  return session.look().pipe(
    concatMap((view) => {
      const messages = stepMessages({ task, files, rounds, view, picture: shown, contextLength: chat.contextLength });
      let answer: ChatAnswer | undefined;
      const read = (answer$: Observable<ChatDelta>): Observable<NodeEvent> =>
        answer$.pipe(
          collectAnswer(),
          concatMap((whole) => {
            answer = whole;
            return whole.usage === undefined ? EMPTY : of(usageEvent(whole.usage));
          }),
        );
      const ask$ = chat.ask({ ...chat.request(messages), tools }, read, { id: `chat-${round + 1}` });
      const follow$ = defer(() => {
        if (answer === undefined) return EMPTY;
        const spent = answer.usage?.totalTokens ?? estimate(messages, answer);
        const now: Standing = { ...progress, round: round + 1, tokens: tokens + spent, shown: undefined };
        return follow(answer, { progress: now, view, options });
      });
      return concat<(Standing | BrowseEvent)[]>(ask$, follow$);
    }),
  );
}

/** What the calls of one answer are done with. */
interface Situation {
  readonly progress: Standing;
  readonly view: PageView;
  readonly options: BrowseOptions;
}

/** Does the calls of an answer in order, until one ends the work or does not work. */
function follow(answer: ChatAnswer, situation: Situation): Observable<Standing | BrowseEvent> {
  const { progress, options } = situation;
  const calls = readCalls(answer);
  if (calls.every(({ step }) => step === undefined) && progress.misses + 1 >= MAX_MISSES) {
    throw new EngineError(
      'NODE_FAILED',
      `The model of node "${options.node}" chose nothing that can be done in ${MAX_MISSES} answers; it may not support tools.`,
      { node: options.node },
    );
  }
  if (calls.length === 0) {
    const round: Round = [
      { role: 'assistant', content: answer.text.slice(0, MAX_RESULT) },
      { role: 'user', content: askForCall('Nothing was called.') },
    ];
    return of({ ...progress, misses: progress.misses + 1, rounds: [...progress.rounds, round] });
  }
  return doCalls(calls, answer, situation);
}

/** What was done of the calls of one answer so far. */
interface Done {
  readonly type: 'done';
  readonly at: number;
  readonly isStopped: boolean;
  readonly results: readonly string[];
  readonly progress: Standing;
}

function doCalls(
  calls: readonly ReadCall[],
  answer: ChatAnswer,
  { progress, view, options }: Situation,
): Observable<Standing | BrowseEvent> {
  const start: Done = { type: 'done', at: 0, isStopped: false, results: [], progress };
  return of<Done | BrowseEvent | Standing>(start).pipe(
    expandQueue((done) => {
      if (done.type !== 'done') return EMPTY;
      const next = calls[done.at];
      if (next === undefined) return of(closeRound(calls, answer, done));
      if (done.isStopped) return notDone(done, 'Not done, as the call before did not work.');
      const { step, problem } = next;
      if (step === undefined) return notDone(done, problem);
      return doStep(step, done, { progress: done.progress, view, options });
    }),
    filter((event) => event.type !== 'done'),
  );
}

function closeRound(calls: readonly ReadCall[], { text }: ChatAnswer, { progress, results }: Done): Standing {
  const round = roundOf(
    text.slice(0, MAX_RESULT),
    calls.map(({ call }, at) => [call, results[at] ?? ''] as const),
  );
  const misses = calls.some(({ step }) => step !== undefined) ? 0 : progress.misses + 1;
  return { ...progress, misses, rounds: [...progress.rounds, round] };
}

function withResult(done: Done, { isDone, text }: ActionOutcome, change: Partial<Standing> = {}): Done {
  const results = [...done.results, text.slice(0, MAX_RESULT)];
  return { ...done, at: done.at + 1, isStopped: !isDone, results, progress: { ...done.progress, ...change } };
}

function notDone(done: Done, text: string, change?: Partial<Standing>): Observable<Done> {
  return of(withResult(done, { isDone: false, text }, change));
}

function doStep(step: Step, done: Done, situation: Situation): Observable<Done | BrowseEvent> {
  switch (step.action) {
    case 'done': {
      const { data, pictures } = done.progress;
      const answer = step.use_extracted === true && data !== undefined ? data : (step.answer ?? '');
      return of<BrowseEvent>({ type: 'browsed', answer, pictures });
    }
    case 'extract':
      return readData(step.instruction, step.schema, done, situation);
    default:
      return act(step, done, situation);
  }
}

function act(step: BrowserAction, done: Done, { progress, options }: Situation): Observable<Done | BrowseEvent> {
  const id = `action-${progress.round}-${done.at + 1}`;
  return concat(
    of(callStarted({ id, kind: 'tool', name: step.action })),
    options.session.perform(step).pipe(
      concatMap((outcome) => {
        // Observers do not get questions and answers.
        const end = outcome.isDone ? {} : { error: { code: 'TOOL_FAILED', message: 'It did not work.' } as const };
        return of<(Done | BrowseEvent)[]>(
          callFinished({ id, ...end }),
          withResult(done, outcome, keepPicture(outcome, progress, options)),
        );
      }),
    ),
  );
}

function keepPicture({ image }: ActionOutcome, { pictures }: Standing, { chat }: BrowseOptions): Partial<Standing> {
  if (image === undefined) return {};
  const isShown = chat.supportsImages && image.length <= MAX_SHOWN_BYTES;
  return {
    pictures: pictures.length < MAX_PICTURES ? [...pictures, image] : pictures,
    ...(isShown && { shown: `data:image/png;base64,${Buffer.from(image).toString('base64')}` }),
  };
}

function readData(
  instruction: string,
  schema: JsonObject,
  done: Done,
  { progress, view, options }: Situation,
): Observable<Done | BrowseEvent> {
  const { node, chat, maxRetries } = options;
  const id = `extract-${progress.round}-${done.at + 1}`;
  let spent = 0;
  // After other calls of the same answer the page is another one.
  const view$ = done.at === 0 ? of(view) : options.session.look();
  return view$.pipe(
    concatMap((page) => extract({ node, chat, id, view: page, instruction, schema, maxRetries })),
    concatMap((event: NodeEvent): Observable<Done | BrowseEvent> => {
      if (event.type === 'usage') spent += event.totalTokens;
      if (event.type !== 'settled') return of(event);
      if (!isJsonObject(event.outputs.structured)) return EMPTY;
      const data = JSON.stringify(event.outputs.structured);
      const tokens = progress.tokens + spent;
      if (data.length > MAX_DATA) return notDone(done, 'There is too much data.', { tokens });
      return of(withResult(done, { isDone: true, text: `The data: ${data}` }, { tokens, data }));
    }),
    catchError((error: unknown) => {
      // The answer was no JSON; failures of the model itself end the node.
      if (!EngineError.is(error) || error.code !== 'NODE_FAILED') throw error;
      return notDone(done, 'The data could not be read.', { tokens: progress.tokens + spent });
    }),
  );
}

function estimate(messages: readonly ChatMessage[], { text, thinking, toolCalls }: ChatAnswer): number {
  const asked = messages.reduce((sum, { content }) => sum + estimateTokens(contentText(content)), 0);
  return asked + estimateTokens(text + thinking + toolCalls.map((call) => call.arguments).join(''));
}
