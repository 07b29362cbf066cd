/** The step that makes the tool calls of a model's message. */
import { defer, type Observable } from 'rxjs';
import { EngineError } from '../../errors.js';
import { isJsonObject } from '../../json.js';
import { concatMessageLists } from '../../models/concat-messages.js';
import type { ToolCall } from '../../models/content-parts.js';
import type { AssistantMessage, ToolMessage } from '../../models/messages.js';
import { invalidOption, requireCallable, requireOptions, requireWhole } from '../../operators/invalid-option.js';
import type { Interrupt } from '../interrupt.js';
import { show } from '../make-step.js';
import type { OptionStep, StepActivation } from '../step.js';
import { step } from '../steps.js';
import type { CallSetup, PlacedCall, RequestedCall, ToolAnswer, ToolMiddleware } from './run-tool-call.js';
import type { StepTool, ToolActivation } from './step-tool.js';
import { type AliasesByTool, type ToolBox, toolBox } from './tool-box.js';
import { toolRound } from './tool-round.js';

/** How a node of tools works. */
export interface ToolsNodeOptions {
  /** What may be called. @default none: every call brings its own as call options */
  readonly tools?: readonly StepTool[];
  /** @default 'tools' */
  readonly name?: string;
  /** Calls at work at once; 1: one after the other, in their order. @default all of a message */
  readonly concurrency?: number;
  /** Other names of tools and of their arguments. @default none */
  readonly aliases?: AliasesByTool;
  /** Answers calls of tools that are not there. @default TOOL_UNKNOWN, before any call of the message is made */
  readonly unknownTool?: (call: RequestedCall, at: ToolActivation) => ToolAnswer;
  /** Gives the JSON text of the arguments that are used, after aliases, before middlewares. @default the model's own */
  readonly prepareArguments?: (call: RequestedCall, at: ToolActivation) => string | PromiseLike<string>;
  /** Whether arguments that nearly are JSON are made JSON. @default true */
  readonly repair?: boolean;
  /** Around every call of a tool that is there, the first one outermost. @default none */
  readonly use?: readonly ToolMiddleware[];
  /**
   * What fails becomes the result: its message, or the text that a function makes of it; undefined lets it fail.
   * @default false: the node fails with the first error and stops the other calls
   */
  readonly errorsAsText?: boolean | ((error: EngineError, call: RequestedCall) => string | undefined);
  /** Most UTF-16 units of one result; more is LIMIT_REACHED. @default 4_000_000 */
  readonly maxResultLength?: number;
}

/** What one run may set: `options(tools, { tools: [search] })`. */
export interface ToolsNodeCallOptions {
  /** In place of the node's own. */
  readonly tools?: readonly StepTool[];
  /** In place of the node's own. */
  readonly aliases?: AliasesByTool;
  /** What tools see as `call.options`. @default nothing */
  readonly toolOptions?: Readonly<Record<string, unknown>>;
}

/** A step that makes the calls of a message. */
export type ToolsNode = OptionStep<AssistantMessage, ToolMessage[], ToolsNodeCallOptions>;

const MAX_RESULT_LENGTH = 4_000_000;

/**
 * Makes the tool calls of a model's message: a step from the message to the messages of the tools, in the order of the calls.
 *
 * Arguments go through aliases, `prepareArguments`, the middlewares, repair and the check of the tool. As a stream it gives lists as long as the
 * whole one, with the new text at the place of its call and messages without text at the others, so that joining the lists gives the whole.
 *
 * Tools may ask (`call.interrupt(…)`), several at once; the address of a question is `<path>#<id of the call>`. What the other calls gave is kept, and
 * after an answer only calls with an answer are made again. See `toolRound` for what is live when.
 *
 * Errors: INPUT_INVALID for a message that is not a model's or has no calls: put a branch in front, such as `hasToolCall()`; TOOL_UNKNOWN;
 * TOOL_ARGUMENTS; TOOL_FAILED and other errors of tools, with the tool and the id of the call; OPTION_INVALID for wrong call options.
 *
 * @throws EngineError OPTION_INVALID for options that cannot be used.
 */
