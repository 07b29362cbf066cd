/** What the stages of a chat are made from. */
import type { Observable } from 'rxjs';
import type { JsonObject } from '../../json.js';
import type { KnowledgeSearch } from '../../knowledge/knowledge-search.js';
import type { ChatMessage, ToolDefinition } from '../../models/chat-model.js';
import type { RouteDelta } from '../../models/routing/route-target.js';
import type { Caches } from '../../newest.js';
import type { ChatStore } from '../../records/chats.js';
import type { AnyTool, ToolResult } from '../../tools/tool.js';
import type { Memory } from '../memory/load-memory.js';
import type { StageModel } from '../stages/stage-result.js';
import type { ChatSettings } from './chat-settings.js';

/** What a chat works with. */
export interface ChatStagesOptions {
  readonly settings: ChatSettings;
  /** Messages of the session; absent: the chat has no past but `past`. */
  readonly thread?: ChatThread | undefined;
  /** What counts as the past of a session without messages. @default nothing */
  readonly past?: Memory | undefined;
  /** Absent: nothing is found in documents. */
  readonly knowledge?: KnowledgeSearch | undefined;
  /** Tools that rules know. */
  readonly tools: readonly AnyTool[];
  /** Tools that only a model knows, by their descriptions; listed only when no rule knows what is wanted. @default none */
  readonly others$?: Observable<readonly ToolDefinition[]> | undefined;
  /** Calls one of them; cold, emits once. */
  callTool(name: string, args: JsonObject): Observable<ToolResult>;
  /** Asked in stages 2 and 3; absent: rules alone. */
  readonly model?: StageModel | undefined;
  /** Answers; cold. */
  answer(messages: readonly ChatMessage[], temperature: number): Observable<RouteDelta>;
  /** Name of what answers, where the answer itself does not say. */
  readonly modelName: string;
  /** Tokens of a prompt at most. @default 6,000 */
  readonly maxPromptTokens?: number | undefined;
  readonly caches?: Caches | undefined;
  /** Milliseconds since 1970. */
  now(): number;
}

/** The messages of one session. */
export interface ChatThread {
  readonly store: Pick<ChatStore, 'messages' | 'summary'>;
  readonly tenant: string;
  readonly session: string;
  /** Ids of messages of the turn itself, which a run that begins anew has stored before. */
  readonly except: readonly string[];
}
