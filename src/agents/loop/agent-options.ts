/** What an agent is made of, checked when it is made. */
import { requireName } from '../../compose/make-step.js';
import { type ChatModelOptions, requireChatOptions } from '../../compose/models/chat-model-step.js';
import type { StepTool } from '../../compose/tools/step-tool.js';
import { toolBox } from '../../compose/tools/tool-box.js';
import { EngineError } from '../../errors.js';
import type { ChatModel } from '../../models/chat-model.js';
import {
  hasMethods,
  invalidOption,
  requireCallable,
  requireList,
  requireObject,
  requireOptions,
  requireSchema,
  requireText,
  requireWhole,
} from '../../operators/invalid-option.js';
import type { StandardSchema } from '../../standard-schema.js';
import { type Language, requireLanguage } from '../language.js';
import { isAgent } from './agent-end.js';
import type { AgentView } from './agent-view.js';
import { type AnswerLimits, checkLimits } from './answer-limits.js';
import type { ModelRetry } from './ask-model.js';
import type { AgentBasis, AnyMiddleware, HookResult, RoundRequest } from './middleware.js';
import { rounds, type StopRule } from './stop-rules.js';
import { checkToolNames, type UnknownToolNames, unknownToolNames } from './tool-names.js';

/** See `agent`. */
export interface AgentOptions<O = string> {
  /** Part of paths and of events; what other agents call it by. */
  readonly name: string;
  /** What it does and when to ask it, for agents that may. @default none */
  readonly description?: string;
  /** A model of `services.models` by name, `''` for the default one, or a model itself. @default '' */
  readonly model?: string | ChatModel;
  /** Stand in for the model when it fails, in this order; a round begins with the one that answered last. @default none */
  readonly failover?: readonly (string | ChatModel)[];
  /** What requests to the model say beside messages and tools. @default nothing */
  readonly settings?: RoundRequest['settings'];
  /** What the model is told of its part. @default nothing */
  readonly instructions?: string | ((view: AgentView) => string);
  /** What the model may call; agents among them are made by `agentTool`. @default none */
  readonly tools?: readonly StepTool[];
  /** What the answer has to be; the model is told its JSON Schema, and what is wrong with an answer that does not fit. @default text */
  readonly output?: StandardSchema<unknown, O>;
  /** Answers that do not fit and are sent back. @default 2 */
  readonly repairs?: number;
  /** Keeps the answer in the session under this name. @default not kept */
  readonly outputKey?: string;
  /** Hooks around model and tools; the first one is outermost. @default none */
  readonly use?: readonly AnyMiddleware[];
  /** When tools may not be called any more; one rule is enough. @default [rounds(20)] */
  readonly stopWhen?: readonly StopRule[];
  /**
   * What happens then. `answer`: the model is asked once more, without tools. `end`: what it said last is the answer. `fail`: LIMIT_REACHED.
   * @default 'answer'
   */
  readonly whenStopped?: 'answer' | 'end' | 'fail';
  /** Tools whose result is the answer of the agent. @default none */
  readonly returnDirectly?: readonly string[];
  /**
   * When text of an agent that has tools is its answer. `end`: once it is known that no call follows, so in one piece. `text`: from its first piece on,
   * for models that say nothing before they call; a call behind text then fails the run. Agents without tools never wait. All wait where an answer may
   * still change: with `output`, `retry`, `failover`, hooks around or behind the model, and inside teams and runners, which take whole answers.
   * @default 'end'
   */
  readonly answerFrom?: 'end' | 'text';
  /** Changes the request of a round: its model, its messages, its tools. @default not changed */
  readonly prepareRound?: (request: RoundRequest, view: AgentView) => HookResult<Partial<RoundRequest>>;
  /** When the model is asked again. @default never */
  readonly retry?: ModelRetry;
  /** How long an answer may take. @default no limit */
  readonly limits?: AnswerLimits;
  /** Calls of tools at work at once, and of agents. @default 8 */
  readonly concurrency?: number;
  /** Of what its model is told by the agent itself: why no tool may be called, how an answer is mended, what others said. @default 'en' */
  readonly language?: Language;
}

