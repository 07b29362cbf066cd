/** Streamed answers of chat models: one request, decoded while it arrives. */
import { mergeMap, type Observable } from 'rxjs';
import type { EngineError } from '../errors.js';
import { fromAbortable } from '../operators/from-abortable.js';
import type { ChatDelta } from './chat-model.js';
import type { Connection, PostCall } from './connection.js';
import { endAfter } from './end-after.js';
import type { CallTarget } from './provider-error.js';

/** Turns the text of an answer into deltas. */
export interface AnswerDecoder {
  /** Takes a piece of the body, cut anywhere, and gives the deltas it completes. */
  feed(text: string): ChatDelta[];
  /** Takes the end of the body and gives what is left. */
  end(): ChatDelta[];
  /** Whether the answer is complete; nothing after that is read. */
  readonly isDone: boolean;
  /** Why the answer cannot be used; the deltas before it are good. */
  readonly failure: EngineError | undefined;
}

/**
 * Posts a chat and decodes its answer: one subscription is one request, unsubscribing closes the connection at once.
 *
 * Errors: those of {@link Connection} and of the decoder, and `MODEL_UNAVAILABLE` after the connection's `timeoutMs`.
 */
export function streamAnswer(
  connection: Connection,
  call: Omit<PostCall, 'signal'>,
  createDecoder: (target: CallTarget) => AnswerDecoder,
): Observable<ChatDelta> {
  const decoderOf = (): AnswerDecoder => createDecoder(connection.targetOf(call));
  return fromAbortable((signal) => decoded(connection, { ...call, signal }, decoderOf())).pipe(
    // Deltas travel in batches of one network chunk: a promise per chunk, not per token.
    mergeMap((batch) => batch),
    endAfter(connection.timeoutMs, call.model),
  );
}

async function* decoded(
  connection: Connection,
  call: PostCall,
  decoder: AnswerDecoder,
): AsyncGenerator<readonly ChatDelta[], void, void> {
  const { chunks } = await connection.open(call);
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
