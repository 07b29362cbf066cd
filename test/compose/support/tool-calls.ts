/** Messages of models that call tools. */
import type { AssistantMessage, ChatToolCall } from '../../../src/index.js';

/** The call of a tool. */
export const callOf = (id: string, name: string, args: object = {}): ChatToolCall => ({
  id,
  name,
  arguments: JSON.stringify(args),
});

/** A message without text that makes these calls. */
export const said = (...toolCalls: readonly ChatToolCall[]): AssistantMessage => ({
  role: 'assistant',
  content: '',
  toolCalls,
});
