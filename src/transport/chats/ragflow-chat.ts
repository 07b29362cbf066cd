/** A chat as RAGFlow's clients read it: frames of its stream, and the one answer without a stream. */
import { type ChatRunInfo, toChatEvent } from '../../chat/chat-frames.js';
import { THINK_CLOSE, THINK_OPEN } from '../../components/speaking/think-text.js';
import type { RunEvent } from '../../graph/events.js';
import type { EventFrame } from '../../hosting/event-frame.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { sseFrame } from '../http/event-stream.js';
import type { RunView } from '../runs/answer-run.js';
import { referenceOf } from './session-view.js';

/** Whose chat it is. */
export interface ChatAbout {
  readonly info: ChatRunInfo;
  /** Id of the turn. */
  readonly messageId: string;
  /** What the answer calls its session; empty: it has none that goes on. */
  readonly sessionId: string | null;
  /** The assistant, where the request named one. */
  readonly chatId: string | undefined;
  /** Whether each frame has the whole answer so far, with thoughts in tags, as old clients expect. */
  readonly isLegacy: boolean;
}

/** The stream of a chat: a frame for each piece of text, one for the whole answer with what it cites, and the end. */
export function ragflowChatView(about: ChatAbout, after = 0): RunView {
  const frames = new ChatFrames(about);
  return {
    // What a frame says depends on those before it, which are read, and are not sent to a client that comes back.
    after: 0,
    frames: ({ seq, source }: EventFrame) => {
      const all = frames.of(source);
      const last = all.length - 1;
      if (seq <= after || last < 0) return [];
      // Only the last one has the number: a client that has an earlier one alone must not be taken for one that has all.
      return all.map((json, at) => (at === last ? sseFrame(seq, json) : `data:${json}\n\n`));
    },
    closing: () => [`data:${envelope(true)}\n\n`],
  };
}

/** The end of every stream is told by `true` in place of data. */
function envelope(data: JsonObject | true): string {
  return JSON.stringify({ code: 0, message: '', data });
}

/** What of a run the whole answer is made of. */
export interface WholeAnswer {
  readonly answer: string;
  /** As the run reported it. */
  readonly reference: JsonObject;
  /** Seconds since 1970. */
  readonly createdAt: number;
}

/** The data of an answer that is whole. */
export function answerData(
  { sessionId, messageId, chatId }: Pick<ChatAbout, 'sessionId' | 'messageId' | 'chatId'>,
  { answer, reference, createdAt }: WholeAnswer,
): JsonObject {
  const cited = referenceOf(reference);
  return {
    answer,
    reference: { total: (cited.chunks as readonly unknown[]).length, ...cited },
    audio_binary: null,
    prompt: '',
    created_at: createdAt,
    final: true,
    id: messageId,
    session_id: sessionId,
    ...(chatId !== undefined && { chat_id: chatId }),
  };
}

class ChatFrames {
  readonly #about: ChatAbout;
  #isThinking = false;
  #thoughts = '';
  /** All text so far, thoughts in tags. */
  #text = '';
  #reference: JsonObject = {};

  constructor(about: ChatAbout) {
    this.#about = about;
  }

  /** The frames of an event of the run, as JSON. */
  of(event: RunEvent): readonly string[] {
    if (event.type === 'node-notice' && event.name === 'message-ended') {
      const { reference } = event.data;
      if (isJsonObject(reference)) this.#reference = reference;
      return [];
    }
    const told = toChatEvent(event, this.#about.info);
    switch (told?.type) {
      case 'thinking':
        return this.#piece(event, true, told.content);
      case 'token':
        return this.#piece(event, false, told.content);
      case 'retract':
        // The whole answer at the end takes the place of all that came before it.
        this.#text = '';
        this.#thoughts = '';
        this.#isThinking = false;
        return [];
      case 'final': {
        const closed = this.#isThinking ? this.#mark(event, false) : [];
        const thoughts = this.#thoughts === '' ? '' : THINK_OPEN + this.#thoughts + THINK_CLOSE;
        const whole = { answer: thoughts + told.response, reference: this.#reference, createdAt: event.at / 1000 };
        return [...closed, envelope(answerData(this.#about, whole))];
      }
      case 'error': {
        const data = { answer: `**ERROR**: ${told.message}`, reference: [] };
        return [JSON.stringify({ code: 500, message: told.message, data })];
      }
      default:
        return [];
    }
  }

  #piece(event: RunEvent, isThought: boolean, text: string): readonly string[] {
    if (text === '') return [];
    const mark = this.#isThinking === isThought ? [] : this.#mark(event, isThought);
    this.#text += text;
    if (isThought) this.#thoughts += text;
    return [...mark, this.#frame(event, text)];
  }

  /** Where thoughts begin or end. */
  #mark(event: RunEvent, begins: boolean): readonly string[] {
    this.#isThinking = begins;
    this.#text += begins ? THINK_OPEN : THINK_CLOSE;
    return [this.#frame(event, '', begins ? { start_to_think: true } : { end_to_think: true })];
  }

  #frame({ at }: RunEvent, text: string, mark: JsonObject = {}): string {
    const { isLegacy, messageId, sessionId, chatId } = this.#about;
    return envelope({
      answer: isLegacy ? this.#text : text,
      reference: { chunks: [] },
      audio_binary: null,
      prompt: '',
      created_at: at / 1000,
      final: false,
      ...(isLegacy ? {} : mark),
      id: messageId,
      session_id: sessionId,
      ...(chatId !== undefined && { chat_id: chatId }),
    });
  }
}
