/** What a client of AG-UI sends as what a run takes. */
import { isJsonObject } from '../json.js';
import type { ContentPart, ToolCall } from '../models/content-parts.js';
import type { ChatMessage } from '../models/messages.js';
import { invalidOption, requireList, requireObject } from '../operators/invalid-option.js';
import { readQuestionId } from '../ui-messages/question-ids.js';
import type { AgUiInput } from './protocol.js';

/** What a client sends, read. */
export interface AgUiRequest {
  readonly threadId: string;
  readonly runId: string;
  /** The conversation, for a model or an agent. */
  readonly messages: readonly ChatMessage[];
  /**
   * Answers by the address of the question, for `resumeFrom(checkpoint, answers)` and `runner.resume(session, answers)`; those to a form of a canvas are
   * `inputs` of its next turn.
   */
  readonly answers: Readonly<Record<string, unknown>>;
  /** Addresses of questions that the user gave up. */
  readonly abandoned: readonly string[];
}

/** Messages that are read; a longer list is refused. */
const MAX_MESSAGES = 10_000;

/**
 * Reads what a client of AG-UI sends. Pure; messages of roles that no model is told of, such as activities and thoughts, are passed over.
 *
 * @throws EngineError OPTION_INVALID for what is no such request.
 */
export function fromAgUi(input: AgUiInput): AgUiRequest {
  requireObject('fromAgUi', 'input', input, 'a request of AG-UI');
  const { threadId, runId, messages, resume = [] } = input;
  for (const [name, id] of Object.entries({ threadId, runId })) {
    if (typeof id !== 'string') throw invalidOption('fromAgUi', name, 'text', id);
  }
  requireList('fromAgUi', 'messages', messages, 'a list of messages');
  requireList('fromAgUi', 'resume', resume, 'a list of answers');
  if (messages.length > MAX_MESSAGES) {
    throw invalidOption('fromAgUi', 'messages', `a list of at most ${MAX_MESSAGES} messages`, messages.length);
  }
  for (const [at, entry] of resume.entries()) {
    if (!isJsonObject(entry) || typeof entry.interruptId !== 'string') {
      throw invalidOption('fromAgUi', `resume[${at}]`, 'an object with "interruptId"', entry);
    }
  }
  const resolved = resume.filter(({ status }) => status === 'resolved');
  return {
    threadId,
    runId,
    messages: messages.flatMap((message, at) => messageOf(message, at)),
    answers: answersOf(resolved),
    abandoned: resume.filter(({ status }) => status === 'cancelled').map(({ interruptId }) => interruptId),
  };
}

/** Answers by address. Those to a form of a canvas have ids of their own, and several may be fields of one. */
function answersOf(resolved: NonNullable<AgUiInput['resume']>): AgUiRequest['answers'] {
  const answers: Record<string, unknown> = {};
  for (const { interruptId, payload } of resolved) {
    const { address = interruptId, field } = readQuestionId(interruptId) ?? {};
    const before = answers[address];
    answers[address] = field === undefined ? payload : { ...(isJsonObject(before) ? before : {}), [field]: payload };
  }
  return answers;
}

function messageOf(message: AgUiInput['messages'][number], at: number): readonly ChatMessage[] {
  requireObject('fromAgUi', `messages[${at}]`, message, 'a message');
  const { role, content, toolCalls, toolCallId, error } = message;
  const id = typeof message.id === 'string' ? { id: message.id } : {};
  switch (role) {
    case 'system':
    case 'developer':
      return [{ role: 'system', content: textOf(content) }];
    case 'user':
      return [{ role: 'user', content: Array.isArray(content) ? content.flatMap(partOf) : textOf(content), ...id }];
    case 'assistant': {
      const calls = Array.isArray(toolCalls) ? toolCalls.flatMap(callOf) : [];
      return [{ role: 'assistant', content: textOf(content), ...id, ...(calls.length > 0 && { toolCalls: calls }) }];
    }
    case 'tool': {
      const failed = typeof error === 'string' && error !== '';
      const text = failed && textOf(content) === '' ? error : textOf(content);
      return [{ role: 'tool', toolCallId: String(toolCallId), content: text, ...(failed && { isError: true }) }];
    }
    default:
      return [];
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : ''))
    .join('');
}

function callOf(call: unknown): readonly ToolCall[] {
  const { id, function: called } = isJsonObject(call) ? call : {};
  if (typeof id !== 'string' || !isJsonObject(called) || typeof called.name !== 'string') return [];
  return [{ id, name: called.name, arguments: typeof called.arguments === 'string' ? called.arguments : '{}' }];
}

function partOf(part: unknown): readonly ContentPart[] {
  if (!isJsonObject(part)) return [];
  const { type, text, source } = part;
  if (type === 'text') return typeof text === 'string' ? [{ type, text }] : [];
  if (!isJsonObject(source) || typeof source.value !== 'string') return [];
  const mimeType = typeof source.mimeType === 'string' ? source.mimeType : 'application/octet-stream';
  const url = source.type === 'data' ? `data:${mimeType};base64,${source.value}` : source.value;
  switch (type) {
    case 'image':
      return [{ type: 'image', url, mimeType }];
    case 'audio':
      return [{ type: 'audio', url, mimeType }];
    case 'video':
      return [{ type: 'video', url, mimeType }];
    case 'document':
      return [{ type: 'file', url, mimeType }];
    default:
      return [];
  }
}
