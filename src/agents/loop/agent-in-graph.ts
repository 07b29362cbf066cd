/** What the steps of an agent's graph know of it, and what they say to each other. */
import type { StepTool } from '../../compose/tools/step-tool.js';
import type { AgentEnd, AgentStart, AgentTool } from './agent-end.js';
import type { AgentSetup } from './agent-options.js';

/** An agent in its graph: its options, and what it may call, sorted. */
export interface AgentInGraph {
  readonly setup: AgentSetup;
  /** Tools of code, also those that middlewares bring. */
  readonly tools: readonly StepTool[];
  readonly agents: readonly AgentTool[];
  /** What the model may call to hand over, by the name of the agent that it hands over to. */
  readonly handoffs: ReadonlyMap<string, StepTool>;
  readonly endsOnFailure: boolean;
}

/** A call of an agent, as it starts with it. */
export interface AgentCall extends AgentStart {
  /** Of the tool. */
  readonly name: string;
}

/** What leads to the end. */
export interface Ending {
  /** Result of a tool that is the answer. */
  readonly direct?: string;
  /** Why the agent ends before its model is done. */
  readonly ending?: 'preempted' | 'stopped';
}

/** How it ended, or that it goes on. */
export type Verdict = { readonly end: AgentEnd } | { readonly again: true };
