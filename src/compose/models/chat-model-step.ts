/** A chat model as a step. */
import { defer, isObservable, Observable, type Subscriber } from 'rxjs';
import { EngineError } from '../../errors.js';
import { isJsonObject } from '../../json.js';
import type { ChatDelta, ChatModel, ChatRequest, Sampling, ToolDefinition } from '../../models/chat-model.js';
import { concatMessages } from '../../models/concat-messages.js';
import type { AssistantChunk, AssistantMessage, ChatMessage } from '../../models/messages.js';
import type { ChatChoice, Models } from '../../models/router.js';
import { MessageChunks } from '../../models/to-message-chunks.js';
import { didYouMean } from '../../nearest-name.js';
import { Feed, type FeedSink } from '../../operators/feed.js';
import { invalidOption, requireObject } from '../../operators/invalid-option.js';
import { requireService, type ToolServices } from '../../tools/tool-services.js';
import { traceContextOf } from '../../trace-context.js';
import { show } from '../make-step.js';
import type { OptionStep, StepActivation } from '../step.js';
import { step } from '../steps.js';
import { toolDefinition } from '../tools/step-tool.js';
import { ModelCallReports, plainUsage } from './model-call-reports.js';

/** What a request to a model may say beside its messages; what is left out is left to the provider. */
export interface ChatModelOptions
  extends Sampling,
    Pick<
      ChatRequest,
      | 'toolChoice'
      | 'serverTools'
      | 'mcpServers'
      | 'jsonSchema'
      | 'stop'
      | 'logProbabilities'
      | 'speech'
      | 'thinking'
      | 'chatTemplateKwargs'
      | 'user'
      | 'retries'
      | 'headers'
    > {
  /** Another model: of `services.models` by its name there, or in the words of the one model that was given. */
  readonly model?: string | undefined;
  /** What the model may call: tools made by `defineTool` and others, or definitions alone. */
  readonly tools?: readonly ToolDefinition[] | undefined;
}

/** How a step of a model is made. */
export interface ChatModelSetup extends ChatModelOptions {
  /** @default 'model' */
  readonly name?: string;
}

/** Messages and what this request says beside them. */
export interface ChatInput extends ChatModelOptions {
  readonly messages: readonly ChatMessage[];
}

/** A step that asks a model. */
export type ChatModelStep = OptionStep<readonly ChatMessage[] | ChatInput, AssistantMessage, ChatModelOptions>;

/**
 * Asks a chat model: a step from messages to its answer, in chunks as they come.
 *
 * `model` is one of `services.models` by name (`''`: the default one), or a model itself, such as `createScriptedModel({ … })`. Options of the
 * step come first, those of the input (`{ messages, temperature }`) over them, those of the run (`options(model, { temperature: 0 })`) over both;
 * `undefined` leaves what was said before. Calls and token counts are reported as events of the run; the usage is also in the message. While
 * nothing has room for the chunks, the connection is not read on. Unsubscribing closes it.
 *
 * Errors: MODEL_UNKNOWN; CONFIG_INVALID without `services.models`; MODEL_REQUEST, MODEL_UNAVAILABLE, MODEL_RESPONSE; INPUT_INVALID for an input
 * that is no list of messages; OPTION_INVALID for options that do not exist.
 *
 * @throws EngineError OPTION_INVALID
 */
export function chatModel(model: string | ChatModel, setup: ChatModelSetup = {}): ChatModelStep {
  requireObject('chatModel', 'setup', setup);
  const { name = 'model', ...own } = setup;
  const owner = `chatModel "${name}"`;
  const isNamed = typeof model === 'string';
  if (!isNamed && (!isJsonObject(model) || typeof model.chat !== 'function')) {
    throw invalidOption(owner, 'model', 'the name of a model, or an object with a function "chat"', model);
  }
  requireChatOptions(owner, own);
  return step<readonly ChatMessage[] | ChatInput, AssistantMessage>(
    name,
    (input, at) =>
      defer(() => {
        const { messages, ...asked } = readInput(at.path, input);
        requireChatOptions(owner, asked);
        requireChatOptions(owner, at.options);
        return askChatModel(model, { ...laidOver(own, asked, at.options), messages }, at);
      }),
    { kind: 'chatModel', chunks: (chunks) => concatMessages(chunks) as AssistantMessage },
  );
}