/** The same with its defaults. */
export interface AgentSetup
  extends Required<Omit<AgentOptions<unknown>, 'output' | 'outputKey' | 'prepareRound' | 'retry'>> {
  readonly output: StandardSchema<unknown, unknown> | undefined;
  readonly outputKey: string | undefined;
  readonly prepareRound: AgentOptions['prepareRound'];
  readonly retry: ModelRetry | undefined;
  /** Tools of its middlewares. */
  readonly brought: readonly StepTool[];
  /** Names that middlewares and rules are for, and no tool has. */
  readonly unknownNames: readonly UnknownToolNames[];
}

/** The names of its options, for what takes them among others. */
export const AGENT_OPTIONS: readonly string[] = [
  'name',
  'description',
  'model',
  'failover',
  'settings',
  'instructions',
  'tools',
  'output',
  'repairs',
  'outputKey',
  'use',
  'stopWhen',
  'whenStopped',
  'returnDirectly',
  'answerFrom',
  'prepareRound',
  'retry',
  'limits',
  'concurrency',
  'language',
];

/**
 * Reads the options of an agent.
 *
 * @throws EngineError PLAN_INVALID for a name that no path could hold; OPTION_INVALID for everything else that cannot be used.
 */
export function readAgentOptions(options: AgentOptions<never>): AgentSetup {
  requireOptions('agent', options, AGENT_OPTIONS, 'an object with "name"');
  const { name, use = [], stopWhen = [rounds(20)], failover = [], retry, limits = {} } = options;
  requireName('An agent', name);
  const owner = `agent "${name}"`;
  const { model = '', whenStopped = 'answer', repairs = 2, concurrency = 8, tools = [] } = options;
  requireLists(owner, tools, failover);
  for (const one of [model, ...failover]) requireModel(owner, one);
  for (const hook of ['prepareRound'] as const) requireCallable(owner, hook, options[hook]);
  requireSchema(owner, 'output', options.output);
  requireWhole(owner, 'repairs', repairs, 0);
  requireWhole(owner, 'concurrency', concurrency, 1);
  checkLimits(owner, limits);
  if (retry !== undefined) checkRetry(owner, retry);
  requireFunctions(owner, 'stopWhen', stopWhen);
  requireNames(owner, use);
  if (!['answer', 'end', 'fail'].includes(whenStopped)) {
    throw invalidOption(owner, 'whenStopped', '"answer", "end" or "fail"', whenStopped);
  }
  const { settings = {}, answerFrom = 'end', language = 'en', description = '' } = options;
  requireObject(owner, 'settings', settings, 'an object, such as { temperature: 0 }');
  requireChatOptions(`${owner}: "settings"`, settings);
  if (typeof description !== 'string') throw invalidOption(owner, 'description', 'text', description);
  if (options.outputKey !== undefined) requireText(owner, 'outputKey', options.outputKey, 'a name that is not empty');
  requireLanguage(owner, language);
  if (!['end', 'text'].includes(answerFrom)) throw invalidOption(owner, 'answerFrom', '"end" or "text"', answerFrom);
  // Helpers have tools of their own, which names of an agent's tools need not be among.
  const held = use.flatMap(({ toolNames: _, ...one }) => (one.holdsForHelpers === true ? [Object.freeze(one)] : []));
  const basis: AgentBasis = { name, model, failover, settings, limits, tools, use: held };
  const brought = use.flatMap((middleware) => toolsOf(middleware, basis));
  const box = toolBox(owner, [...tools, ...brought]);
  const { returnDirectly = [], instructions = '' } = options;
  if (typeof instructions !== 'string') requireCallable(owner, 'instructions', instructions);
  for (const tool of returnDirectly)
    if (box.find(tool) === undefined) throw unknownDirect(owner, tool, box.unknown(tool));
  const names = [...tools, ...brought].map((tool) => tool.name);
  const unknownNames = unknownToolNames(use, stopWhen, names);
  checkToolNames(owner, unknownNames, names);
  return {
    description: '',
    settings: {},
    ...(options as AgentOptions<unknown>),
    name,
    model,
    failover,
    instructions,
    tools,
    brought,
    unknownNames,
    use,
    stopWhen,
    whenStopped,
    returnDirectly,
    answerFrom,
    repairs,
    concurrency,
    language,
    limits,
    retry,
    output: options.output,
    outputKey: options.outputKey,
    prepareRound: options.prepareRound,
  };
}

