/** Reading a question to an assistant, as RAGFlow's clients send it. */
import { z } from 'zod';
import { checkId } from '../../hosting/ids.js';
import { badArgument } from '../../hosting/refusals.js';
import type { TurnRequest } from '../../hosting/start-command.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { readTraceContext } from '../../trace-context.js';
import { isTruthy } from '../http/input.js';
import type { TraceHeaders } from '../runs/read-turn.js';
import { samplingOf } from './assistant.js';
import { dataError } from './refusals.js';

const anything = z.unknown().optional();

export const completionBody = z.looseObject({
  messages: anything.describe('Messages with `role` and `content`; the last one is the question.'),
  question: anything.describe('The question, in place of `messages`.'),
  stream: anything.describe('false: one answer in place of a stream.'),
  chat_id: anything.describe('The assistant; without one the default model answers by itself, and nothing is kept.'),
  session_id: anything.describe('Continues this session; default: a new one. Also `conversation_id`.'),
  llm_id: anything.describe('Model of this answer.'),
  pass_all_history_messages: anything.describe('true: `messages` count as the past, in place of what is stored.'),
  store_history_messages: anything.describe('false, with `pass_all_history_messages`: no session is kept.'),
  legacy: anything.describe('true: each frame has the whole answer so far, with thoughts in tags.'),
  temperature: anything.describe(
    'Of this answer; also `top_p`, `presence_penalty`, `frequency_penalty`, `max_tokens`.',
  ),
  user_id: anything.describe("The client's name for its user."),
  files: anything.describe('Files as the upload described them.'),
  detach: anything.describe('true: continues without clients for as long as it takes.'),
});

/** A message as it was sent. */
interface Said {
  readonly role: string;
  readonly content: string;
  readonly files: readonly Json[];
}

/** A question that was read. */
export interface CompletionRequest {
  /** Without its session, its history and its settings. */
  readonly turn: TurnRequest;
  /** What the turn changes of the chat. */
  readonly settings: JsonObject;
  readonly chatId: string | undefined;
  readonly sessionId: string | undefined;
  /** What was said before, by the request. */
  readonly past: TurnRequest['history'];
  /** Whether that counts in place of what is stored. */
  readonly passesHistory: boolean;
  readonly storesHistory: boolean;
  readonly streams: boolean;
  readonly isLegacy: boolean;
  readonly llmId: string | undefined;
}

/** @throws EngineError BAD_REQUEST for messages that are none, NOT_FOUND (envelope 102) for what contradicts itself. */
export function readCompletion(
  body: z.output<typeof completionBody>,
  headers: TraceHeaders,
  chatInPath?: string,
): CompletionRequest {
  const said = readMessages(body as JsonObject);
  const question = said.at(-1) as Said;
  const passesHistory = flagOf(body, ['pass_all_history_messages', 'pass_all_history'], false);
  const storesHistory = flagOf(body, ['store_history_messages', 'store_history'], true);
  if (!storesHistory && !passesHistory) {
    throw dataError('`pass_all_history_messages` must be true when `store_history_messages` is false.');
  }
  const chatId = idOf('chat_id', body.chat_id) ?? chatInPath;
  const sessionId = idOf('session_id', body.session_id) ?? idOf('conversation_id', body.conversation_id);
  if (sessionId !== undefined && chatId === undefined) {
    throw dataError('`chat_id` is required when `session_id` is provided.');
  }
  const userId = idOf('user_id', body.user_id);
  const past = said.slice(0, -1).flatMap(({ role, content }): TurnRequest['history'][number][] => {
    return role === 'user' || role === 'assistant' ? [{ role, content }] : [];
  });
  const llmId = textOf(body.llm_id);
  return {
    turn: {
      query: question.content,
      files: question.files,
      ...{ inputs: {}, headers: {}, history: [] },
      ...(userId !== undefined && { userId }),
      ...{ isReleased: false, migrates: false, answersForm: false, returnsTrace: false, streams: true },
      detached: isTruthy(body.detach),
      variables: {},
      trace: readTraceContext(headers),
    },
    settings: settingsOfTurn(body as JsonObject, llmId, chatId === undefined),
    ...{ chatId, sessionId, past, passesHistory, storesHistory, llmId },
    streams: body.stream === undefined || body.stream === null || isTruthy(body.stream),
    isLegacy: flagOf(body, ['legacy'], false),
  };
}

/** Without an assistant a model answers alone. */
const ALONE: JsonObject = { dataset_ids: [], tools: [] };

function settingsOfTurn(body: JsonObject, llmId: string | undefined, isAlone: boolean): JsonObject {
  const sampling = samplingOf(body);
  return {
    ...(isAlone ? ALONE : {}),
    ...(llmId !== undefined && { llm_id: llmId }),
    ...(Object.keys(sampling).length > 0 && { sampling }),
  };
}

/** The messages without those of the system, from the first of a user on; the last one is a user's. */
function readMessages({ messages, question, files }: JsonObject): readonly Said[] {
  const given = messages ?? (question === undefined || question === null ? undefined : [asked(question, files)]);
  if (given === undefined || given === null) throw badArgument('required argument are missing: messages');
  if (!Array.isArray(given) || given.length === 0) throw badArgument('`messages` must be a non-empty list.');
  const all = given.map(readMessage).filter(({ role }) => role !== 'system');
  const first = all.findIndex(({ role }) => role !== 'assistant');
  const said = first === -1 ? [] : all.slice(first);
  if (said.length === 0) throw badArgument('`messages` must contain a user message.');
  if (said.at(-1)?.role !== 'user') throw badArgument('The last message must be from user.');
  if (said.at(-1)?.content.trim() === '') throw dataError('Please input your question.');
  return said;
}

function asked(question: Json, files: Json | undefined): JsonObject {
  return { role: 'user', content: question, ...(files !== undefined && { files }) };
}

function readMessage(given: Json): Said {
  if (!isJsonObject(given)) throw badArgument('Every item in `messages` must be an object.');
  const { role, content, files } = given;
  if (role === undefined || content === undefined) {
    throw badArgument('Every item in `messages` must include `role` and `content`.');
  }
  if (typeof role !== 'string') throw badArgument('`role` of a message must be a text.');
  return { role, content: contentOf(content), files: Array.isArray(files) ? (files as readonly Json[]) : [] };
}

/** A text, or a list of parts as OpenAI's clients send them, of which the texts count. */
function contentOf(content: Json): string {
  if (typeof content === 'string') return content;
  if (content === null) return '';
  const parts = Array.isArray(content) ? (content as readonly Json[]) : undefined;
  if (parts === undefined) throw badArgument('`content` of a message must be a text.');
  return parts.flatMap((part) => (isJsonObject(part) && typeof part.text === 'string' ? [part.text] : [])).join('\n');
}

/** The first of the names that is there; texts count as RAGFlow reads them. */
function flagOf(body: object, names: readonly string[], fallback: boolean): boolean {
  const name = names.find((one) => Object.hasOwn(body, one));
  if (name === undefined) return fallback;
  const value = (body as JsonObject)[name];
  if (typeof value === 'string') return /^(?:1|true|yes|on)$/i.test(value.trim());
  return Boolean(value);
}

/** @throws EngineError BAD_REQUEST for control characters, and for more than an id may have */
function idOf(name: string, value: unknown): string | undefined {
  const id = textOf(value);
  return id === undefined ? undefined : checkId(name, id);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
