/** What stands around an agent's model and its tools: functions that see and change what goes in and comes out. */
import type { Observable } from 'rxjs';
import type { Interrupt, InterruptOptions, InterruptPart } from '../../compose/interrupt.js';
import { requireName } from '../../compose/make-step.js';
import type { ChatModelOptions } from '../../compose/models/chat-model-step.js';
import type { ToolMiddleware } from '../../compose/tools/run-tool-call.js';
import type { StepTool } from '../../compose/tools/step-tool.js';
import type { ChatModel, ToolDefinition } from '../../models/chat-model.js';
import type { AssistantMessage, ChatMessage, ToolMessage } from '../../models/messages.js';
import { invalidOption, requireCallable, requireOptions } from '../../operators/invalid-option.js';
import type { AgentView } from './agent-view.js';
import type { AnswerLimits } from './answer-limits.js';

/** One call of the model. What a hook gives in its place holds for this round; `view.replaceMessages` holds for good. */
export interface RoundRequest {
  readonly model: string | ChatModel;
  /** What the model is told of its part; empty for nothing. */
  readonly instructions: string;
  readonly messages: readonly ChatMessage[];
  /** What is offered to the model. */
  readonly tools: readonly ToolDefinition[];
  /** What the request says beside them. */
  readonly settings: Omit<ChatModelOptions, 'tools' | 'model'>;
}

/** The answer of a model before its calls are made. */
export interface RoundAnswer {
  readonly message: AssistantMessage;
  /** Results of calls that need not be made, such as refused ones. */
  readonly results: readonly ToolMessage[];
}

/** The answer of an agent. */
export interface FinalAnswer {
  readonly text: string;
}

/** What a hook sees. `V`: what its middleware remembers. */
export interface HookView<V = unknown> extends AgentView {
  /** What the middleware remembers; it survives a resume. */
  readonly own: V;
  setOwn(own: V): void;
  /** Answers to the questions of this hook, by their ids; a single question has the id ''. */
  readonly answers: ReadonlyMap<string, unknown>;
  /**
   * Asks a model beside the conversation: nothing of the answer is in the events but its cost, which counts for the agent. Cold; only while the
   * model, or what stands before it, is at work.
   */
  ask: AskModel;
  /** A question to a person: return what it gives. The hook is called again once it is answered. */
  interrupt(question: unknown, options?: Omit<InterruptOptions, 'memo'>): Interrupt;
  /** Several questions at once, each with an id: return what it gives. */
  interruptAll(questions: readonly InterruptPart[]): Interrupt;
}

/** What a hook may give: another value in place of the one it got, at once or later; nothing keeps it. */
export type HookResult<T> = T | undefined | PromiseLike<T | undefined>;

/** The same of a hook that may ask. */
export type AskingHookResult<T> = T | undefined | Interrupt | PromiseLike<T | undefined | Interrupt>;

/** Makes the pieces of an answer; cold. */
export type AskModel = (request: RoundRequest) => Observable<AssistantMessage>;

/** What an agent is made of, for tools that are made of the same. */
export interface AgentBasis extends Pick<RoundRequest, 'model' | 'settings'> {
  readonly name: string;
  readonly failover: readonly (string | ChatModel)[];
  readonly limits: AnswerLimits;
  /** Its own ones, without those that middlewares bring. */
  readonly tools: readonly StepTool[];
  /** Its middlewares that hold for such agents as well (`holdsForHelpers`). */
  readonly use: readonly AnyMiddleware[];
}

/**
 * A middleware of agents. Hooks of several run in the order of the list; of those that wrap, the first is outermost.
 *
 * ```text
 * beforeAgent ──> [ beforeModel ──> wrapModel( model ) ──> afterModel ──> wrapTool( tools ) ──> afterTools ]* ──> afterAgent
 * ```
 */
