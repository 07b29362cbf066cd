/** What the components of this folder say when they are called with something else than they work on. */
import { EngineError } from '../errors.js';
import { receivedOf } from '../operators/invalid-option.js';
import type { KnowledgeDocument } from './knowledge-document.js';

/** Refuses what is no text where a query or a URI belongs. `name` is that of the component. @throws EngineError INPUT_INVALID */
export function requireText(name: string, what: 'query' | 'URI', value: unknown): asserts value is string {
  if (typeof value === 'string') return;
  throw new EngineError('INPUT_INVALID', `"${name}" needs a ${what}, which is a text; received ${receivedOf(value)}.`);
}

/** Refuses what is no list of documents. `name` is that of the component. @throws EngineError INPUT_INVALID with the position */
export function requireDocuments(name: string, value: unknown): asserts value is readonly KnowledgeDocument[] {
  const advice = 'Make documents with knowledgeDocument({ text }), or load them.';
  if (!Array.isArray(value)) {
    const message = `"${name}" needs a list of documents; received ${receivedOf(value)}. ${advice}`;
    throw new EngineError('INPUT_INVALID', message);
  }
  const at = value.findIndex((one) => typeof one?.text !== 'string' || typeof one.id !== 'string');
  if (at === -1) return;
  const message = `"${name}" needs a list of documents; item ${at} is ${receivedOf(value[at])} without "id" and "text". ${advice}`;
  throw new EngineError('INPUT_INVALID', message);
}
