/** Servers with OpenAI's HTTP interface: OpenAI itself, Azure, vLLM, Ollama, Mistral, DeepSeek and many more. */
import { defer } from 'rxjs';
import { z } from 'zod';
import type { JsonObject } from '../../json.js';
import type { ChatRequest, ToolDefinition } from '../chat-model.js';
import type { Connection } from '../connection.js';
import {
  defineProvider,
  type EmbedCall,
  type RerankCall,
  type SpeechAudio,
  type SpeechCall,
} from '../define-provider.js';
import { offeredTools } from '../offered-tools.js';
import { type CallTarget, unusable } from '../provider-error.js';
import { refuseRequest } from '../refuse-request.js';
import { scoresInOrder } from '../scores-in-order.js';
import { splitThinking } from '../split-thinking.js';
import { streamAnswer } from '../stream-answer.js';
import { createAnswerDecoder } from './openai-answer.js';
import { chatMessages } from './openai-messages.js';

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
    chat: (request) =>
      defer(() => {
        const { model, headers, ready } = request;
        const call = { path: CHAT_PATH, model, headers, ready, body: chatBody(request, streamUsage) };
        const createDecoder = (target: CallTarget) => createAnswerDecoder(target, soundType(request));
        return streamAnswer(connection, call, createDecoder).pipe(splitThinking());
      }),
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
  const scores = parsed.data.results.map(({ index, relevance_score: score }) => ({ index, score }));
  return scoresInOrder(scores, documents.length, connection.targetOf(post));
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
 * `streamUsage` asks for the token counts at the end of the stream; some servers refuse that field. Of several allowed tools only those are offered,
 * since few servers know a list of them.
 * @throws EngineError `MODEL_REQUEST` for what the API cannot hold.
 */
function chatBody(request: ChatRequest, streamUsage: boolean): object {
  const { model, sampling = {}, jsonSchema, thinking, stop = [], serverTools = [], speech, logProbabilities } = request;
  const [mcp] = request.mcpServers ?? [];
  if (mcp !== undefined) {
    throw refuseRequest(
      model,
      `its API cannot call the MCP server "${mcp.name}"`,
      'Offer its tools as tools of your own.',
    );
  }
  // A choice without tools is refused by OpenAI.
  const { tools, choice } = offeredTools(request, { defers: false, refers: false, allows: false });
  const all = [...tools.map(tool), ...serverTools];
  return {
    model,
    messages: chatMessages(model, request.messages),
    stream: true,
    stream_options: streamUsage ? { include_usage: true } : undefined,
    tools: all.length > 0 ? all : undefined,
    tool_choice: choiceOf(choice),
    response_format: jsonSchema && { type: 'json_schema', json_schema: { ...jsonSchema } },
    temperature: sampling.temperature,
    top_p: sampling.topP,
    max_tokens: sampling.maxTokens,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    stop: stop.length > 0 ? stop : undefined,
    logprobs: logProbabilities === undefined ? undefined : true,
    top_logprobs: logProbabilities,
    modalities: speech && ['text', 'audio'],
    audio: speech,
    thinking: thinking && { type: thinking },
    chat_template_kwargs: request.chatTemplateKwargs,
    user: request.user,
  };
}

function choiceOf(choice: ChatRequest['toolChoice']): unknown {
  if (typeof choice !== 'object') return choice;
  return 'name' in choice ? { type: 'function', function: { name: choice.name } } : choice.mode;
}

function tool({ name, description, parameters }: ToolDefinition): JsonObject {
  return { type: 'function', function: { name, description, parameters } };
}

/** The type of sound that was asked for; what is streamed is raw. */
function soundType({ speech }: ChatRequest): string | undefined {
  if (speech === undefined) return undefined;
  const types: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', pcm16: 'audio/pcm', opus: 'audio/ogg' };
  return Object.hasOwn(types, speech.format) ? types[speech.format] : `audio/${speech.format}`;
}
