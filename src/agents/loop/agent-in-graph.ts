/** What the steps of an agent's graph know of it, and what they say to each other. */
import type { Observable } from 'rxjs';
import type { Interrupt } from '../../compose/interrupt.js';
import type { StepActivation } from '../../compose/step.js';
import type { StepTool } from '../../compose/tools/step-tool.js';
import type { ToolDefinition } from '../../models/chat-model.js';
import type { ToolCall } from '../../models/content-parts.js';
import type { ToolMessage } from '../../models/messages.js';
import { AGENT_TOOL, type AgentAsTool, type AgentEnd, type AgentStart } from './agent-end.js';
import type { AgentSetup } from './agent-options.js';
import type { BackgroundRules } from './background-state.js';
import type { RoundRequest } from './middleware.js';

/** An agent in its graph: its options, and what it may call, sorted. */
export interface AgentInGraph {
  readonly setup: AgentSetup;
  /** Tools of code, also those that middlewares bring. */
  readonly tools: readonly StepTool[];
  readonly agents: readonly AgentAsTool[];
  /** What the model may call to hand over, by the name of the agent that it hands over to. */
  readonly handoffs: ReadonlyMap<string, StepTool>;
  /** What the model is offered of all that, unless it may call nothing any more. */
  readonly offered: readonly ToolDefinition[];
  /** What requests say beside messages and tools, with the form of the answer. */
  readonly settings: RoundRequest['settings'];
  readonly endsOnFailure: boolean;
  /** Text of an answer may be given on as the model says it. */
  readonly isLive: boolean;
  /** Rules for work in the background; undefined: there is none. */
  readonly background: BackgroundRules | undefined;
  /** Makes the calls of answers in place of its own tools. */
  readonly callTools: CallTools | undefined;
}

/**
 * Makes the calls of an answer in a step that has the options `mayAsk` and the rule of chunks of `toolsNode`: gives their results in the order of the
 * calls, or a question.
 */
export type CallTools = (calls: readonly ToolCall[], at: StepActivation) => Observable<ToolMessage[] | Interrupt>;

/** An agent with rules for work in the background. */
export interface AgentWithWork extends AgentInGraph {
  readonly background: BackgroundRules;
}

/** Whether an agent has work in the background. */
export function hasWork(agent: AgentInGraph): agent is AgentWithWork {
  return agent.background !== undefined;
}

/** A call of an agent, as it starts with it. */
export interface AgentCall extends AgentStart {
  /** Of the way through the graph, see {@link routeTo}. */
  readonly name: string;
}

/** The way to an agent that a tool may call: its name as the tool has it, or both names where tools share one. */
export function routeTo({ agents }: Pick<AgentInGraph, 'agents'>, tool: AgentAsTool, agent: string): string {
  if (tool[AGENT_TOOL].choose === undefined) return tool.name;
  const isShared = agents.some((other) => {
    const { choose, agents: callable } = other[AGENT_TOOL];
    if (choose === undefined) return other.name === agent;
    return other !== tool && callable.some(({ name }) => name === agent);
  });
  return isShared ? `${tool.name}/${agent}` : agent;
}

/** What leads to the end. */
export interface Ending {
  /** Result of a tool that is the answer. */
  readonly direct?: string;
  /** Why the agent ends before its model is done. */
  readonly ending?: 'preempted' | 'stopped';
}

/** How it ended, or that it goes on: with another round, or when work in the background has ended. */
export type Verdict = { readonly end: AgentEnd } | { readonly again: true } | { readonly rest: true };
