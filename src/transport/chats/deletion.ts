/** Deleting several things at once, as RAGFlow's clients ask for it and read the answer. */
import { z } from 'zod';
import type { Json, JsonObject } from '../../json.js';
import { type Envelope, success } from '../envelope.js';
import { twiceIn } from '../ragflow/fields.js';
import { string, whole } from '../shapes.js';
import { dataError } from './refusals.js';

/** Most ids that one request may name. */
const MOST_IDS = 10_000;

export const deletionBody = z.looseObject({
  ids: z.unknown().optional().describe('Ids.'),
  delete_all: z.unknown().optional().describe('true, without `ids`: all of them.'),
});

export const deletionShape = z.union([
  z.looseObject({ success_count: whole.optional(), errors: z.array(string).optional() }),
  z.literal(true),
]);

/** What is to be deleted. */
export interface Deletion {
  /** Each once. */
  readonly ids: readonly string[];
  /** What is said of ids that came more than once. */
  readonly twice: readonly string[];
  readonly all: boolean;
}

/** @throws EngineError NOT_FOUND (envelope 102) for ids that are none. */
export function readDeletion(body: object, what: 'chat' | 'session'): Deletion {
  const { ids: given, chat_id, delete_all } = body as JsonObject;
  const one = what === 'chat' && typeof chat_id === 'string' && chat_id !== '' ? [chat_id] : [];
  const ids = isEmpty(given) ? one : given;
  if (!Array.isArray(ids) || !ids.every((id: Json) => typeof id === 'string'))
    throw dataError('`ids` should be a list of ids.');
  if (ids.length > MOST_IDS) throw dataError(`\`ids\` must contain at most ${MOST_IDS} ids.`);
  const texts = ids as readonly string[];
  const twice = twiceIn(texts).map((id) => `Duplicate ${what} ids: ${id}`);
  return { ids: [...new Set(texts)], twice, all: isEmpty(given) && delete_all === true };
}

function isEmpty(ids: Json | undefined): boolean {
  return ids === undefined || ids === null || (Array.isArray(ids) && ids.length === 0);
}

/** What a deletion did. */
export interface Deleted {
  readonly count: number;
  readonly errors: readonly string[];
}

/** The answer to a deletion: nothing done and something wrong is a failure. `done` is the data when all went well. */
export function sumUp({ count, errors }: Deleted, what: string, done?: true): Envelope {
  if (errors.length > 0 && count === 0) return { code: 102, message: errors.join('; ') };
  if (errors.length > 0) {
    const message = `Partially deleted ${count} ${what} with ${errors.length} errors`;
    return { code: 0, message, data: { success_count: count, errors } };
  }
  // Nothing was asked for, or there was nothing.
  if (count === 0) return success({});
  return success(done ?? { success_count: count });
}
