/**
 * `runnel/agents`: a model and its tools as one stream, without a canvas around them. For programs that let a model work with tools:
 * budgets, approvals, inner agents and the state to continue from. Types that `runnel` has as well are exported there alone.
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
