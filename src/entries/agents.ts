/**
 * `runnel/agents`: agents in code. `agent(…)` is a model that calls tools until it has an answer, as a step like any other; middlewares, agents as
 * tools, stop rules and what sessions are made of go with it. Below it: a model and its tools as one stream, as the component Agent of canvases
 * uses it. Types that `runnel` has as well are exported there alone.
 */
export { type AgUiRequest, fromAgUi } from '../ag-ui/from-ag-ui.js';
export type { AgUiEvent, AgUiInput, AgUiInterrupt, AgUiOutcome } from '../ag-ui/protocol.js';
export { type AgUiOptions, toAgUi } from '../ag-ui/to-ag-ui.js';
export {
  type AgentStateEvent,
  type AgentText,
  type ApprovalNeeded,
  type CallProgress,
  type InnerEvent,
  type InnerState,
  type InputJoined,
  newAgentState,
  type PendingCall,
  type ToolLogEntry,
} from '../agents/agent-events.js';
export { type AgentToolCall, type AgentToolEvent, type BoundTool, bindTool } from '../agents/agent-tool.js';
export type { Approval } from '../agents/approvals.js';
export { callContext } from '../agents/call-context.js';
export { openChat } from '../agents/chat.js';
export type { Language } from '../agents/language.js';
export { agent } from '../agents/loop/agent.js';
export { type AgentToolOptions, agentTool } from '../agents/loop/agent-as-tool.js';
export {
  AGENT,
  AGENT_TOOL,
  type Agent,
  type AgentAsTool,
  type AgentEnd,
  type AgentParts,
  type AgentShape,
  type AgentStart,
  type AnswerReason,
  type AnyAgent,
  type CalledAgent,
  type HandoffTarget,
} from '../agents/loop/agent-end.js';
export type { AgentInput } from '../agents/loop/agent-input.js';
export type { AgentOptions } from '../agents/loop/agent-options.js';
export type { AgentView } from '../agents/loop/agent-view.js';
export { answerEvents } from '../agents/loop/answer-events.js';
export type { AnswerLimits } from '../agents/loop/answer-limits.js';
export type { ModelOutcome, ModelRetry, NextTry } from '../agents/loop/ask-model.js';
export { finalAnswer } from '../agents/loop/call-steps.js';
export {
  type AgentBasis,
  type AgentMiddleware,
  type AnyMiddleware,
  type AskingHookResult,
  type AskModel,
  defineMiddleware,
  type FinalAnswer,
  type HookResult,
  type HookView,
  type RoundAnswer,
  type RoundRequest,
} from '../agents/loop/middleware.js';
export { type ReactGraphOptions, reactGraph } from '../agents/loop/react-graph.js';
export type { SessionHandle, SessionValues } from '../agents/loop/session-values.js';
export { called, milliseconds, rounds, type StopRule, tokens } from '../agents/loop/stop-rules.js';
export { type AgentsFileOptions, agentsFile } from '../agents/middleware/agents-file.js';
export {
  type ApprovalAnswer,
  type ApprovalQuestion,
  type ApproveOptions,
  approve,
  type CallToApprove,
} from '../agents/middleware/approve.js';
export { type BackgroundWorkOptions, backgroundWork } from '../agents/middleware/background-work.js';
export type {
  FileEdit,
  FileEntry,
  FileLimits,
  FileLines,
  FileSpace,
  FindOptions,
  Found,
  GrepMatch,
  GrepOptions,
  ReadLinesOptions,
} from '../agents/middleware/files/file-space.js';
export { type FilesOptions, files } from '../agents/middleware/files/files.js';
export { type FolderFilesOptions, folderFiles } from '../agents/middleware/files/folder-files.js';
export { type MemoryFilesOptions, memoryFiles } from '../agents/middleware/files/memory-files.js';
export type { GuardResult, GuardTrip, GuardVerdict } from '../agents/middleware/guard.js';
export { type GuardedInput, type GuardInputOptions, guardInput } from '../agents/middleware/guard-input.js';
export { type GuardedOutput, type GuardOutputOptions, guardOutput } from '../agents/middleware/guard-output.js';
export { type AgentMemory, type MemoryOptions, memory, type RememberedTurn } from '../agents/middleware/memory.js';
export { type PatchToolCallsOptions, patchToolCalls } from '../agents/middleware/patch-tool-calls.js';
export { type ReduceToolResultsOptions, reduceToolResults } from '../agents/middleware/reduce-tool-results.js';
export { type Skill, type SkillMode, type SkillsOptions, skills } from '../agents/middleware/skills.js';
export { type SubAgentsOptions, subAgents } from '../agents/middleware/sub-agents.js';
export {
  type SummariseOptions,
  type SummariseState,
  type SummaryParts,
  summarise,
} from '../agents/middleware/summarise.js';
export { type Todo, type TodoStatus, type TodosOptions, todos } from '../agents/middleware/todos.js';
export { type ToolSearchOptions, toolSearch } from '../agents/middleware/tool-search.js';
export type { WorkItem, WorkPlan, WorkStatus } from '../agents/middleware/work-items.js';
export { type WorkPlanOptions, workPlan } from '../agents/middleware/work-plan.js';
export type { NodeInput } from '../agents/node-inputs.js';
export type { RoundFacts, RoundRule } from '../agents/round.js';
export type { Caller } from '../agents/round-calls.js';
export { runAgent } from '../agents/run-agent.js';
export { type FileTurnLogsOptions, fileTurnLogs } from '../agents/runner/file-turn-logs.js';
export type { CancelRequest } from '../agents/runner/live-inputs.js';
export type { LiveStop, NextTurn } from '../agents/runner/live-options.js';
export { type PostgresTurnLogsOptions, postgresTurnLogs } from '../agents/runner/postgres-turn-logs.js';
export {
  createRunner,
  type LiveOptions,
  type Runner,
  type RunnerOptions,
  type SaidInput,
  type TurnOptions,
} from '../agents/runner/runner.js';
export type {
  CancelMode,
  InputAccepted,
  InputDelivered,
  InputDropped,
  RunnerEvent,
  TurnEnded,
  TurnStarted,
} from '../agents/runner/runner-events.js';
export { memoryTurnLogs, type OpenedTurnLog, type TurnLog, type TurnLogs } from '../agents/runner/turn-logs.js';
export { type AgentHandler, type AgentHandlerOptions, agentHandler } from '../agents/serve/agent-handler.js';
export type { AgentSocket } from '../agents/serve/agent-socket.js';
export { nodeListener } from '../agents/serve/node-listener.js';
export { nodeUpgrade } from '../agents/serve/node-upgrade.js';
export type { FileSessionsOptions } from '../agents/sessions/file-sessions.js';
export { fileSessions } from '../agents/sessions/file-sessions.js';
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
export { memorySessions } from '../agents/sessions/memory-sessions.js';
export type {
  ListSessionsOptions,
  PruneSessionsOptions,
  ReadSessionOptions,
  SessionEntry,
  SessionFact,
  SessionLog,
  SessionStore,
  SessionSummary,
  UserInput,
} from '../agents/sessions/session-store.js';
export type { SessionStoreOptions } from '../agents/sessions/stored-sessions.js';
export { type AgentFromOptions, type AgentReply, agentFrom } from '../agents/teams/agent-from.js';
export { type DeepAgentOptions, deepAgent } from '../agents/teams/deep-agent.js';
export { type HandoffOptions, handoff } from '../agents/teams/handoff.js';
export { type HostOptions, hostAgents } from '../agents/teams/host-agents.js';
export { exitLoop, exitLoopIn, type LoopOptions, loopAgents, type TeamRound } from '../agents/teams/loop-agents.js';
export { type MemberAnswer, type ParallelOptions, parallelAgents } from '../agents/teams/parallel-agents.js';
export { type Plan, type PlanExecuteOptions, planExecute, type Replan } from '../agents/teams/plan-execute.js';
export { type SequentialOptions, sequentialAgents } from '../agents/teams/sequential-agents.js';
export { type SupervisorOptions, supervisor } from '../agents/teams/supervisor.js';
export type { TeamOptions } from '../agents/teams/team-options.js';
export type { TurnKey, TurnLine, TurnLines, TurnLinesBatch } from '../records/turn-lines.js';