/** @throws EngineError OPTION_INVALID */
function requireLists(owner: string, tools: readonly StepTool[], failover: readonly unknown[]): void {
  requireList(owner, 'tools', tools, 'a list of tools, made by defineTool, toolOf, mcpTools or graphTool');
  requireList(owner, 'failover', failover, 'a list of models, or of names of models');
  const asAgent: unknown = tools.find((tool: unknown) => isAgent(tool));
  if (!isAgent(asAgent)) return;
  const { name } = asAgent;
  throw new EngineError(
    'OPTION_INVALID',
    `${owner}: "tools" has the agent "${name}". Make a tool of it: agentTool(${name}).`,
  );
}

function toolsOf({ name, tools = [] }: AnyMiddleware, basis: AgentBasis): readonly StepTool[] {
  const given: unknown = typeof tools === 'function' ? tools(basis) : tools;
  if (Array.isArray(given)) return given;
  throw invalidOption(`The middleware "${name}"`, 'tools', 'a function that gives a list of tools', given);
}

/** What every request of a model may say; for checks of settings. */
export type RequestSettings = ChatModelOptions;

function requireModel(owner: string, model: unknown): void {
  if (typeof model === 'string' || hasMethods(model, ['chat'])) return;
  throw invalidOption(owner, 'model', 'the name of a model, or an object with a function "chat"', model);
}

function checkRetry(owner: string, retry: ModelRetry): void {
  requireOptions(`${owner}: "retry"`, retry, ['attempts', 'delayMs', 'when']);
  requireWhole(owner, 'retry.attempts', retry.attempts, 1);
  if (typeof retry.delayMs === 'number') requireWhole(owner, 'retry.delayMs', retry.delayMs, 0);
  else requireCallable(owner, 'retry.delayMs', retry.delayMs);
  requireCallable(owner, 'retry.when', retry.when);
}

function requireFunctions(owner: string, option: string, list: unknown): void {
  if (Array.isArray(list) && list.every((one) => typeof one === 'function')) return;
  throw invalidOption(owner, option, 'a list of functions', list);
}

function requireNames(owner: string, use: readonly AnyMiddleware[]): void {
  const called = Array.isArray(use) ? use.find((one: unknown) => typeof one === 'function') : undefined;
  if (called !== undefined) {
    const { name } = called as unknown as { readonly name: string };
    throw invalidOption(owner, 'use', `a list of middlewares; call what makes one: ${name || 'it'}(…)`, called);
  }
  if (!Array.isArray(use) || use.some((one) => typeof one?.name !== 'string')) {
    throw invalidOption(owner, 'use', 'a list of middlewares, made by defineMiddleware', use);
  }
  const double = use.find(({ name }, at) => use.findIndex((other) => other.name === name) < at);
  if (double === undefined) return;
  throw new EngineError(
    'OPTION_INVALID',
    `${owner}: two middlewares are called "${double.name}". Give one another name.`,
  );
}

function unknownDirect(owner: string, tool: string, { message }: EngineError): EngineError {
  return new EngineError('OPTION_INVALID', `${owner}: "returnDirectly" names "${tool}". ${message}`);
}
