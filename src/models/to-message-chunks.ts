import { defer, map, type OperatorFunction, reduce } from 'rxjs';
import { EngineError } from '../errors.js';
import type { ChatDelta } from './chat-model.js';
import { concatMessages, messageOf } from './concat-messages.js';
import type { AssistantPart, ToolCall } from './content-parts.js';
import type { AssistantChunk, AssistantMessage, PartChunk } from './messages.js';

/**
 * Turns the deltas of one answer into chunks of its message, one for one.
 *
 * ```text
 * source    --t--t--c--u--f|        (text, text, tool call, usage, finish)
 * result    --x--x--y--z--w|        (content, content, tool call, usage, finish reason)
 * ```
 *
 * Chunks carry `parts` from the first delta on that only a part can hold, such as a signature; that chunk also carries what came before as parts, so
 * that the whole message has all of them in order. Readers of live text read `content`. Holds the answer so far until then, no longer.
 */
export function toMessageChunks(): OperatorFunction<ChatDelta, AssistantChunk> {
  return (source) =>
    defer(() => {
      const chunks = new MessageChunks();
      return source.pipe(map((delta) => chunks.next(delta)));
    });
}

/** The chunks of one answer, one for each delta; see {@link toMessageChunks}. */
export class MessageChunks {
  readonly #parts = new AnswerParts();
  #calls = 0;

  /** @throws EngineError MODEL_RESPONSE for what is no delta. */
  next(delta: ChatDelta): AssistantChunk {
    const chunk = chunkOf(delta, this.#calls);
    if (delta.type === 'tool-call') this.#calls += 1;
    const added = this.#parts.add(delta);
    return added === undefined ? chunk : { ...chunk, parts: added };
  }
}

/**
 * Gathers the deltas of one answer into its message.
 *
 * ```text
 * source    --t--t--c--u--f|        (text, text, tool call, usage, finish)
 * result    ---------------(m|)
 * ```
 *
 * A source that completes without any delta gives a message without content.
 */
export function collectMessage(): OperatorFunction<ChatDelta, AssistantMessage> {
  return (source) =>
    defer(() =>
      source.pipe(
        toMessageChunks(),
        reduce(
          (chunks, chunk) => {
            chunks.push(chunk);
            return chunks;
          },
          [{ role: 'assistant' } as AssistantChunk],
        ),
        map((chunks) => messageOf(concatMessages(chunks))),
      ),
    );
}

/** What a delta says apart from parts. */
function chunkOf(delta: ChatDelta, calls: number): AssistantChunk {
  switch (delta.type) {
    case 'text':
      return { role: 'assistant', content: delta.text };
    case 'thinking':
      return { role: 'assistant', reasoning: delta.text };
    case 'tool-call':
      return { role: 'assistant', toolCalls: [{ ...callOf(delta), index: calls }] };
    case 'part':
      return { role: 'assistant', ...textOf(delta.part) };
    case 'log-probabilities':
      return { role: 'assistant', logProbabilities: delta.tokens };
    case 'usage': {
      const { type: _, ...usage } = delta;
      return { role: 'assistant', usage };
    }
    case 'finish':
      return { role: 'assistant', finishReason: delta.reason, ...(delta.id && { id: delta.id }) };
    default:
      throw unknownDelta(delta);
  }
}

/** Models of one's own may give anything. */
function unknownDelta(delta: unknown): EngineError {
  const { type } = delta as Partial<ChatDelta>;
  const message = `A model gave a piece of its answer with the type ${JSON.stringify(type) ?? 'undefined'}. Give { type: 'text', text: '…' }, and { type: 'finish', reason: 'stop' } at the end.`;
  return new EngineError('MODEL_RESPONSE', message);
}

function callOf({ type: _, index: __, ...call }: ChatDelta & { readonly type: 'tool-call' }): ToolCall {
  return call;
}

/** A text or a thought that comes as a whole part is content or reasoning, too. */
function textOf(part: AssistantPart): Pick<AssistantChunk, 'content' | 'reasoning'> {
  if (part.type === 'text' && part.text !== '') return { content: part.text };
  return part.type === 'reasoning' && part.text !== '' ? { reasoning: part.text } : {};
}

/** Numbers the parts of an answer, and holds them back until one comes that needs to be a part. */
class AnswerParts {
  /** What came before parts were needed; undefined from then on. */
  #before: PartChunk[] | undefined = [];
  /** The part that the next piece may continue. */
  #open: AssistantPart['type'] | undefined;
  #next = 0;

  /** The parts that a chunk carries for a delta. */
  add(delta: ChatDelta): readonly PartChunk[] | undefined {
    const part = partOf(delta);
    if (part === undefined) return undefined;
    const continues = this.#open === part.type && (delta.type !== 'part' || isEnding(part) || isSound(part));
    const piece: PartChunk = { ...part, index: continues ? this.#next - 1 : this.#next };
    if (!continues) this.#next += 1;
    this.#open = delta.type === 'text' || delta.type === 'thinking' || isSound(part) ? part.type : undefined;
    if (this.#before === undefined) return [piece];
    this.#hold(piece, continues);
    if (delta.type !== 'part') return undefined;
    const all = this.#before;
    this.#before = undefined;
    return all;
  }

  #hold(piece: PartChunk, continues: boolean): void {
    const before = this.#before ?? [];
    const last = before.at(-1);
    if (!continues || last === undefined) before.push(piece);
    else before[before.length - 1] = continued(last, piece);
  }
}

/** One part of two pieces, of which the second is the shorter one. */
function continued(first: PartChunk, piece: PartChunk): PartChunk {
  const isText =
    (first.type === 'text' && piece.type === 'text') || (first.type === 'reasoning' && piece.type === 'reasoning');
  if (!isText) return first;
  return { ...first, ...piece, text: first.text + piece.text } as PartChunk;
}

/** Whether a part has no text of its own: a signature or citations, which end the part that they follow. */
function isEnding(part: AssistantPart): boolean {
  return (part.type === 'text' || (part.type === 'reasoning' && part.isRedacted !== true)) && part.text === '';
}

/** Whether a part is sound, whose pieces follow one another. */
function isSound(part: AssistantPart): boolean {
  return part.type === 'audio' && 'data' in part;
}

function partOf(delta: ChatDelta): AssistantPart | undefined {
  switch (delta.type) {
    case 'text':
      return { type: 'text', text: delta.text };
    case 'thinking':
      return { type: 'reasoning', text: delta.text };
    case 'tool-call':
      return { ...callOf(delta), type: 'tool-call' };
    case 'part':
      return delta.part;
    default:
      return undefined;
  }
}
