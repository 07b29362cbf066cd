/**
 * `runnel`: what most programs need. Canvases and conversations with them, runs and their events, components, tools and models.
 *
 * Other entries: `runnel/engine` (graphs without canvases, the inside of plans and states), `runnel/adapters` (the ways out of the process),
 * `runnel/agents` (models with tools), `runnel/chat`, `runnel/knowledge` (datasets), `runnel/server` (hosts, servers, stores), `runnel/testing`. What no entry exports may change without notice.
 */

// Agents: a model and its tools, as one stream.
export { type AgentAnswer, type AgentEvent, type AgentState, newAgentState } from './agents/agent-events.js';
export type { AgentBudget, AgentSetup } from './agents/agent-setup.js';
export { type AgentTool, bindTool } from './agents/agent-tool.js';
export { type CallContext, callContext } from './agents/call-context.js';
export { type CallPlace, type Chat, type ChatSettings, openChat } from './agents/chat.js';
export { runAgent } from './agents/run-agent.js';
export {
  type CompileOptions,
  compile,
  createTimeoutResolver,
  type TimeoutOptions,
  type TimeoutResolver,
} from './canvas/compile.js';
// A canvas: a document of RAGFlow's agent DSL, and a conversation with it.
export { drawDocument } from './canvas/draw.js';
export { type CanvasInput, type EmbedOptions, embed } from './canvas/embed.js';
export {
  builtInComponents,
  type Canvas,
  type CanvasCheck,
  checkCanvas,
  type LoadOptions,
  loadCanvas,
} from './canvas/load-canvas.js';
export {
  RagflowProjection,
  toWireEvents,
  type WireContext,
  type WireEvent,
  type WireEventName,
  type WireHeader,
} from './canvas/ragflow-events.js';
export { type NumberedWireEvent, RagflowReader, readRagflowEvents } from './canvas/read-ragflow-events.js';
export {
  type ActivationStatus,
  type DescribeNode,
  type RunTimeline,
  type TimelineActivation,
  type TimelineEmission,
  type TimelineNode,
  type TimelineUsage,
  timelineOf,
} from './canvas/timeline.js';
export { converse, runTurn, type Session, sessionAfter, type Turn, type TurnOptions } from './canvas/turn.js';
// Components, and what they ask of the process around a run.
export { agentComponent } from './components/agent.js';
export type { AgentParams } from './components/agents/agent-params.js';
export {
  type ComponentDescription,
  describeComponent,
  formatComponent,
  type OutputDescription,
  type ParameterDescription,
} from './components/catalogue.js';
export type { LlmParams } from './components/chat/params.js';
export {
  type AnyComponent,
  type Component,
  createRegistry,
  defineComponent,
  type Placement,
  type Registry,
} from './components/component.js';
export {
  type Files,
  type MemoryEntry,
  type Services,
  type StoredFile,
  serviceOf,
} from './components/services.js';
export { componentOf, type StepComponentOptions } from './components/step-component.js';
export { toolComponent } from './components/tool-component.js';
// Composition: typed steps, chains, graphs and workflows.
export {
  type BranchOptions,
  branch,
  type Choice,
  type Chooser,
  type LabelOf,
  type PrefixChooser,
  type StepRoutes,
  streamBranch,
} from './compose/branch.js';
export { type CallOptionsOf, type CallOptionsPlace, options, type StepCallOptions } from './compose/call-options.js';
export { chain } from './compose/chain.js';
export { concatValues } from './compose/chunks/concat-values.js';
export { describe, type GraphDescription, type NodeDescription, type StepDescription } from './compose/describe.js';
export { type DrawOptions, draw } from './compose/draw.js';
export {
  type GraphBuilder,
  graph,
  type Joined,
  type JoinParts,
  type NodeOptions,
} from './compose/graph.js';
export type { GraphOptions } from './compose/graph-options.js';
export { type NodeHandle, type OptionalPart, optional, type Source, type Target } from './compose/handles.js';
export { type CallingChunk, hasToolCall, type ToolCallOptions } from './compose/has-tool-call.js';
export { Interrupt as StepInterrupt, type InterruptOptions, type InterruptPart } from './compose/interrupt.js';
export { type LoopOptions, loop } from './compose/loop.js';
export { type MapOptions, map } from './compose/map.js';
export {
  type ChatInput,
  type ChatModelOptions,
  type ChatModelSetup,
  type ChatModelStep,
  chatModel,
} from './compose/models/chat-model-step.js';
export { type ComponentFunction, componentStep } from './compose/models/component-step.js';
export { type MessageParserOptions, messageParser } from './compose/models/message-parser.js';
export type { AnyCallbacks, BoundObserver, ObservedStep, Observer, ObserverCallbacks } from './compose/observer.js';
export { type Observe, type ObservedDocuments, type ObservedKinds, observe, observed } from './compose/observers.js';
export { type InputOfAll, parallel } from './compose/parallel.js';
// Prompts: from fields to messages.
export type { FStringFields } from './compose/prompt/f-string-fields.js';
export {
  assistant,
  type MessagesPlaceholder,
  type MessageTemplate,
  type PromptPart,
  placeholder,
  system,
  user,
} from './compose/prompt/message-template.js';
export { fString, handlebars, jinja, type Prompt, type PromptField } from './compose/prompt/prompt.js';
export type { Mapped, Ref } from './compose/reference.js';
export {
  editState,
  type Question,
  type ResumeOptions,
  type Resumption,
  recoverFrom,
  resumeFrom,
} from './compose/resume.js';
export { type ChunkStream, collect, invoke, run, stream, transform } from './compose/run.js';
export type { StepRunOptions } from './compose/run-context.js';
export {
  defineState,
  type ItemOf,
  type ListKey,
  type StateHandle,
  type StateOptions,
  type StateToken,
} from './compose/state.js';
export type {
  AnyStep,
  AnyStepLike,
  ChunkOperator,
  ConcatRule,
  EdgeOptions,
  InnerPartOptions,
  InputOf,
  OptionStep,
  OptionsOf,
  OutputOf,
  Step,
  StepActivation,
  StepFunction,
  StepGenerator,
  StepLike,
  StepOptions,
  ValueOf,
} from './compose/step.js';
export type { StepKind } from './compose/step-kind.js';
export { type AskOptions, as, ask, generator, operator, passthrough, pick, step } from './compose/steps.js';
export type { LoggedRun, StateEdit, StateMigration } from './compose/stored-run.js';
export { defineTool, type ToolSketch } from './compose/tools/define-tool.js';
export { type GraphToolOptions, graphTool } from './compose/tools/graph-tool.js';
export { type LibraryToolOptions, type McpToolsOptions, mcpTools, toolOf } from './compose/tools/library-tool.js';
export type { RequestedCall, ToolAnswer, ToolMiddleware, ToolRequest } from './compose/tools/run-tool-call.js';
export type { StepTool, ToolActivation, ToolContent, ToolReply } from './compose/tools/step-tool.js';
export type { AliasesByTool, ToolAliases } from './compose/tools/tool-box.js';
export { type ToolOutputRule, type ToolReturn, wholeReply } from './compose/tools/tool-output.js';
export type { ArgumentsOf, ToolInput } from './compose/tools/tool-schema.js';
export {
  type ToolsNode,
  type ToolsNodeCallOptions,
  type ToolsNodeOptions,
  toolsNode,
} from './compose/tools/tools-node.js';
export { type AnyValueDefinition, defineValue, type ValueDefinition } from './compose/values/define-value.js';
export { type ValueBounds, valueCodec } from './compose/values/value-codec.js';
export { type Arms, type WorkflowBuilder, type WorkflowNodeOptions, workflow } from './compose/workflow.js';
// Documents.
export { formatDocument, toV1, toV2, type V2Conversion, type V2ToV1Options, v1ToV2, v2ToV1 } from './dsl/convert.js';
export type { Document, DocumentComponent, DocumentIssue, ReadResult } from './dsl/document.js';
export { parseDocument, type ReadOptions, readDocument } from './dsl/read.js';
export { type AliasName, parseReference, type Reference } from './dsl/reference.js';
export {
  type InterpolateOptions,
  interpolate,
  type Lookup,
  readReference,
  resolveParam,
  type ValueSource,
} from './dsl/resolve.js';
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
export { type GraphNode, planOf } from './graph/build.js';
export type { CallSummary } from './graph/calls.js';
export {
  type AddressedQuestion,
  type BodyClosed,
  type BodyOpened,
  type BodyResumed,
  type CallsOfNode,
  type ErrorInfo,
  type EventHeader,
  isTerminal,
  type NodeCall,
  type NodeChunk,
  type NodeDelta,
  type NodeFailed,
  type NodeHeader,
  type NodeInterrupted,
  type NodeNotice,
  type NodePatched,
  type NodeProgress,
  type NodeReport,
  type NodeSettled,
  type NodeSkipped,
  type NodeStarted,
  type NodeStreaming,
  type NodeThinking,
  type NodeUsage,
  type OpenCall,
  type PendingQuestion,
  type RunCancelled,
  type RunEndFields,
  type RunEvent,
  type RunFailed,
  type RunInterrupted,
  type RunSettled,
  type RunStarted,
  type RunUsage,
  type TerminalEvent,
} from './graph/events.js';
export { type Activation, type BodyEnd, fromOperator, type NodeFunction, type NodeOperator } from './graph/node.js';
export type { BodyRound } from './graph/node-events.js';
export {
  type Delta,
  delta,
  type Interrupt,
  interrupt,
  type NodeEvent,
  type Notice,
  notice,
  type Outputs,
  type Progress,
  type Settled,
  settled,
  type Usage,
  type Write,
  warning,
} from './graph/node-events.js';
export type { Plan, Port, Variables } from './graph/plan.js';
export { execute } from './graph/run.js';
export type { CheckpointStore, Recovery, RunOptions, RunOutcome, Start } from './graph/run-options.js';
export type { Checkpoint, State } from './graph/state.js';
export { isJsonObject, type Json, type JsonObject } from './json.js';
// Documents to search: loaders, parsers, splitters, indexers, retrievers.
export {
  type ComponentKind,
  componentFunction,
  type StepLabel,
} from './knowledge/component-function.js';
export { type EmbedBatchedOptions, embedBatched, type TextEmbedder } from './knowledge/embed-batched.js';
export {
  type KnowledgeDocument,
  type KnowledgeDocumentFields,
  knowledgeDocument,
  type SparseVector,
  withMetadata,
  withScore,
  withSubIndexes,
  withVectors,
} from './knowledge/knowledge-document.js';
export { type FileLoaderOptions, fileLoader } from './knowledge/loaders/file-loader.js';
export { type UrlLoaderOptions, urlLoader } from './knowledge/loaders/url-loader.js';
export {
  type MemoryIndex,
  type MemoryIndexOptions,
  memoryIndex,
  type RemoveRequest,
} from './knowledge/memory-index.js';
export { createMemoryRetriever, type IndexedDataset, type IndexedDocument } from './knowledge/memory-retriever.js';
export { type CsvParserOptions, csvParser } from './knowledge/parsers/csv-parser.js';
export {
  docxParser,
  type FileParserOptions,
  fileParser,
  pdfParser,
  xlsxParser,
} from './knowledge/parsers/file-parser.js';
export { type HtmlParserOptions, htmlParser } from './knowledge/parsers/html-parser.js';
export { type JsonParserOptions, jsonParser } from './knowledge/parsers/json-parser.js';
export {
  type ParserByExtension,
  type ParserByExtensionOptions,
  parserByExtension,
} from './knowledge/parsers/parser-by-extension.js';
export { markdownParser, textParser } from './knowledge/parsers/text-parser.js';
export type {
  DocumentFilter,
  DocumentIndexer,
  DocumentLoader,
  DocumentRetriever,
  DocumentTransformer,
  EmbedFunction,
  IndexFunction,
  IndexOptions,
  LoadFunction,
  ParseFunction,
  ParserInput,
  RetrieveFunction,
  RetrieveOptions,
  SourceOptions,
  TransformFunction,
  WaitOptions,
} from './knowledge/ports.js';
export type { RetrievalRequest, RetrievedPassage, Retriever } from './knowledge/retriever.js';
export type { AskedModel } from './knowledge/retrievers/ask-lines.js';
export {
  type FuseFunction,
  firstPlaces,
  type RankedList,
  type ReciprocalRankOptions,
  reciprocalRank,
} from './knowledge/retrievers/fuse.js';
export {
  type MultiQueryOptions,
  multiQuery,
  type RewriteByModel,
  type RewriteFunction,
} from './knowledge/retrievers/multi-query.js';
export {
  type ParentIndexerOptions,
  type ParentRetrieverOptions,
  parentIndexer,
  parentRetriever,
  type StaleParts,
} from './knowledge/retrievers/parents.js';
export {
  type BestFirstAndLastOptions,
  bestFirstAndLast,
  type FoundDocuments,
  type RerankedRetrieverOptions,
  type RerankFunction,
  type RerankOptions,
  rerank,
  rerankedRetriever,
} from './knowledge/retrievers/rerank.js';
export {
  type RouteByModel,
  type RouteFunction,
  type RouteRetrieversOptions,
  routeRetrievers,
} from './knowledge/retrievers/route-retrievers.js';
export type { ChunkId } from './knowledge/splitters/chunks.js';
export { type SplitByCharactersOptions, splitByCharacters } from './knowledge/splitters/split-by-characters.js';
export { type SplitByHeadingsOptions, splitByHeadings } from './knowledge/splitters/split-by-headings.js';
export { type SplitByTokensOptions, splitByTokens } from './knowledge/splitters/split-by-tokens.js';
export type { SeparatorPlace } from './knowledge/splitters/split-text.js';
// Models.
export type {
  ChatDelta,
  ChatModel,
  ChatRequest,
  ChatRetries,
  McpServerDefinition,
  Sampling,
  ToolChoice,
  ToolDefinition,
} from './models/chat-model.js';
export { concatMessageLists, concatMessages, concatParts, messageOf } from './models/concat-messages.js';
export type { ModelKind, ModelsConfiguration, ProviderSettings } from './models/configuration.js';
export {
  type AssistantPart,
  type AudioPart,
  type ContentPart,
  contentText,
  type FilePart,
  type ImagePart,
  type ImageUrlPart,
  type McpApprovalPart,
  type McpApprovalRequestPart,
  type McpCallPart,
  type McpListedTool,
  type McpListPart,
  type McpResultPart,
  type MediaPart,
  type MediaSource,
  type PartExtra,
  type ReasoningPart,
  type ServerToolCallPart,
  type ServerToolResultPart,
  type TextPart,
  type ToolCall as ChatToolCall,
  type ToolCallPart,
  type ToolOutputPart,
  type ToolReferencePart,
  type ToolResultPart,
  type VideoPart,
} from './models/content-parts.js';
export type { CallOptions, SpeechAudio, SpeechFormat } from './models/define-provider.js';
export type { Limiter } from './models/limiter.js';
export { messageSchema } from './models/message-schema.js';
export {
  type AssistantChunk,
  type AssistantMessage,
  assistantMessage,
  type ChatMessage,
  type MessageChunk,
  type MessageFields,
  type MessageOptions,
  type PartChunk,
  type SystemMessage,
  systemMessage,
  type TokenAlternative,
  type TokenProbability,
  type TokenUsage,
  type ToolCallChunk,
  type ToolMessage,
  toolMessage,
  type UserMessage,
  userMessage,
} from './models/messages.js';
export { type ParseMessageOptions, parseMessage } from './models/parse-message.js';
export {
  type ChatChoice,
  createModels,
  type Models,
  type ModelsDescription,
  type ModelsOptions,
  type ProviderDescription,
} from './models/router.js';
export type { ModelRoutes, TargetState } from './models/routing/open-routes.js';
export type { RouteDelta } from './models/routing/route-target.js';
export { createScriptedModel, type Script, type ScriptedModelOptions, type ScriptInput } from './models/scripted.js';
export type { Embedder, Reranker, SpeechModel, SpeechOptions } from './models/single-answer.js';
export { collectMessage, toMessageChunks } from './models/to-message-chunks.js';
// Operators for streams of chunks.
export type { ChunkSource, OpenedReader } from './operators/chunk-source.js';
export { type ConcatChunksOptions, concatChunks } from './operators/concat-chunks.js';
export {
  type ChooseOnPrefix,
  type DecideOptions,
  type Decision,
  decideOnPrefix,
} from './operators/decide-on-prefix.js';
export { type FanOutOptions, fanOut, type Readers, type ReadersOf } from './operators/fan-out.js';
export {
  type MergeNamedOptions,
  mergeNamed,
  type NamedChunk,
  type NamedChunks,
  type NamedSources,
} from './operators/merge-named.js';
export { type Environment, modelsFromEnvironment } from './settings/read-settings.js';
// What schema libraries share.
export type { StandardIssue, StandardResult, StandardSchema } from './standard-schema.js';
// Tools, and what they ask of the process around them.
export { type CallBounds, callTool, type FunctionOptions } from './tools/call-tool.js';
export { tools } from './tools/index.js';
export {
  type AnyTool,
  type Artifact,
  type Shape,
  type ShapeOutput,
  type Tool,
  type ToolCall,
  type ToolEvent,
  type ToolResult,
  type ToolRetries,
  toolResult,
} from './tools/tool.js';
export type { ToolServices, ToolSettings } from './tools/tool-services.js';
export { type TraceContext, type TraceSource, traceContextOf } from './trace-context.js';
export { fromUiMessages, type UiFile, type UiRequest } from './ui-messages/from-ui-messages.js';
export type { UiMessagePart } from './ui-messages/protocol.js';
export { UI_MESSAGE_HEADER, type UiMessage, type UiMessageChunk } from './ui-messages/protocol.js';
export { UiMessageProjection, type UiMessagesOptions } from './ui-messages/to-ui-messages.js';
export { type TurnEvent, toUiMessages } from './ui-messages/ui-message-stream.js';
