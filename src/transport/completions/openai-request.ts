import { z } from 'zod';
import { badArgument } from '../../hosting/refusals.js';
import type { TurnRequest } from '../../hosting/start-command.js';
import { isJsonObject } from '../../json.js';
import { estimateTokens } from '../../models/estimate-tokens.js';
import { readInput } from '../read-input.js';
import { readTurn } from '../runs/read-turn.js';

/** A turn that came in OpenAI's form. */
export interface OpenaiRequest {
  readonly turn: TurnRequest;
  /** Estimated tokens of all messages. */
  readonly promptTokens: number;
}

const messageSchema = z.looseObject({
  role: z.string(),
  content: z
    .union([z.string(), z.array(z.looseObject({ type: z.string().optional(), text: z.string().optional() }))])
    .nullish(),
});

const schema = z.looseObject({
  messages: z.array(messageSchema).nullish(),
  id: z.string().nullish(),
  session_id: z.string().nullish(),
});

/**
 * Reads OpenAI's form: the last user message is the question, what comes before it is the history of a new session.
 *
 * @throws EngineError BAD_REQUEST.
 */
export function readOpenaiRequest(body: unknown, headers: Readonly<Record<string, unknown>> = {}): OpenaiRequest {
  const given = readInput(schema, body);
  const messages = (given.messages ?? []).map(({ role, content }) => ({ role, content: flatten(content) }));
  if (messages.length === 0) throw badArgument('You must provide at least one message.');
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const question = messages[at]?.content;
  if (question === undefined) throw badArgument('One of the messages must have the role "user".');
  const { metadata } = given;
  const ids = [given.session_id, given.id, isJsonObject(metadata) ? metadata.id : undefined];
  const sessionId = ids.find((id) => typeof id === 'string' && id !== '');
  return {
    turn: {
      ...readTurn({ ...given, session_id: sessionId, query: question }, {}, headers),
      history: messages.slice(0, at).filter(isSpoken),
    },
    promptTokens: messages.reduce((sum, { content }) => sum + estimateTokens(content), 0),
  };
}

interface Spoken {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

function isSpoken(message: { readonly role: string; readonly content: string }): message is Spoken {
  return message.role === 'user' || message.role === 'assistant';
}

function flatten(content: z.infer<typeof messageSchema>['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .map(({ text = '' }) => text)
    .filter((text) => text !== '')
    .join('\n');
}
