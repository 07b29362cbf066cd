/** What an agent may be asked with, as the messages of a conversation. */
import { show } from '../../compose/make-step.js';
import { EngineError } from '../../errors.js';
import { isJsonObject } from '../../json.js';
import type { ChatMessage, UserMessage } from '../../models/messages.js';

/** A question as text, a message with parts, or a conversation that ends with what the agent is to answer. */
export type AgentInput = string | UserMessage | readonly ChatMessage[];

/**
 * The messages of an input; `path` is that of the step that got it, `name` that of the agent.
 *
 * @throws EngineError INPUT_INVALID for something else, and for a conversation without messages.
 */
export function messagesOf(input: unknown, path: string, name: string = path): readonly ChatMessage[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  const list: readonly unknown[] = Array.isArray(input) ? input : [input];
  if (list.length > 0 && list.every(isMessage)) return list;
  const got = Array.isArray(input) && input.length === 0 ? 'no messages' : show(input);
  throw new EngineError(
    'INPUT_INVALID',
    `"${name}" needs text, a message of a user or a list of messages; received ${got}. Give it what the agent is asked.`,
    { node: path },
  );
}

/** Whether a value is a message: it has a role and a content; what the content says is the business of models. */
export function isMessage(value: unknown): value is ChatMessage {
  if (!isJsonObject(value) || typeof value.role !== 'string' || !ROLES.has(value.role)) return false;
  return typeof value.content === 'string' || Array.isArray(value.content);
}

const ROLES: ReadonlySet<string> = new Set(['system', 'user', 'assistant', 'tool']);
