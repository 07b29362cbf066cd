/** The messages of a page as what a run takes: the question, the files, the answers. */
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { ContentPart } from '../models/content-parts.js';
import type { ChatMessage, ToolMessage } from '../models/messages.js';
import { invalidOption, requireList } from '../operators/invalid-option.js';
import { toolCallOf, type UiMessage, type UiMessagePart, type UiToolCall } from './protocol.js';
import { answerOf, readQuestionId, type UiAnswer } from './question-ids.js';

/** A file in a message. */
export interface UiFile {
  /** `https:`, `data:…;base64,…`, or as a server gave it. */
  readonly url: string;
  /** Such as `image/png`. */
  readonly mediaType: string;
  readonly name?: string;
}

/** What a page sends, read. */
export interface UiRequest {
  /** The text of the last message of the user; empty when the request answers questions. */
  readonly query: string;
  /** Files of that message. */
  readonly files: readonly UiFile[];
  /** Texts that were said before. */
  readonly history: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  /**
   * Answers by the address of the question, for `resumeFrom(checkpoint, answers)`; those to forms of a canvas are its `inputs`. Empty unless the request ends
   * with a message of the assistant.
   */
  readonly answers: Readonly<Record<string, Json>>;
  /** The run that asked. */
  readonly run?: string;
  /** That message, which goes on: an option of `toUiMessages`. */
  readonly message?: UiMessage;
  /** The whole conversation for a model or an agent: texts, files, calls and their results. */
  readonly messages: readonly ChatMessage[];
}

/** Messages that are read; a longer list is refused. */
const MAX_MESSAGES = 10_000;

/**
 * Reads the messages that `useChat` sends. Pure; what is no part of a message of this protocol is passed over, and so is text that
 * a part `data-retracted` takes back.
 *
 * A request that ends with a message of the user asks. One that ends with a message of the assistant answers its questions: approvals of calls, and
 * outputs of calls of the tool `ask`.
 *
 * @throws EngineError OPTION_INVALID for what is no list of messages.
 */
export function fromUiMessages(messages: readonly UiMessage[]): UiRequest {
  requireList('fromUiMessages', 'messages', messages, 'a list of messages, as useChat sends them');
  if (messages.length > MAX_MESSAGES) {
    throw invalidOption('fromUiMessages', 'messages', `a list of at most ${MAX_MESSAGES} messages`, messages.length);
  }
  for (const [index, message] of messages.entries()) requireMessage(index, message);
  const last = messages.at(-1);
  const goesOn = last?.role === 'assistant' ? last : undefined;
  const asked = goesOn === undefined ? last : undefined;
  const answers = goesOn === undefined ? [] : answersIn(goesOn);
  const run = answers.at(-1)?.run;
  return {
    query: asked === undefined ? '' : textOf(asked),
    files: asked === undefined ? [] : asked.parts.flatMap(fileOf),
    history: (asked === undefined ? messages : messages.slice(0, -1)).flatMap(spokenOf),
    answers: byAddress(answers.filter((answer) => answer.run === run)),
    ...(run !== undefined && { run }),
    ...(goesOn !== undefined && { message: goesOn }),
    messages: messages.flatMap(chatMessagesOf),
  };
}

const ROLES: readonly unknown[] = ['system', 'user', 'assistant'];

function requireMessage(index: number, message: unknown): void {
  const isMessage = isJsonObject(message) && ROLES.includes(message.role) && Array.isArray(message.parts);
  if (isMessage && (message.parts as readonly unknown[]).every((part) => typeof ownType(part) === 'string')) return;
  throw invalidOption('fromUiMessages', `messages[${index}]`, 'a message with "role" and "parts"', message);
}

function ownType(part: unknown): unknown {
  return isJsonObject(part) ? part.type : undefined;
}

/** Answers to the newest questions of a message; those to earlier ones have had their effect. */
function answersIn({ parts }: UiMessage): readonly UiAnswer[] {
  const calls = parts.flatMap((part) => toolCallOf(part) ?? []);
  const newest = calls.flatMap((call) => readQuestionId(call.approval?.id ?? call.toolCallId)?.run ?? []).at(-1);
  return calls.flatMap((call) => answerOf(call) ?? []).filter(({ run }) => run === newest);
}

/** Approvals of one form are fields of one answer. */
function byAddress(answers: readonly UiAnswer[]): Readonly<Record<string, Json>> {
  const found = new Map<string, Json>();
  for (const { address, field, value } of answers) {
    const before = found.get(address);
    found.set(address, field === undefined ? value : { ...(isJsonObject(before) ? before : {}), [field]: value });
  }
  return Object.fromEntries(found);
}

