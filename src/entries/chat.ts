/**
 * `runnel/chat`: chats that answer from datasets and tools in eight stages, and tell each of them. For programs that run chats of their own, or read those of
 * a server; `chatDocument` makes the canvas that a server runs.
 */

export { type ChatOutput, type ChatRunInfo, toChatEvent, toChatFrame } from '../chat/chat-frames.js';
export type { Intent, IntentKind, SystemTopic } from '../chat/intents/intent.js';
export type { Memory, MemoryMessage } from '../chat/memory/load-memory.js';
export type { ChatEvent, Citation, Evidence, StageStatus, StageSummary } from '../chat/pipeline/chat-events.js';
export type { AnswerPart, ChatStages, ChatTurn, RetrievalInput } from '../chat/pipeline/chat-ports.js';
export { type RunChatOptions, runChat } from '../chat/pipeline/run-chat.js';
export { type ShortcutKind, STAGES, type StageInfo, type StageNumber } from '../chat/pipeline/stage-table.js';
export { CHAT_NODE, chatDocument, chatParamsOf } from '../chat/service/chat-document.js';
export type { ChatSettings, TurnSettings } from '../chat/service/chat-settings.js';
export { createChatStages, type ServedStages } from '../chat/service/chat-stages.js';
export { defaultChatId, openDefaultChat } from '../chat/service/default-chat.js';
export type { ChatStagesOptions, ChatThread } from '../chat/service/stages-options.js';
export type { AssembledPrompt, PromptMode } from '../chat/stages/assemble-prompt.js';
export type { Rewritten } from '../chat/stages/rewrite-query.js';
export type {
  DecisionResult,
  DirectAnswer,
  PastMessage,
  StageCache,
  StageModel,
  StageResult,
} from '../chat/stages/stage-result.js';
export type { ResearchOffer, ResearchSuggestion } from '../chat/stages/suggest-research.js';
export {
  type Caches,
  type CachesOptions,
  createCaches,
  type KeyedCache,
  type SharedCaches,
} from '../newest.js';
