import { renderValue } from '../../dsl/render-value.js';
import type { ValueSource } from '../../dsl/resolve.js';
import { isJsonObject, type Json } from '../../json.js';
import { removeThinking } from '../speaking/think-text.js';

/** One entry of a conversation as a model sees it. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/**
 * The newest `2 * window` entries of the variable `history`, the current question included, oldest first.
 *
 * An entry is `[role, payload]`; an object counts by its `content`. What an assistant thought is left out. A window of 0
 * gives none.
 */
export function readHistory(source: ValueSource, window: number): Turn[] {
  const lookup = source.variable('history');
  if (window <= 0 || lookup.status !== 'found' || !Array.isArray(lookup.value)) return [];
  const entries: readonly Json[] = lookup.value.slice(-2 * window);
  return entries.flatMap((entry) => (Array.isArray(entry) ? [turnOf(entry[0], entry[1])] : []));
}

function turnOf(role: Json | undefined, payload: Json | undefined): Turn {
  const value = isJsonObject(payload) ? payload.content : payload;
  const content = renderValue(value);
  return role === 'assistant' ? { role, content: removeThinking(content) } : { role: 'user', content };
}