function fileOf({ type, url, mediaType, filename }: UiMessagePart): readonly UiFile[] {
  if (type !== 'file' || typeof url !== 'string') return [];
  const kind = typeof mediaType === 'string' ? mediaType : 'application/octet-stream';
  return [{ url, mediaType: kind, ...(typeof filename === 'string' && { name: filename }) }];
}

function spokenOf(message: UiMessage): UiRequest['history'] {
  const content = textOf(message);
  return message.role === 'system' || content === '' ? [] : [{ role: message.role, content }];
}

/** The texts of a message, in lines of their own. */
function textOf(message: UiMessage): string {
  const texts = countingParts(message).flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? [text] : [],
  );
  return texts.filter((text) => text !== '').join('\n');
}

/** The parts of a message without what was retracted. */
function countingParts({ parts }: UiMessage): readonly UiMessagePart[] {
  const retracted = new Set(
    parts.flatMap(({ type, data }) => {
      if (type !== 'data-retracted' || !isJsonObject(data)) return [];
      return [data.parts, data.toolCalls].flatMap((ids) => (Array.isArray(ids) ? ids : []));
    }),
  );
  if (retracted.size === 0) return parts;
  return parts.filter((part) => !retracted.has(part.toolCallId) && !retracted.has(idOf(part)));
}

function idOf({ providerMetadata }: UiMessagePart): unknown {
  const runnel = isJsonObject(providerMetadata) ? providerMetadata.runnel : undefined;
  return isJsonObject(runnel) ? runnel.part : undefined;
}

function chatMessagesOf(message: UiMessage): readonly ChatMessage[] {
  if (message.role === 'system') return [{ role: 'system', content: textOf(message) }];
  if (message.role === 'user') return [{ role: 'user', content: contentOf(message) }];
  return stepsOf(message).flatMap(answered);
}

function contentOf(message: UiMessage): string | readonly ContentPart[] {
  const files = message.parts.flatMap(fileOf);
  const text = textOf(message);
  if (files.length === 0) return text;
  return [...(text === '' ? [] : [{ type: 'text', text } as const]), ...files.map(mediaOf)];
}

function mediaOf({ url, mediaType, name }: UiFile): ContentPart {
  const source = { url, mimeType: mediaType };
  switch (mediaType.split('/')[0]) {
    case 'image':
      return { type: 'image', ...source };
    case 'audio':
      return { type: 'audio', ...source };
    case 'video':
      return { type: 'video', ...source };
    default:
      return { type: 'file', ...source, ...(name !== undefined && { name }) };
  }
}

/** The parts of an answer, by the steps of its agent. */
function stepsOf(message: UiMessage): readonly (readonly UiMessagePart[])[] {
  const steps: UiMessagePart[][] = [[]];
  for (const part of countingParts(message)) {
    if (part.type === 'step-start') steps.push([]);
    else steps.at(-1)?.push(part);
  }
  return steps;
}

/** One answer of a model, and the results of its calls. Questions are no calls of a model. */
function answered(parts: readonly UiMessagePart[]): readonly ChatMessage[] {
  const content = textOf({ role: 'assistant', parts });
  const calls = parts
    .flatMap((part) => toolCallOf(part) ?? [])
    .filter(({ toolCallId }) => readQuestionId(toolCallId) === undefined);
  const results = calls.flatMap(resultOf);
  const done = new Set(results.map(({ toolCallId }) => toolCallId));
  // A call without a result is no part of a conversation that a model would take.
  const toolCalls = calls
    .filter(({ toolCallId }) => done.has(toolCallId))
    .map(({ toolCallId, toolName, input }) => ({
      id: toolCallId,
      name: toolName,
      arguments: JSON.stringify(input ?? {}),
    }));
  if (content === '' && toolCalls.length === 0) return [];
  return [{ role: 'assistant', content, ...(toolCalls.length > 0 && { toolCalls }) }, ...results];
}

function resultOf({ toolCallId, toolName, state, output, errorText, approval }: UiToolCall): readonly ToolMessage[] {
  const result = { role: 'tool', toolCallId, name: toolName } as const;
  if (state === 'output-available') return [{ ...result, content: textOfOutput(output) }];
  if (state === 'output-error') return [{ ...result, content: errorText, isError: true }];
  if (state !== 'output-denied') return [];
  const reason = approval?.reason ?? '';
  return [{ ...result, content: `The user declined this call${reason === '' ? '.' : `: ${reason}`}`, isError: true }];
}

function textOfOutput(output: Json | undefined): string {
  return typeof output === 'string' ? output : JSON.stringify(output ?? null);
}

/** The answers as the input of a canvas that waits, and the question and the files as that of one that does not. */
export function turnOfUiRequest({ query, answers, files }: UiRequest): {
  readonly query: string;
  readonly inputs: JsonObject;
  readonly files: readonly Json[];
} {
  return { query, inputs: answers, files: files.map(({ url }) => url) };
}
