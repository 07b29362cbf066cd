import { mergeMap } from 'rxjs';
import { fromAbortable } from '../operators/from-abortable.js';
import { createAnswerDecoder } from './answer-decoder.js';
import { chatBody } from './chat-body.js';
import type { ChatDelta, ChatModel, ChatRequest } from './chat-model.js';
import { endAfter } from './end-after.js';
import type { Provider } from './provider.js';
import { splitThinking } from './split-thinking.js';

const CHAT_PATH = '/chat/completions';

/** What an OpenAI-compatible server can do. */
export interface OpenaiCompatibleOptions {
  /** Whether the server accepts `stream_options.include_usage`. @default true */
  readonly streamUsage?: boolean | undefined;
}

/**
 * A chat model behind an OpenAI-compatible `POST /chat/completions`: one subscription is one HTTP request.
 *
 * Does not retry and does not queue; `withRetries` and `withLimit` do. Errors: those of {@link Provider}, and
 * `MODEL_UNAVAILABLE` when a call takes longer than the provider's `timeoutMs`.
 */
export function createOpenaiCompatible(provider: Provider, options: OpenaiCompatibleOptions = {}): ChatModel {
  const { streamUsage = true } = options;
  return {
    chat: (request) =>
      fromAbortable((signal) => answer(provider, request, streamUsage, signal)).pipe(
        // Deltas travel in batches of one network chunk: a promise per chunk, not per token.
        mergeMap((batch) => batch),
        splitThinking(),
        endAfter(provider.timeoutMs, request.model),
      ),
  };
}

async function* answer(
  provider: Provider,
  request: ChatRequest,
  streamUsage: boolean,
  signal: AbortSignal,
): AsyncGenerator<readonly ChatDelta[], void, void> {
  const { model, headers } = request;
  const call = { path: CHAT_PATH, model, headers, signal, body: chatBody(request, streamUsage) };
  const { chunks } = await provider.open(call);
  const decoder = createAnswerDecoder(provider.asked(call));
  const utf8 = new TextDecoder();
  for await (const chunk of chunks) {
    const deltas = decoder.feed(utf8.decode(chunk, { stream: true }));
    if (deltas.length > 0) yield deltas;
    if (decoder.failure) throw decoder.failure;
    if (decoder.isDone) return;
  }
  yield decoder.end();
  if (decoder.failure) throw decoder.failure;
}
