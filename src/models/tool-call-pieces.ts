import { isJsonObject } from '../json.js';
import type { ChatDelta } from './chat-model.js';

/** Calls in one answer; a provider that sends more is not sane. */
const MAX_CALLS = 128;

interface Draft {
  id: string;
  name: string;
  arguments: string;
}

/** Puts tool calls together from their pieces. */
export interface ToolCallPieces {
  /** Takes the `tool_calls` array of one frame; false when it holds more calls than any answer may. */
  add(pieces: readonly unknown[]): boolean;
  /** Gives the calls, complete, in order. */
  take(answerId: string): ChatDelta[];
}

/**
 * Assembles streamed tool calls, keyed by `index`, the id and the name coming only once.
 *
 * Forgives what servers do: no index at all (a new id begins a new call), one index for several ids (the same), no ids
 * (`answerId` and the position make one), arguments as an object, and no arguments (an empty object).
 */
export function createToolCallPieces(): ToolCallPieces {
  let drafts: Draft[] = [];
  let byIndex = new Map<number, Draft>();
  let current: Draft | undefined;

  const draftOf = (index: unknown, id: string): Draft => {
    const known = typeof index === 'number' ? byIndex.get(index) : current;
    const isOther = known !== undefined && id !== '' && known.id !== '' && known.id !== id;
    if (known !== undefined && !isOther) return known;
    const draft: Draft = { id, name: '', arguments: '' };
    drafts.push(draft);
    if (typeof index === 'number') byIndex.set(index, draft);
    return draft;
  };

  return {
    add(pieces) {
      for (const piece of pieces) {
        if (!isJsonObject(piece)) continue;
        const id = typeof piece.id === 'string' ? piece.id : '';
        current = draftOf(piece.index, id);
        if (current.id === '') current.id = id;
        const called = isJsonObject(piece.function) ? piece.function : {};
        if (current.name === '' && typeof called.name === 'string') current.name = called.name;
        if (typeof called.arguments === 'string') current.arguments += called.arguments;
        else if (isJsonObject(called.arguments)) current.arguments = JSON.stringify(called.arguments);
        if (drafts.length > MAX_CALLS) return false;
      }
      return true;
    },
    take(answerId) {
      const calls = drafts.map((draft, index): ChatDelta => {
        const id = draft.id || `call_${answerId}${answerId && '_'}${index}`;
        return { type: 'tool-call', index, id, name: draft.name, arguments: draft.arguments || '{}' };
      });
      drafts = [];
      byIndex = new Map();
      current = undefined;
      return calls;
    },
  };
}
