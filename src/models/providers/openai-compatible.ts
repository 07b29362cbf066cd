/** Servers with OpenAI's HTTP interface: OpenAI itself, Azure, vLLM, Ollama, Mistral, DeepSeek and many more. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import type { ChatMessage, ChatRequest, ContentPart, ToolCall, ToolDefinition } from '../chat-model.js';
import type { Connection } from '../connection.js';
import {
  defineProvider,
  type EmbedCall,
  type RerankCall,
  type SpeechAudio,
  type SpeechCall,
} from '../define-provider.js';
import { unusable } from '../provider-error.js';
import { splitThinking } from '../split-thinking.js';
import { streamAnswer } from '../stream-answer.js';
import { createAnswerDecoder } from './openai-answer.js';

const CHAT_PATH = '/chat/completions';
const EMBEDDINGS_PATH = '/embeddings';
const RERANK_PATH = '/rerank';
const SPEECH_PATH = '/audio/speech';

const embeddings = z.object({
  data: z.array(z.object({ index: z.int().min(0).optional(), embedding: z.array(z.number()).min(1) })),
});

const ranking = z.object({
  results: z.array(z.object({ index: z.int().min(0), relevance_score: z.number() })),
});

/** `POST /chat/completions`, `/embeddings`, `/audio/speech`, and `/rerank` as Jina, Cohere and vLLM have it. */
export const openaiCompatible = defineProvider({
  kind: 'openai-compatible',
  chatPath: CHAT_PATH,
  headers: (apiKey) => (apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  chat: (connection, { streamUsage }) => ({
    chat(request) {
      const { model, headers, ready } = request;
      const call = { path: CHAT_PATH, model, headers, ready, body: chatBody(request, streamUsage) };
      return streamAnswer(connection, call, createAnswerDecoder).pipe(splitThinking());
    },
  }),
  embed,
  rerank,
  speech,
});

async function embed(connection: Connection, { texts, ...call }: EmbedCall): Promise<number[][]> {
  const body = { model: call.model, input: texts, encoding_format: 'float' };
  const post = { ...call, path: EMBEDDINGS_PATH, body };
  const parsed = embeddings.safeParse(await connection.readJson(post));
  if (!parsed.success)
    throw unusable(connection.targetOf(post), `gave no embeddings: ${z.prettifyError(parsed.error)}`);
  const vectors: number[][] = [];
  parsed.data.data.forEach((item, position) => {
    vectors[item.index ?? position] = item.embedding;
  });
  // A hole is an index that came twice or not at all.
  if (vectors.length !== texts.length || vectors.includes(undefined as never)) {
    throw unusable(connection.targetOf(post), `gave ${parsed.data.data.length} embeddings for ${texts.length} texts`);
  }
  return vectors;
}

async function rerank(connection: Connection, { query, documents, ...call }: RerankCall): Promise<number[]> {
  const body = { model: call.model, query, documents, top_n: documents.length };
  const post = { ...call, path: RERANK_PATH, body };
  const parsed = ranking.safeParse(await connection.readJson(post));
  if (!parsed.success) throw unusable(connection.targetOf(post), `gave no ranking: ${z.prettifyError(parsed.error)}`);
  const scores = new Map(parsed.data.results.map((result) => [result.index, result.relevance_score]));
  return documents.map((_, index) => {
    const score = scores.get(index);
    if (score === undefined) throw unusable(connection.targetOf(post), `gave no score for document ${index}`);
    return score;
  });
}

async function speech(connection: Connection, { text, voice, format, ...call }: SpeechCall): Promise<SpeechAudio> {
  const body = { model: call.model, input: text, voice, response_format: format };
  const post = { ...call, path: SPEECH_PATH, body };
  const { bytes, mediaType } = await connection.read(post);
  // Some gateways report an error as JSON with status 200.
  if (bytes.length === 0 || mediaType === 'application/json') {
    throw unusable(connection.targetOf(post), `gave no sound: "${bytes.subarray(0, 100).toString('utf8')}"`);
  }
  return { bytes, mediaType: mediaType || 'application/octet-stream' };
}

/**
 * A chat request in the words of OpenAI's `POST /chat/completions`, always streaming.
 *
 * `streamUsage` asks for the token counts at the end of the stream; some servers refuse that field.
 */
function chatBody(request: ChatRequest, streamUsage: boolean): object {
  const { sampling = {}, tools = [], jsonSchema, thinking } = request;
  // A choice without tools is refused by OpenAI.
  const choice = tools.length > 0 ? request.toolChoice : undefined;
  return {
    model: request.model,
    messages: request.messages.map(message),
    stream: true,
    stream_options: streamUsage ? { include_usage: true } : undefined,
    tools: tools.length > 0 ? tools.map(tool) : undefined,
    tool_choice: typeof choice !== 'object' ? choice : 'name' in choice ? named(choice.name) : choice.mode,
    response_format: jsonSchema && { type: 'json_schema', json_schema: { ...jsonSchema } },
    temperature: sampling.temperature,
    top_p: sampling.topP,
    max_tokens: sampling.maxTokens,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    thinking: thinking && { type: thinking },
    chat_template_kwargs: request.chatTemplateKwargs,
    user: request.user,
  };
}

function message(from: ChatMessage): JsonObject {
  switch (from.role) {
    case 'assistant': {
      const calls = from.toolCalls ?? [];
      if (calls.length === 0) return { role: 'assistant', content: from.content };
      // Several servers insist on null, not "", beside tool calls.
      return { role: 'assistant', content: from.content || null, tool_calls: calls.map(toolCall) };
    }
    case 'tool':
      return { role: 'tool', tool_call_id: from.toolCallId, content: from.content };
    default:
      return { role: from.role, content: typeof from.content === 'string' ? from.content : from.content.map(part) };
  }
}

function part(from: ContentPart): JsonObject {
  if (from.type === 'text') return { type: 'text', text: from.text };
  if (from.type === 'image_url') return { type: 'image_url', image_url: { url: from.url } };
  throw new EngineError('MODEL_REQUEST', `A part of the type "${from.type}" cannot be sent.`);
}

function toolCall(from: ToolCall): JsonObject {
  return { id: from.id, type: 'function', function: { name: from.name, arguments: from.arguments } };
}

function tool({ name, description, parameters }: ToolDefinition): JsonObject {
  return { type: 'function', function: { name, description, parameters } };
}

function named(name: string): JsonObject {
  return { type: 'function', function: { name } };
}
