/** Messages that come from outside or from a store, checked. */
import { z } from 'zod';
import type { AssistantPart, ContentPart, ToolCall, ToolOutputPart } from './content-parts.js';
import type { ChatMessage } from './messages.js';

const facts = z.record(z.string(), z.json());
const extra = { extra: facts.exactOptional() };
const text = z.string();
const maybe = text.exactOptional();

/** The same part with its bytes at a URL, in the part, or at the provider. */
function media<T extends string, S extends z.ZodRawShape>(type: T, shape: S) {
  const fields = { type: z.literal(type), ...extra, ...shape };
  return z.union([
    z.strictObject({ ...fields, url: text, mimeType: maybe }),
    z.strictObject({ ...fields, data: text, mimeType: text }),
    z.strictObject({ ...fields, fileId: text, mimeType: maybe }),
  ]);
}

const textPart = z.object({ type: z.literal('text'), text, citations: z.array(z.json()).exactOptional(), ...extra });
const imageUrl = z.object({ type: z.literal('image_url'), url: text });
const image = media('image', { detail: z.enum(['auto', 'low', 'high']).exactOptional() });
const audio = media('audio', { id: maybe, transcript: maybe });
const video = media('video', {});
const file = media('file', { name: maybe });
const toolReference = z.object({ type: z.literal('tool-reference'), name: text, ...extra });

const outputPart: z.ZodType<ToolOutputPart> = z.union([textPart, imageUrl, image, audio, video, file, toolReference]);

const toolResult = z.object({
  type: z.literal('tool-result'),
  toolCallId: text,
  name: maybe,
  content: z.union([text, z.array(outputPart)]),
  isError: z.boolean().exactOptional(),
  ...extra,
});
const mcpApproval = z.object({
  type: z.literal('mcp-approval'),
  requestId: text,
  isApproved: z.boolean(),
  reason: maybe,
  ...extra,
});

const contentPart: z.ZodType<ContentPart> = z.union([
  textPart,
  imageUrl,
  image,
  audio,
  video,
  file,
  toolResult,
  mcpApproval,
]);

const call = { id: text, name: text, arguments: text, kind: maybe, ...extra };
/** A call that a model asks for. */
export const toolCallSchema: z.ZodType<ToolCall> = z.object(call);

const listedTool = z.object({ name: text, description: maybe, parameters: facts.exactOptional() });
const mcpCall = { id: text, server: text, name: text, arguments: text, ...extra };

/** A part of an answer; see {@link messageSchema}. */
export const assistantPartSchema: z.ZodType<AssistantPart> = z.union([
  textPart,
  image,
  audio,
  video,
  file,
  z.object({
    type: z.literal('reasoning'),
    text,
    signature: maybe,
    id: maybe,
    isRedacted: z.boolean().exactOptional(),
    ...extra,
  }),
  z.object({ type: z.literal('tool-call'), ...call }),
  z.object({ type: z.literal('server-tool-call'), id: text, name: text, arguments: z.json(), ...extra }),
  z.object({ type: z.literal('server-tool-result'), callId: text, name: text, content: z.json(), ...extra }),
  z.object({
    type: z.literal('mcp-list'),
    id: maybe,
    server: text,
    tools: z.array(listedTool),
    error: maybe,
    ...extra,
  }),
  z.object({ type: z.literal('mcp-call'), ...mcpCall, approvalRequestId: maybe }),
  z.object({
    type: z.literal('mcp-result'),
    callId: text,
    server: maybe,
    name: maybe,
    content: z.json(),
    error: maybe,
    ...extra,
  }),
  z.object({ type: z.literal('mcp-approval-request'), ...mcpCall }),
]);

const count = z.number().min(0);
const usage = z.object({
  promptTokens: count,
  completionTokens: count,
  totalTokens: count,
  cachedTokens: count.exactOptional(),
  reasoningTokens: count.exactOptional(),
});

const alternative = { token: text, logProbability: z.number(), bytes: z.array(z.number()).exactOptional() };
const probability = z.object({ ...alternative, alternatives: z.array(z.object(alternative)).exactOptional() });

const fields = { name: maybe, id: maybe, ...extra };
/** What a person or a system message says: a text, or parts. */
export const contentSchema = z.union([text, z.array(contentPart)]);

/**
 * A message, with every part it may have; fields that are none of a message are left out, and a part with its bytes in two places is refused.
 *
 * Bounds of sizes are those of the reader of the JSON.
 */
export const messageSchema: z.ZodType<ChatMessage> = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: contentSchema, ...fields }),
  z.object({ role: z.literal('user'), content: contentSchema, ...fields }),
  z.object({
    role: z.literal('assistant'),
    content: text,
    toolCalls: z.array(toolCallSchema).exactOptional(),
    parts: z.array(assistantPartSchema).exactOptional(),
    reasoning: maybe,
    finishReason: maybe,
    usage: usage.exactOptional(),
    logProbabilities: z.array(probability).exactOptional(),
    ...fields,
  }),
  z.object({
    role: z.literal('tool'),
    content: text,
    toolCallId: text,
    parts: z.array(outputPart).exactOptional(),
    isError: z.boolean().exactOptional(),
    ...fields,
  }),
]);
