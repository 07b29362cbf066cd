/** How the work of an agent ends, for what stands around it: a tool, a team, a runner. */

import type { AnyStep, Step } from '../../compose/step.js';
import type { StepTool } from '../../compose/tools/step-tool.js';
import { EngineError } from '../../errors.js';
import type { ErrorInfo } from '../../graph/events.js';
import type { ChatMessage } from '../../models/messages.js';
import type { AgentInput } from './agent-input.js';

/** What an agent starts with when it is part of something else. */
export interface AgentStart {
  readonly messages: readonly ChatMessage[];
}

/** Why an agent ended with an answer. `preempted`: an input opens another turn. */
export type AnswerReason = 'answered' | 'returned-directly' | 'stopped' | 'preempted';

/** How an agent ended. */
export type AgentEnd = {
  readonly agent: string;
  /** What it has added to the conversation. */
  readonly messages: readonly ChatMessage[];
  /** The conversation as it would go on with it, where it has put other messages in place of older ones. @default what it was given, and has added */
  readonly context?: readonly ChatMessage[];
} & (
  | {
      readonly type: 'answered';
      readonly reason: AnswerReason;
      readonly text: string;
      /** The answer in the form that was asked for; the text without one. */
      readonly value: unknown;
    }
  | { readonly type: 'handed-over'; readonly to: string }
  | { readonly type: 'failed'; readonly error: ErrorInfo }
);

/** An agent that another one may hand over to. */
export interface HandoffTarget {
  readonly name: string;
  readonly description: string;
}

/** How an agent stands in something else. */
export interface AgentShape {
  /** Agents that it may hand over to. @default none */
  readonly handoffs?: readonly HandoffTarget[];
  /** An error of its model is an end, and not the failure of the run. @default false */
  readonly endsOnFailure?: boolean;
}

/** The key under which agents keep what they are made of; not for programs. */
export const AGENT: unique symbol = Symbol('agent');

/** What an agent is made of. */
export interface AgentParts {
  /**
   * Paths, from its own name on, of the agents that hear what is said to it while it works: itself, or those of a team that speak one at a time.
   */
  readonly speakers: readonly string[];
  /** The agent as a step that says how it ended. */
  ended(shape: AgentShape): Step<AgentStart, AgentEnd>;
}

/** An agent: a step that answers, and that teams, tools and runners know more of. */
export interface Agent<O = string> extends Step<AgentInput, O> {
  /** What it does and when to ask it; empty when it was not said. */
  readonly description: string;
  readonly [AGENT]: AgentParts;
}

/** An agent, whatever it answers. */
export type AnyAgent = Agent<unknown>;

/** Makes an agent of a step and its parts. */
export function agentOf<O>(made: Step<AgentInput, O>, description: string, parts: AgentParts): Agent<O> {
  return Object.freeze({ ...made, description, [AGENT]: parts });
}

/** What an agent that stands alone gives. @throws EngineError NODE_PROTOCOL when it handed over where no other agent is. */
export function answerOf(end: AgentEnd): unknown {
  if (end.type === 'answered') return end.value;
  throw new EngineError('NODE_PROTOCOL', `Agent "${end.agent}" ended without an answer (${end.type}).`);
}

/** Whether a value is an agent. */
export function isAgent(value: unknown): value is AnyAgent {
  return typeof value === 'object' && value !== null && AGENT in value;
}

/** The key under which the tool of an agent keeps it; not for programs. */
export const AGENT_TOOL: unique symbol = Symbol('agent-tool');

/** What an agent does that is called as a tool. */
export interface CalledAgent {
  /** Whom its calls may start, by name; more than one only with `choose`. */
  readonly agents: readonly AnyAgent[];
  /** The name of the one that arguments mean. @default the only one */
  choose?(args: Readonly<Record<string, unknown>>): string;
  /** Throws or rejects TOOL_ARGUMENTS, in words for the model, for arguments that do not fit. */
  check(args: Readonly<Record<string, unknown>>): unknown;
  /** The messages of a call: of its arguments, and of the conversation that it was made in. */
  messagesOf(args: Readonly<Record<string, unknown>>, conversation: readonly ChatMessage[]): readonly ChatMessage[];
}

/** A tool that is an agent: inside of agents it is a part of their graph. */
export interface AgentAsTool extends StepTool {
  readonly [AGENT_TOOL]: CalledAgent;
}

/** Whether a tool is an agent. */
export function isAgentAsTool(tool: StepTool): tool is AgentAsTool {
  return AGENT_TOOL in tool;
}

/** A step without its types, where a graph is drawn of steps that are only known when it is. */
export type UntypedStep = AnyStep;
