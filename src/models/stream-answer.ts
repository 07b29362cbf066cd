/** Streamed answers of chat models: one request, decoded while it arrives. */
import { createParser } from 'eventsource-parser';
import { mergeMap, type Observable } from 'rxjs';
import { type EngineError, toEngineError } from '../errors.js';
import { isJsonObject, type JsonObject, parseJson } from '../json.js';
import { fromAbortable } from '../operators/from-abortable.js';
import type { ChatDelta, ChatRequest, TokenUsage } from './chat-model.js';
import type { Connection, PostCall } from './connection.js';
import { endAfter } from './end-after.js';
import { type CallTarget, unusable } from './provider-error.js';

/** Calls in one answer; more is taken for a broken server. */
export const MAX_CALLS = 128;

/** Characters of the beginning of an answer that an error quotes. */
const MAX_HEAD = 100;

/** What a provider makes of the frames of one answer. */
export interface FrameReader {
  /** Whether the server may answer with one JSON object in place of events. */
  readonly takesJson: boolean;
  /** The data of the last event, when that is no JSON object. */
  readonly lastData?: string;
  /** Adds what a frame holds to `deltas`; true: it is the last frame. Throws what makes the answer unusable. */
  read(frame: JsonObject, deltas: ChatDelta[]): boolean;
  /** What is known with the end of the answer. */
  end(): AnswerEnd;
}

/** What is known with the end of an answer. */
export interface AnswerEnd {
  /** Deltas that were waiting for it, such as calls. */
  readonly calls: readonly ChatDelta[];
  readonly usage: TokenUsage | undefined;
  readonly reason: string;
  /** The provider's id of the answer. */
  readonly id?: string;
}

/** Turns the text of an answer, server-sent events or one JSON object, into deltas. */
export class AnswerDecoder {
  /** Whether the answer is complete; nothing after that is read. */
  isDone = false;
  /** Why the answer cannot be used; the deltas before it are good. */
  failure: EngineError | undefined = undefined;
  readonly #target: CallTarget;
  readonly #reader: FrameReader;
  readonly #parser = createParser({ onEvent: ({ data }) => this.#onData(data) });
  #deltas: ChatDelta[] = [];
  /** Pieces of an answer that is one JSON object. */
  #json: string[] | undefined = undefined;
  #head = '';
  #hasFrames = false;

  constructor(target: CallTarget, reader: FrameReader) {
    this.#target = target;
    this.#reader = reader;
  }

  /** Takes a piece of the body, cut anywhere, and gives the deltas it completes. */
  feed(text: string): ChatDelta[] {
    if (this.#json === undefined && this.#head.length < MAX_HEAD) {
      this.#head = (this.#head + text).trimStart().slice(0, MAX_HEAD);
      if (this.#reader.takesJson && !this.#hasFrames && this.#head.startsWith('{')) this.#json = [];
    }
    if (this.#json === undefined) this.#parser.feed(text);
    else this.#json.push(text);
    return this.#take();
  }

  /** Takes the end of the body and gives what is left. */
  end(): ChatDelta[] {
    if (this.#json !== undefined) this.#onData(this.#json.join(''));
    // Some servers leave out the last blank line.
    else if (!this.isDone && !this.failure) this.#parser.feed('\n\n');
    if (!this.#hasFrames) {
      const expected = this.#reader.takesJson ? 'neither events nor JSON' : 'no events';
      const what = this.#head === '' ? 'nothing' : `${expected}; it began with "${this.#head}"`;
      this.failure ??= unusable(this.#target, `answered ${what}; check the base URL`);
    }
    this.#finish();
    return this.#take();
  }

  #take(): ChatDelta[] {
    const taken = this.#deltas;
    this.#deltas = [];
    return taken;
  }

  #onData(data: string): void {
    if (this.isDone || this.failure) return;
    const { lastData, takesJson } = this.#reader;
    const frame = parseJson(data);
    if (data !== lastData && !isJsonObject(frame)) {
      const name = takesJson ? 'a frame' : 'an event';
      this.failure = unusable(this.#target, `sent ${name} that is not a JSON object: "${data.slice(0, MAX_HEAD)}"`);
      return;
    }
    this.#hasFrames = true;
    try {
      if (!isJsonObject(frame) || this.#reader.read(frame, this.#deltas)) this.#finish();
    } catch (error) {
      this.failure = toEngineError(error, 'INTERNAL');
    }
  }

  #finish(): void {
    if (this.isDone || this.failure) return;
    this.isDone = true;
    const { calls, usage, reason, id } = this.#reader.end();
    this.#deltas.push(...calls);
    if (usage) this.#deltas.push({ type: 'usage', ...usage });
    this.#deltas.push({ type: 'finish', reason: reason || 'unknown', ...(id && { id }) });
  }
}

/** The error of an answer with more than {@link MAX_CALLS} calls. */
export function tooManyCalls(target: CallTarget): Error {
  return unusable(target, 'asked for too many tool calls in one answer');
}

/**
 * Posts a chat and decodes its answer: one subscription is one request, unsubscribing closes the connection at once.
 *
 * While `ready` gives a promise the socket is not read on, which makes the provider wait; the time counts for the timeout.
 *
 * Errors: those of {@link Connection} and of the decoder, and `MODEL_UNAVAILABLE` after the connection's `timeoutMs`.
 */
export function streamAnswer(
  connection: Connection,
  // A key that must be there: a provider that forgets it would read without a bound.
  call: Omit<PostCall, 'signal'> & { readonly ready: ChatRequest['ready'] },
  createDecoder: (target: CallTarget) => AnswerDecoder,
): Observable<ChatDelta> {
  const { ready, ...post } = call;
  const decoderOf = (): AnswerDecoder => createDecoder(connection.targetOf(post));
  return fromAbortable((signal) => decoded(connection, { ...post, signal }, decoderOf()), ready).pipe(
    // Deltas travel in batches of one network chunk: a promise per chunk, not per token.
    mergeMap((batch) => batch),
    endAfter(connection.timeoutMs, post.model),
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
