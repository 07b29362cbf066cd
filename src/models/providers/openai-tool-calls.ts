import { isJsonObject, type JsonObject } from '../../json.js';
import type { ChatDelta } from '../chat-model.js';
import { textOf } from '../frame-values.js';
import type { CallTarget } from '../provider-error.js';
import { MAX_CALLS, tooManyCalls } from '../stream-answer.js';

interface Draft {
  id: string;
  name: string;
  arguments: string;
  /** What the server wants back with the result. */
  extra: JsonObject | undefined;
}

/**
 * Assembles streamed tool calls, keyed by `index`, the id and the name coming only once.
 *
 * Forgives what servers do: no index at all (a new id begins a new call), one index for several ids (the same), no ids
 * (`answerId` and the position make one), arguments as an object, and no arguments (an empty object).
 */
export function createToolCallPieces(target: CallTarget) {
  const drafts: Draft[] = [];
  const byIndex = new Map<number, Draft>();
  let current: Draft | undefined;

  const draftOf = (index: unknown, id: string): Draft => {
    const known = typeof index === 'number' ? byIndex.get(index) : current;
    const isOther = known !== undefined && id !== '' && known.id !== '' && known.id !== id;
    if (known !== undefined && !isOther) return known;
    const draft: Draft = { id, name: '', arguments: '', extra: undefined };
    drafts.push(draft);
    if (typeof index === 'number') byIndex.set(index, draft);
    return draft;
  };

  return {
    /** Takes the `tool_calls` of one frame. */
    add(pieces: readonly unknown[]): void {
      for (const piece of pieces) {
        if (!isJsonObject(piece)) continue;
        const id = textOf(piece.id);
        current = draftOf(piece.index, id);
        if (current.id === '') current.id = id;
        const called = isJsonObject(piece.function) ? piece.function : {};
        if (current.name === '') current.name = textOf(called.name);
        if (typeof called.arguments === 'string') current.arguments += called.arguments;
        else if (isJsonObject(called.arguments)) current.arguments = JSON.stringify(called.arguments);
        if (isJsonObject(piece.extra_content)) current.extra = { extra_content: piece.extra_content };
        if (drafts.length > MAX_CALLS) throw tooManyCalls(target);
      }
    },
    /** The calls, complete, in order. */
    finished: (answerId: string) =>
      drafts.map((draft, index): ChatDelta => {
        const id = draft.id || `call_${answerId}${answerId && '_'}${index}`;
        const { name, arguments: text, extra } = draft;
        return { type: 'tool-call', index, id, name, arguments: text || '{}', ...(extra && { extra }) };
      }),
  };
}