export function toolsNode(options: ToolsNodeOptions = {}): ToolsNode {
  requireOptions('toolsNode', options, OPTIONS);
  const { tools = [], name = 'tools', aliases = {}, concurrency = Number.POSITIVE_INFINITY, use = [] } = options;
  const owner = `toolsNode "${name}"`;
  const { maxResultLength = MAX_RESULT_LENGTH, repair = true, errorsAsText = false } = options;
  if (concurrency !== Number.POSITIVE_INFINITY) requireWhole(owner, 'concurrency', concurrency, 1);
  requireWhole(owner, 'maxResultLength', maxResultLength, 1);
  if (!Array.isArray(use) || use.some((one) => typeof one !== 'function')) {
    throw invalidOption(owner, 'use', 'a list of functions (call, next) => …', use);
  }
  const { unknownTool, prepareArguments } = options;
  requireCallable(owner, 'unknownTool', unknownTool);
  requireCallable(owner, 'prepareArguments', prepareArguments);
  if (typeof repair !== 'boolean') throw invalidOption(owner, 'repair', 'true or false', repair);
  if (typeof errorsAsText !== 'boolean') requireCallable(owner, 'errorsAsText', errorsAsText);
  const own = toolBox(owner, tools, aliases);
  const shared = { concurrency, use, repair, maxResultLength, errorsAsText, unknownTool, prepareArguments };
  return step<AssistantMessage, ToolMessage[]>(
    name,
    (message, at) =>
      defer(() => {
        const given = readCallOptions(owner, at.options);
        const isOwn = given.tools === undefined && given.aliases === undefined;
        const box = isOwn ? own : toolBox(owner, given.tools ?? tools, given.aliases ?? aliases);
        const setup = { ...shared, box, toolOptions: given.toolOptions ?? {} };
        return toolRound(setup, placeCalls(setup, callsOf(message, at)), at);
      }),
    { kind: 'toolsNode', mayAsk: true, chunks: (lists) => concatMessageLists(lists) },
  );
}

/** How {@link toolCaller} makes calls. */
export interface ToolsCall extends Required<Pick<ToolsNodeOptions, 'tools' | 'use' | 'concurrency' | 'errorsAsText'>> {}

/**
 * Makes calls as a node of tools does, for steps that do more than that: gives a function of the calls and the activation of its step, which has to
 * have the options `mayAsk` and the rule of chunks of {@link toolsNode}.
 *
 * @throws EngineError OPTION_INVALID for what is no tool, and two tools of a name.
 */
export function toolCaller(
  owner: string,
  { tools, use, concurrency, errorsAsText }: ToolsCall,
): (calls: readonly ToolCall[], at: StepActivation) => Observable<ToolMessage[] | Interrupt> {
  const setup = {
    box: toolBox(owner, tools),
    use,
    concurrency,
    errorsAsText,
    repair: true,
    maxResultLength: MAX_RESULT_LENGTH,
    unknownTool: undefined,
    prepareArguments: undefined,
    toolOptions: {},
  };
  return (calls, at) => toolRound(setup, placeCalls(setup, calls), at);
}

const OPTIONS = [
  'tools',
  'name',
  'concurrency',
  'aliases',
  'unknownTool',
  'prepareArguments',
  'repair',
  'use',
  'errorsAsText',
  'maxResultLength',
];

/** The calls of a message; a message in parts may have them only there. */
function callsOf(message: AssistantMessage, { path }: StepActivation): readonly ToolCall[] {
  if (!isJsonObject(message) || message.role !== 'assistant') {
    const got = isJsonObject(message) ? `a message of the role ${JSON.stringify(message.role)}` : show(message);
    throw new EngineError(
      'INPUT_INVALID',
      `"${path}" makes the calls of a model's message; received ${got}. Give it a message of the role "assistant".`,
    );
  }
  const { toolCalls = [], parts = [] } = message;
  const calls = toolCalls.length > 0 ? toolCalls : parts.filter((part) => part.type === 'tool-call');
  if (calls.length > 0) return calls;
  throw new EngineError(
    'INPUT_INVALID',
    `"${path}" received a message without tool calls. Lead only messages that have some to it, with a branch such as hasToolCall().`,
  );
}

/** @throws EngineError TOOL_UNKNOWN, when nothing stands in for tools that are not there. */
function placeCalls(
  { box, unknownTool, errorsAsText }: Pick<CallSetup, 'unknownTool' | 'errorsAsText'> & { readonly box: ToolBox },
  calls: readonly ToolCall[],
): PlacedCall[] {
  const taken = new Set<string>();
  return calls.map((call, index) => {
    const boxed = box.find(call.name);
    if (boxed === undefined && unknownTool === undefined && errorsAsText === false) throw box.unknown(call.name);
    const id = uniqueCallId(call.id, index, taken);
    return { index, id, call, boxed };
  });
}

/** Calls with an id each, as those that are made of them have: providers repeat ids, or leave them out. */
export function uniqueCallIds(calls: readonly ToolCall[]): ToolCall[] {
  const taken = new Set<string>();
  return calls.map((call, index) => ({ ...call, id: uniqueCallId(call.id, index, taken) }));
}

function uniqueCallId(given: string, index: number, taken: Set<string>): string {
  const base = given === '' ? `call_${index}` : given;
  let id = base;
  for (let count = 2; taken.has(id); count += 1) id = `${base}_${count}`;
  taken.add(id);
  return id;
}

const CALL_OPTIONS = new Set(['tools', 'aliases', 'toolOptions']);

function readCallOptions(owner: string, given: Readonly<Record<string, unknown>>): ToolsNodeCallOptions {
  const unknown = Object.keys(given).find((key) => !CALL_OPTIONS.has(key));
  if (unknown === undefined) return given;
  throw new EngineError(
    'OPTION_INVALID',
    `${owner}: there is no call option "${unknown}". Its call options are ${[...CALL_OPTIONS].join(', ')}.`,
  );
}
