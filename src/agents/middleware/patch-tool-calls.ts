/** Mends a conversation in which calls and results do not belong together. */
import type { ContentPart, ToolCall } from '../../models/content-parts.js';
import { type AssistantMessage, type ChatMessage, type ToolMessage, toolMessage } from '../../models/messages.js';
import { requireOptions } from '../../operators/invalid-option.js';
import { type Language, requireLanguage } from '../language.js';
import { type AgentMiddleware, defineMiddleware } from '../loop/middleware.js';

/** See {@link patchToolCalls}. */
export interface PatchToolCallsOptions {
  /** Unique among the middlewares of an agent. @default 'patchToolCalls' */
  readonly name?: string;
  /** Of what the model is told. @default 'en' */
  readonly language?: Language;
}

/**
 * Mends what an agent is given, such as the conversation of a turn that was stopped: calls without a result get one that says so, results stand
 * behind their calls in the order of those, and results without a call are dropped. Providers refuse conversations in which this is not so.
 *
 * @throws EngineError OPTION_INVALID
 */
export function patchToolCalls(options: PatchToolCallsOptions = {}): AgentMiddleware {
  requireOptions('patchToolCalls', options, ['name', 'language']);
  const { name = 'patchToolCalls', language = 'en' } = options;
  requireLanguage('patchToolCalls', language);
  return defineMiddleware<unknown>({
    name,
    beforeAgent: (messages) => withResults(messages, TEXTS[language]),
  });
}

const TEXTS = {
  en: 'The call has no result: the work was stopped before it was done.',
  zh: '该调用没有结果：工作在完成之前已停止。',
} as const;

/** A conversation in which each call has one result, right behind it; the same list where that is so already. */
export function withResults(messages: readonly ChatMessage[], missing: string): readonly ChatMessage[] {
  const results = resultsById(messages);
  const mended: ChatMessage[] = [];
  messages.forEach((message, index) => {
    // Results are taken by their calls.
    if (message.role === 'tool') return;
    mended.push(message);
    if (message.role !== 'assistant') return;
    const inParts = resultIdsOf(messages[index + 1]);
    for (const { id, name } of callsOf(message)) {
      if (inParts.has(id)) continue;
      const later = results.get(id)?.find(({ position }) => position > index);
      if (later !== undefined) later.position = TAKEN;
      mended.push(later?.message ?? toolMessage(missing, id, { name, isError: true }));
    }
  });
  const isSame = mended.length === messages.length && mended.every((message, index) => message === messages[index]);
  return isSame ? messages : mended;
}

/** A position before all others: a result belongs to one call. */
const TAKEN = -1;

interface PlacedResult {
  readonly message: ToolMessage;
  position: number;
}

function resultsById(messages: readonly ChatMessage[]): ReadonlyMap<string, readonly PlacedResult[]> {
  const byId = new Map<string, PlacedResult[]>();
  messages.forEach((message, position) => {
    if (message.role !== 'tool') return;
    const known = byId.get(message.toolCallId);
    if (known === undefined) byId.set(message.toolCallId, [{ message, position }]);
    else known.push({ message, position });
  });
  return byId;
}

/** The calls of a message; one in parts may have them only there. */
export function callsOf({ toolCalls = [], parts = [] }: AssistantMessage): readonly ToolCall[] {
  return toolCalls.length > 0 ? toolCalls : parts.filter((part) => part.type === 'tool-call');
}

/** Ids of calls whose results stand in the message of a user. */
export function resultIdsOf(message: ChatMessage | undefined): ReadonlySet<string> {
  if (message?.role !== 'user' || typeof message.content === 'string') return new Set();
  const results = message.content.filter((part: ContentPart) => part.type === 'tool-result');
  return new Set(results.map(({ toolCallId }) => toolCallId));
}
