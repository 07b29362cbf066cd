/**
 * `runnel/agents`: a model and its tools as one stream, without a canvas around them. For programs that let a model work with tools:
 * budgets, approvals, inner agents, the state to continue from, and what sessions are made of. Types that `runnel` has as well are
 * exported there alone.
 */
export {
  type AgentStateEvent,
  type AgentText,
  type ApprovalNeeded,
  type CallProgress,
  type InnerEvent,
  type InnerState,
  newAgentState,
  type PendingCall,
  type ToolLogEntry,
} from '../agents/agent-events.js';
export { type AgentToolCall, type AgentToolEvent, type BoundTool, bindTool } from '../agents/agent-tool.js';
export { callContext } from '../agents/call-context.js';
export { openChat } from '../agents/chat.js';
export { runAgent } from '../agents/run-agent.js';
export type { Approval, Caller } from '../agents/run-calls.js';
export {
  applyEntry,
  EMPTY_SESSION,
  foldSession,
  loadSession,
  type OpenTurn,
  type SessionState,
  type SessionTurn,
} from '../agents/sessions/fold-session.js';
export type { MemorySessionsOptions } from '../agents/sessions/memory-sessions.js';
export type {
  ListSessionsOptions,
  ReadSessionOptions,
  SessionEntry,
  SessionFact,
  SessionSummary,
} from '../agents/sessions/session-store.js';
export type { SessionStoreOptions } from '../agents/sessions/stored-sessions.js';
