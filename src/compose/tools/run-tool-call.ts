/** One call of a tool: its arguments, the middlewares around it, the tool, and what becomes of an error. */
import { concatMap, defer, Observable, type Subscriber, Subscription, throwError } from 'rxjs';
import { EngineError, toEngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import type { ToolCall } from '../../models/content-parts.js';
import { Feed, type FeedSink } from '../../operators/feed.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { readArguments } from '../../tools/read-arguments.js';
import { Interrupt } from '../interrupt.js';
import type { StepActivation } from '../step.js';
import { CallActivation } from './call-activation.js';
import { answersBelow, freshAnswers, type KeptCall, memoOf } from './kept-calls.js';
import type { ReportedCall } from './make-calls.js';
import type { StepTool, ToolActivation, ToolReply } from './step-tool.js';
import { type BoxedTool, renameArguments, type ToolBox } from './tool-box.js';
import { repliesOf, type ToolReturn, toContent } from './tool-output.js';

/** A call on its way to a tool. */
export interface ToolRequest {
  /** Id of the call, unique in the message. */
  readonly id: string;
  /** The tool's own name. */
  readonly name: string;
  /** The JSON text of the arguments, under their own names, neither repaired nor checked. */
  readonly arguments: string;
  readonly tool: StepTool;
  /** The call as this middleware sees it; its questions are its own, with addresses `<path>#<id>/<name of the middleware>`. */
  readonly at: ToolActivation;
}

/** What stands in for content: text, parts, content or a question; at once, later, or in pieces. */
export type ToolAnswer = ToolReturn<Parameters<typeof toContent>[0]>;

/**
 * Stands around every call: it may look at the request, change its arguments, answer itself, ask a question first, call `next` never or
 * several times, and change the replies. `next` gives an Observable that makes the call when it is subscribed; `wholeReply()` makes one reply of it.
 */
export type ToolMiddleware = (
  request: ToolRequest,
  next: (request: ToolRequest) => Observable<ToolReply>,
) => ToolAnswer | Observable<ToolReply>;

/** A call in a message, for functions that stand in for the tool or its arguments. */
export type RequestedCall = Pick<ToolCall, 'id' | 'name' | 'arguments'>;

/** How the calls of a node are made. */
export interface CallSetup {
  readonly box: ToolBox;
  readonly use: readonly ToolMiddleware[];
  readonly repair: boolean;
  readonly maxResultLength: number;
  readonly toolOptions: Readonly<Record<string, unknown>>;
  readonly unknownTool: ((call: RequestedCall, at: ToolActivation) => ToolAnswer) | undefined;
  readonly prepareArguments: ((call: RequestedCall, at: ToolActivation) => string | PromiseLike<string>) | undefined;
  readonly errorsAsText: boolean | ((error: EngineError, call: RequestedCall) => string | undefined);
}

/** A call at its place in the message. */
export interface PlacedCall {
  readonly index: number;
  /** Unique in the message, even where the model's ids are not. */
  readonly id: string;
  readonly call: ToolCall;
  /** Undefined: there is no tool of that name. */
  readonly boxed: BoxedTool | undefined;
}

/** What is known of a call from before the run was resumed. */
interface CallBefore {
  readonly kept: KeptCall | undefined;
  readonly answers: ReadonlyMap<string, unknown>;
}

/**
 * Makes one call. Cold; unsubscribing stops the tool and raises its signal. `reported` is told of an error that becomes content.
 *
 * Errors: TOOL_UNKNOWN, TOOL_ARGUMENTS, LIMIT_REACHED for a result that is too long, and what failed in the tool, all with the tool's name;
 * none where `errorsAsText` makes content of them.
 */
export function runToolCall(
  setup: CallSetup,
  placed: PlacedCall,
  at: StepActivation,
  { kept, answers, reported }: CallBefore & { readonly reported: ReportedCall },
): Observable<ToolReply> {
  return new Observable<ToolReply>((subscriber) => {
    const running = new RunningCall(setup, placed, reported, subscriber);
    subscriber.add(running);
    running.start((layer) => viewOf(setup, placed, at, { kept, answers, layer }));
  });
}

/** A call at work: bounds what it gives, and tells its views when it is stopped. */
class RunningCall extends Subscription implements FeedSink<ToolReply> {
  readonly #setup: CallSetup;
  readonly #placed: PlacedCall;
  readonly #reported: ReportedCall;
  readonly #subscriber: Subscriber<ToolReply>;
  readonly #work: Feed<ToolReply>;
  readonly #views: CallActivation[] = [];
  #length = 0;
  #isRunning = true;

  constructor(setup: CallSetup, placed: PlacedCall, reported: ReportedCall, subscriber: Subscriber<ToolReply>) {
    super();
    this.#setup = setup;
    this.#placed = placed;
    this.#reported = reported;
    this.#subscriber = subscriber;
    this.#work = new Feed(this);
  }

  start(makeView: ViewFor): void {
    const viewFor = (layer?: string): CallActivation => {
      const view = makeView(layer);
      // A step that runs inside the call asks: the function of the tool waits for it, so nothing of it comes any more.
      const endEarly: CallActivation['endEarly'] = (ask) => this.#endEarly(ask);
      view.endEarly = endEarly;
      this.#views.push(view);
      return view;
    };
    let replies$: Observable<ToolReply>;
    try {
      replies$ = repliesFor(this.#setup, this.#placed, viewFor);
    } catch (error) {
      this.feedFailed(error);
      return;
    }
    replies$.subscribe(this.#work);
  }

  /** Stops the tool, and raises the signals of its views unless it was over. */
  override unsubscribe(): void {
    if (this.closed) return;
    super.unsubscribe();
    this.#work.unsubscribe();
    if (!this.#isRunning) return;
    this.#isRunning = false;
    for (const view of this.#views) view.stop();
  }

  fed(reply: ToolReply): void {
    if (!(reply instanceof Interrupt)) {
      this.#length += reply.text.length;
      const { maxResultLength } = this.#setup;
      if (this.#length > maxResultLength) throw tooLong(maxResultLength);
    }
    this.#subscriber.next(reply);
  }

  feedFailed(thrown: unknown): void {
    this.#work.unsubscribe();
    this.#isRunning = false;
    const failure = toEngineError(thrown, 'TOOL_FAILED');
    let instead: ToolReply;
    try {
      instead = recovered(this.#setup, this.#placed, failure, thrown);
    } catch (error) {
      this.#subscriber.error(error);
      return;
    }
    this.#reported.failed(failure);
    this.#subscriber.next(instead);
    this.#subscriber.complete();
  }

  feedEnded(): void {
    this.#isRunning = false;
    this.#subscriber.complete();
  }

  #endEarly(ask: () => Interrupt): void {
    this.#work.unsubscribe();
    let asked: Interrupt;
    try {
      asked = ask();
    } catch (error) {
      this.#isRunning = false;
      this.#subscriber.error(error);
      return;
    }
    this.#subscriber.next(asked);
    this.#isRunning = false;
    this.#subscriber.complete();
  }
}

type ViewFor = (layer?: string) => CallActivation;

interface ViewFacts extends CallBefore {
  readonly layer: string | undefined;
}

function viewOf(
  { toolOptions }: CallSetup,
  { id, call, boxed }: PlacedCall,
  at: StepActivation,
  { kept, answers, layer }: ViewFacts,
): CallActivation {
  const asker = layer === undefined ? id : `${id}/${layer}`;
  return new CallActivation(at, {
    id,
    name: boxed?.tool.name ?? call.name,
    layer,
    answer: answers.get(asker),
    answers: answersBelow(answers, asker),
    memo: memoOf(kept, asker),
    isResumed: kept !== undefined,
    fresh: answersBelow(freshAnswers(kept, at), asker),
    options: toolOptions,
    schema: layer === undefined ? boxed?.tool.answer : undefined,
  });
}

function repliesFor(setup: CallSetup, placed: PlacedCall, viewFor: ViewFor): Observable<ToolReply> {
  const { box, unknownTool, prepareArguments } = setup;
  const { id, boxed } = placed;
  const { name, arguments: text } = placed.call;
  if (boxed === undefined) {
    if (unknownTool === undefined) return throwError(() => box.unknown(name));
    const view = viewFor();
    return repliesOf(unknownTool({ id, name, arguments: text }, view), view, toContent);
  }
  const renamed = renamedText(boxed, text);
  const send = (written: string): Observable<ToolReply> => {
    const request = { id, name: boxed.tool.name, arguments: written, tool: boxed.tool };
    return passThrough(setup, request, 0, viewFor);
  };
  if (prepareArguments === undefined) return send(renamed);
  const prepared = prepareArguments({ id, name: boxed.tool.name, arguments: renamed }, viewFor());
  return typeof prepared === 'string' ? send(prepared) : fromAbortable(() => prepared).pipe(concatMap(send));
}

/** Arguments under their own names; text that cannot be read stays for whatever comes next. */
function renamedText({ tool, renames }: BoxedTool, text: string): string {
  if (renames.size === 0) return text;
  let args: JsonObject;
  try {
    args = readArguments(tool.name, text);
  } catch {
    return text;
  }
  const renamed = renameArguments(args, renames);
  return renamed === args ? text : JSON.stringify(renamed);
}

/** The middleware at a place around the tool, and those inside. */
function passThrough(
  setup: CallSetup,
  request: Omit<ToolRequest, 'at'>,
  layer: number,
  viewFor: ViewFor,
): Observable<ToolReply> {
  const { use, repair } = setup;
  const middleware = use[layer];
  if (middleware === undefined) {
    return request.tool.call(readArguments(request.name, request.arguments, { repair }), viewFor());
  }
  const view = viewFor(layerName(middleware, layer));
  const next = (changed: ToolRequest): Observable<ToolReply> =>
    defer(() => passThrough(setup, changed, layer + 1, viewFor));
  return repliesOf(middleware({ ...request, at: view }, next) as ToolAnswer, view, toContent);
}

/** Stable over restarts, and without the characters that addresses are made of. */
function layerName({ name }: ToolMiddleware, layer: number): string {
  return name === '' ? `use_${layer + 1}` : name.replace(/[/#[\]]/g, '_');
}

function tooLong(maxLength: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `the result has more than ${maxLength} characters. Let the tool give less, or raise "maxResultLength".`,
  );
}

/** Codes whose messages name the tool already. */
const NAMED = new Set(['TOOL_UNKNOWN', 'TOOL_ARGUMENTS']);

/** What a call that failed gives instead. @throws its error, where nothing is given instead */
function recovered(
  { errorsAsText }: CallSetup,
  { id, call, boxed }: PlacedCall,
  error: EngineError,
  thrown: unknown,
): ToolReply {
  const requested = { id, name: boxed?.tool.name ?? call.name, arguments: call.arguments };
  const text =
    typeof errorsAsText === 'function' ? errorsAsText(error, requested) : errorsAsText ? error.message : undefined;
  if (text !== undefined) return { text, isError: true };
  if (NAMED.has(error.code)) throw error;
  const { code, message, retryable, details, node } = error;
  throw new EngineError(code, `Tool "${requested.name}" (call ${id}) failed: ${message}`, {
    retryable,
    details,
    cause: thrown,
    ...(node && { node }),
  });
}