export interface AgentMiddleware<V = unknown> {
  /** Unique among the middlewares of an agent; part of the addresses of its questions. */
  readonly name: string;
  /** What it remembers at the beginning; storable. @default undefined */
  readonly initial?: () => V;
  /** Tools that it brings; a function is asked once, when an agent is made. @default none */
  readonly tools?: readonly StepTool[] | ((agent: AgentBasis) => readonly StepTool[]);
  /**
   * Whether it also stands around agents that other middlewares make of this agent's model and tools, as `subAgents` and `skills` do: what asks
   * before a tool is called, or checks what is said, must not be passed by through them. @default false
   */
  readonly holdsForHelpers?: boolean;
  /**
   * Names of tools that it is for, such as those that need a person's word. An agent that has none of them, or one that is spelt nearly so, is refused
   * (OPTION_INVALID); the event `tools-unknown` tells of others that it does not have. @default none in particular
   */
  readonly toolNames?: readonly string[];
  /** Behind the agent's own instructions. @default nothing */
  readonly instructions?: string | ((view: AgentView) => string);
  /** Once, before the first round; may give other messages. */
  beforeAgent?(messages: readonly ChatMessage[], view: HookView<V>): AskingHookResult<readonly ChatMessage[]>;
  /** Before each call of the model; may give another request. It cannot ask a person; what it does as an Observable ends with the round. */
  beforeModel?(request: RoundRequest, view: HookView<V>): HookResult<RoundRequest> | Observable<RoundRequest>;
  /** Around each call of the model, its tries included one by one: what leaves the outermost one is what events tell. */
  wrapModel?(request: RoundRequest, next: AskModel, view: HookView<V>): Observable<AssistantMessage>;
  /** Behind each answer; may change it, answer calls itself, or ask. */
  afterModel?(answer: RoundAnswer, view: HookView<V>): AskingHookResult<RoundAnswer>;
  /** Around each call of a tool; calls of other agents are not among them. */
  wrapTool?(...call: [...Parameters<ToolMiddleware>, view: HookView<V>]): ReturnType<ToolMiddleware>;
  /** Behind the calls of a round; may give other results, or ask. */
  afterTools?(results: readonly ToolMessage[], view: HookView<V>): AskingHookResult<readonly ToolMessage[]>;
  /** Once, behind the answer; may change its text, or ask. */
  afterAgent?(answer: FinalAnswer, view: HookView<V>): AskingHookResult<FinalAnswer>;
}

/** A middleware, whatever it remembers. */
// biome-ignore lint/suspicious/noExplicitAny: middlewares of all kinds share lists
export type AnyMiddleware = AgentMiddleware<any>;

/** The hooks of a middleware. */
export const HOOKS = [
  'beforeAgent',
  'beforeModel',
  'wrapModel',
  'afterModel',
  'wrapTool',
  'afterTools',
  'afterAgent',
] as const;

const FIELDS = ['name', 'initial', 'tools', 'holdsForHelpers', 'toolNames', 'instructions', ...HOOKS];

/**
 * Types a middleware and checks it.
 *
 * @throws EngineError PLAN_INVALID for a name that no path could hold; OPTION_INVALID for names that are no hooks, and hooks that are no functions.
 */
export function defineMiddleware<V = undefined>(middleware: AgentMiddleware<V>): AgentMiddleware<V> {
  requireOptions('defineMiddleware', middleware, FIELDS);
  const { name, tools = [] } = middleware;
  requireName('A middleware', name);
  const owner = `defineMiddleware "${name}"`;
  requireCallable(owner, 'initial', middleware.initial);
  const { holdsForHelpers = false } = middleware;
  if (typeof holdsForHelpers !== 'boolean') {
    throw invalidOption(owner, 'holdsForHelpers', 'true or false', holdsForHelpers);
  }
  for (const hook of HOOKS) requireCallable(owner, hook, middleware[hook]);
  if (!Array.isArray(tools) && typeof tools !== 'function') {
    throw invalidOption(owner, 'tools', 'a list of tools, or a function that gives one', tools);
  }
  const { toolNames = [] } = middleware;
  if (!Array.isArray(toolNames) || toolNames.some((one: unknown) => typeof one !== 'string')) {
    throw invalidOption(owner, 'toolNames', 'a list of names of tools', toolNames);
  }
  return Object.freeze({ ...middleware });
}