/**
 * Asks a model as {@link chatModel} does, for steps that do more than that; what is undefined in the input says nothing.
 *
 * @param call tells apart the calls that one activation makes
 */
export function askChatModel(
  model: string | ChatModel,
  { messages, ...asked }: ChatInput,
  at: StepActivation,
  call: string = CALL,
): Observable<AssistantMessage> {
  const options = laidOver({ user: sessionOf(at.services) }, asked);
  const choice: Chosen =
    typeof model === 'string' ? chosen(at, options.model ?? model) : { model, name: options.model ?? 'default' };
  return answer(choice, requestOf(choice.name, messages, options), at, call);
}

/** A model and its name in requests. */
type Chosen = Pick<ChatChoice, 'model' | 'name' | 'provider'>;

interface ModelServices extends ToolServices {
  readonly models?: Models;
}

function chosen({ services, path }: StepActivation, wanted: string): Chosen {
  const given: ModelServices = isJsonObject(services) ? (services as ModelServices) : {};
  return requireService(given, 'models', `Step "${path}"`).chat(wanted);
}

/** The end user, as requests of nodes of canvases name it. */
function sessionOf(services: unknown): string | undefined {
  return isJsonObject(services) ? (services as ModelServices).session?.id : undefined;
}

function readInput(path: string, input: readonly ChatMessage[] | ChatInput): ChatInput {
  const given: unknown = Array.isArray(input) ? { messages: input } : input;
  const messages = isJsonObject(given) ? (given.messages as unknown) : undefined;
  if (
    Array.isArray(messages) &&
    messages.every((message) => isJsonObject(message) && typeof message.role === 'string')
  ) {
    return given as ChatInput;
  }
  const got = typeof input === 'string' ? 'text' : Array.isArray(input) ? 'a list of something else' : typeof input;
  throw new EngineError(
    'INPUT_INVALID',
    `"${path}" needs a list of messages, or { messages }; received ${got}. Make messages of it, such as [userMessage(text)].`,
  );
}

const SAMPLING: ReadonlySet<string> = new Set([
  'temperature',
  'topP',
  'maxTokens',
  'presencePenalty',
  'frequencyPenalty',
]);

const REQUEST: ReadonlySet<string> = new Set([
  'toolChoice',
  'serverTools',
  'mcpServers',
  'jsonSchema',
  'stop',
  'logProbabilities',
  'speech',
  'thinking',
  'chatTemplateKwargs',
  'user',
  'retries',
  'headers',
]);

const KNOWN: ReadonlySet<string> = new Set([...SAMPLING, ...REQUEST, 'model', 'tools']);

/** Refuses names that no option of a request has. @throws EngineError OPTION_INVALID */
export function requireChatOptions(owner: string, options: object): void {
  const unknown = Object.keys(options).find((key) => !KNOWN.has(key));
  if (unknown === undefined) return;
  throw new EngineError(
    'OPTION_INVALID',
    `${owner}: there is no option "${unknown}".${didYouMean(unknown, KNOWN)} The options are ${[...KNOWN].join(', ')}.`,
  );
}

/** Options over options; what is undefined says nothing. */
function laidOver(...layers: readonly ChatModelOptions[]): ChatModelOptions {
  const options: Writable = {};
  for (const layer of layers) {
    // Names have been checked, so none is one that cannot be assigned.
    for (const name of Object.keys(layer) as (keyof ChatModelOptions)[]) {
      if (layer[name] !== undefined) options[name] = layer[name];
    }
  }
  return options as ChatModelOptions;
}

