/** What an agent of a node is run with. */
import type { Observable } from 'rxjs';
import type { AgentTool } from './agent-tool.js';
import type { Approval } from './approvals.js';
import type { Chat } from './chat.js';
import type { NodeInput } from './node-inputs.js';
import type { Caller } from './round-calls.js';

/** What an agent may spend; what is absent has no bound but the rounds. */
export interface AgentBudget {
  /** Tokens of all its model calls. */
  readonly tokens?: number;
  /** Milliseconds of running time. */
  readonly ms?: number;
}

/** An agent, ready to run. */
export interface AgentSetup extends Omit<Caller, 'concurrency'> {
  readonly chat: Pick<Chat, 'request' | 'ask'>;
  readonly tools: readonly AgentTool[];
  /** Rounds of tool calls after the first; then the model is called once more without tools. */
  readonly maxRounds: number;
  readonly budget?: AgentBudget;
  /** Tool calls at once. @default 8 */
  readonly concurrency?: number;
  /** Decisions about the pending calls of the state, by id of the call. */
  readonly approvals?: ReadonlyMap<string, Approval>;
  /**
   * What people say to it while it works. The first list, which may be empty, is what they said before: the agent begins with it. Those of an id that its
   * conversation has are left out. @default nothing
   */
  readonly inputs$?: Observable<readonly NodeInput[]>;
}
