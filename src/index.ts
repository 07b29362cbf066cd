/** The library: canvases and graphs that run as streams. Everything that is not named here may change without notice. */

export { createEgressClient, type EgressClient, type EgressOptions } from './adapters/egress/egress-client.js';
export type { CodeRunner } from './adapters/sandbox/code-runner.js';
export { createEmbeddedRunner, type EmbeddedRunnerOptions } from './adapters/sandbox/embedded/embedded-runner.js';
// Agents: a model and its tools, as one stream.
export type { AgentAnswer, AgentEvent } from './agents/agent-events.js';
export { type AgentState, newAgentState } from './agents/agent-events.js';
export { type AgentTool, bindTool } from './agents/agent-tool.js';
export { type CallContext, callContext } from './agents/call-context.js';
export { type CallPlace, type Chat, type ChatSettings, openChat } from './agents/chat.js';
export { type AgentBudget, type AgentSetup, runAgent } from './agents/run-agent.js';
// A canvas: a document of RAGFlow's agent DSL, and a conversation with it.
export { drawDocument } from './canvas/draw.js';
export {
  builtInComponents,
  type Canvas,
  type CanvasCheck,
  checkCanvas,
  type LoadOptions,
  loadCanvas,
} from './canvas/load-canvas.js';
export type { WireEvent, WireEventName } from './canvas/ragflow-events.js';
export { toWireEvents, type WireContext } from './canvas/ragflow-events.js';
export {
  type RunTimeline,
  type TimelineActivation,
  type TimelineEmission,
  type TimelineNode,
  timelineOf,
} from './canvas/timeline.js';
export { converse, runTurn, type Session, sessionAfter, type Turn, type TurnOptions } from './canvas/turn.js';
// Components, and what they ask of the process around a run.
export { agentComponent } from './components/agent.js';
export {
  type ComponentDescription,
  describeComponent,
  formatComponent,
  type OutputDescription,
  type ParameterDescription,
} from './components/catalogue.js';
export {
  type Files,
  type MemoryEntry,
  type Services,
  type StoredFile,
  servicesOf,
} from './components/services.js';
export { toolComponent } from './components/tool-component.js';
// Documents.
export { formatDocument, toV1, toV2, type V2Conversion, v1ToV2, v2ToV1 } from './dsl/convert.js';
export type { Document, DocumentComponent, DocumentIssue, ReadResult } from './dsl/document.js';
export { parseDocument, type ReadOptions, readDocument } from './dsl/read.js';
export { parseReference, type Reference } from './dsl/reference.js';
export { interpolate, type Lookup, readReference, resolveParam, type ValueSource } from './dsl/resolve.js';
export type { DocumentSidecar } from './dsl/schema-v2.js';
// Errors and JSON.
export {
  EngineError,
  type EngineErrorDetails,
  ERROR_CODES,
  type ErrorCode,
  type ErrorCodeInfo,
  toEngineError,
} from './errors.js';
// The engine.
export { chain, type GraphNode, graph } from './graph/build.js';
export type { CallSummary } from './graph/calls.js';
export { type CompileOptions, compile } from './graph/compile.js';
export {
  type Activation,
  type AnyComponent,
  type BodyEnd,
  type BodyRound,
  type Component,
  createRegistry,
  defineComponent,
  fromOperator,
  type NodeFunction,
  type NodeOperator,
  type Placement,
  type Port,
  type Registry,
} from './graph/component.js';
export {
  isTerminal,
  type NodeReport,
  type PendingQuestion,
  type RunEvent,
  type RunUsage,
  type TerminalEvent,
} from './graph/events.js';
export {
  type Call,
  type CallEnd,
  type CallMoment,
  type CallReport,
  type CallStart,
  callEvent,
  callFinished,
  callStarted,
  type Delta,
  delta,
  type Interrupt,
  interrupt,
  type NodeEvent,
  type Notice,
  notice,
  type Outputs,
  type Settled,
  settled,
  type Usage,
  warning,
} from './graph/node-events.js';
export type { Plan, Variables } from './graph/plan.js';
export type { CheckpointStore } from './graph/ports.js';
export { execute, run } from './graph/run.js';
export type { Recovery, RunOptions, RunOutcome, Start } from './graph/run-options.js';
export type { Checkpoint, State } from './graph/state.js';
export { createTimeoutResolver, type TimeoutOptions, type TimeoutResolver } from './graph/timeouts.js';
export { type TraceContext, type TraceSource, traceContextOf } from './graph/trace-context.js';
export { isJsonObject, type Json, type JsonObject } from './json.js';
// Models.
export type { ChatDelta, ChatMessage, ChatModel, ChatRequest } from './models/chat-model.js';
export type { ModelsConfiguration } from './models/configuration.js';
export { createModels, type Models, type ModelsOptions } from './models/router.js';
export type { ScriptInput } from './models/scripted.js';
export { createScriptedModel, type ScriptedModelOptions } from './models/scripted.js';
export { type Environment, modelsFromEnvironment } from './settings/read-settings.js';
// Tools, and what they ask of the process around them.
export { callTool } from './tools/call-tool.js';
export { tools } from './tools/index.js';
export {
  type AnyTool,
  type Artifact,
  defineTool,
  type Tool,
  type ToolCall,
  type ToolEvent,
  type ToolResult,
  toolResult,
} from './tools/tool.js';
export type { ToolServices, ToolSettings } from './tools/tool-services.js';