/** Options while they are put together. */
type Writable = { -readonly [K in keyof ChatModelOptions]?: unknown };

function requestOf(model: string, messages: readonly ChatMessage[], options: ChatModelOptions): ChatRequest {
  const { tools } = options;
  const asked: Writable = {};
  let sampling: Writable | undefined;
  for (const name of Object.keys(options) as (keyof ChatModelOptions)[]) {
    const value = options[name];
    if (value === undefined) continue;
    if (REQUEST.has(name)) asked[name] = value;
    else if (SAMPLING.has(name)) {
      sampling ??= {};
      sampling[name] = value;
    }
  }
  return {
    ...(asked as Partial<ChatRequest>),
    model,
    messages,
    ...(tools !== undefined && { tools: tools.map(toolDefinition) }),
    ...(sampling !== undefined && { sampling: sampling as Sampling }),
  };
}

/** Id of the one call that a step of a model makes. */
const CALL = 'chat-1';

/**
 * The answer in chunks, reported from its beginning to its end.
 *
 * ```text
 * deltas    --t--t--u--f|
 * chunks    --x--x--y--z|        (text, text, usage, finish reason)
 * reports   S-F-----U---E        (started, first piece, usage, finished)
 * ```
 */
function answer(
  { model, provider }: Chosen,
  request: ChatRequest,
  at: StepActivation,
  id: string,
): Observable<AssistantMessage> {
  return new Observable((subscriber) => {
    const reports = new ModelCallReports(id, at);
    const traced = reports.start(request, {
      provider,
      session: sessionOf(at.services),
      trace: (call) => traceContextOf({ services: at.services, token: at.key }, call),
    });
    const feed = new Feed<ChatDelta>(new Answering(reports, at, subscriber));
    subscriber.add(feed);
    answerOf(model, { ...traced, ready: () => at.ready() }, at.path).subscribe(feed);
  });
}

/** An answer on its way: what comes is reported, and made chunks of. */
class Answering implements FeedSink<ChatDelta> {
  readonly #reports: ModelCallReports;
  readonly #at: StepActivation;
  readonly #subscriber: Subscriber<AssistantMessage>;
  readonly #chunks = new MessageChunks();
  #isEmpty = true;

  constructor(reports: ModelCallReports, at: StepActivation, subscriber: Subscriber<AssistantMessage>) {
    this.#reports = reports;
    this.#at = at;
    this.#subscriber = subscriber;
  }

  fed(delta: ChatDelta): void {
    this.#reports.saw(delta);
    if (delta.type === 'usage') this.#at.report({ type: 'usage', ...plainUsage(delta) });
    this.#isEmpty = false;
    this.#subscriber.next(wholeChunk(this.#chunks.next(delta)));
  }

  feedFailed(thrown: unknown, feed: Feed<ChatDelta>): void {
    feed.unsubscribe();
    this.#reports.failed(thrown);
    this.#subscriber.error(thrown);
  }

  feedEnded(): void {
    this.#reports.ended();
    if (this.#isEmpty) this.#subscriber.next(wholeChunk({ role: 'assistant' }));
    this.#subscriber.complete();
  }
}

/** @throws EngineError NODE_PROTOCOL for a model of one's own that gives something else, such as a promise */
function answerOf(model: ChatModel, request: ChatRequest, path: string): Observable<ChatDelta> {
  const given: unknown = model.chat(request);
  if (isObservable(given)) return given as Observable<ChatDelta>;
  const message = `The model of "${path}" must give an Observable of pieces of its answer, such as { type: 'text', text: '…' }; received ${show(given)}.`;
  throw new EngineError('NODE_PROTOCOL', message, { node: path });
}

/** A chunk as a message of its own, so that whatever reads chunks of messages finds a text. */
function wholeChunk(chunk: AssistantChunk): AssistantMessage {
  return (chunk.content === undefined ? { ...chunk, content: '' } : chunk) as AssistantMessage;
}
