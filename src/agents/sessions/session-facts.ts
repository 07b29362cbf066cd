/** Facts and entries of sessions that come from outside or from a store, checked. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { isTooDeep, MAX_JSON_DEPTH } from '../../json.js';
import { contentSchema, messageSchema } from '../../models/message-schema.js';
import { receivedOf } from '../../operators/invalid-option.js';
import type { SessionEntry, SessionFact, UserInput } from './session-store.js';

/** Letters, digits and signs of any script; no control character and no half of a pair, which some stores cannot hold. */
const ID = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,200}$/u;

const WHAT_IDS_ARE = 'a text of 1 to 200 characters, none of them a control character';

const id = z.string().regex(ID, `expected ${WHAT_IDS_ARE}`);
const messages = z.array(messageSchema);

const userInput: z.ZodType<UserInput> = z.strictObject({
  id,
  content: contentSchema,
  when: z.enum(['safe-point', 'next-turn', 'preempt', 'now']).exactOptional(),
  to: id.exactOptional(),
});

const factSchema: z.ZodType<SessionFact> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('turn-started'), turn: id, run: id, input: messages }),
  z.object({
    type: z.literal('turn-ended'),
    turn: id,
    status: z.enum(['succeeded', 'waiting', 'failed', 'cancelled']),
    messages,
    context: messages.exactOptional(),
    values: z.record(z.string(), z.json()).exactOptional(),
    checkpoint: id.exactOptional(),
  }),
  z.object({ type: z.literal('turn-resumed'), turn: id, run: id }),
  z.object({ type: z.literal('input-accepted'), input: userInput }),
  z.object({
    type: z.literal('input-delivered'),
    id,
    turn: id,
    round: z.number().int().min(0),
    agent: z.string(),
  }),
  z.object({ type: z.literal('input-dropped'), id, reason: z.string() }),
  z.object({ type: z.literal('rolled-back'), turn: z.union([id, z.literal('')]) }),
]);

const placeSchema = z.object({ at: z.number().int().min(1), time: z.number() });

/** Refuses what is no id of a session. @throws EngineError SESSION_INVALID */
export function requireSessionId(session: unknown): asserts session is string {
  if (isSessionId(session)) return;
  throw new EngineError(
    'SESSION_INVALID',
    `The id of a session must be ${WHAT_IDS_ARE}; received ${receivedOf(session).slice(0, 250)}.`,
  );
}

/** Whether a value is an id as sessions, turns, runs and inputs have them. */
export function isSessionId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}

/** A fact with only the fields that it may have. @throws EngineError SESSION_INVALID, which names the field */
export function checkedFact(session: string, fact: unknown): SessionFact {
  if (isTooDeep(fact)) throw invalid(`A fact of session "${session}" has more than ${MAX_JSON_DEPTH} levels.`);
  const parsed = factSchema.safeParse(fact);
  if (parsed.success) return parsed.data;
  throw invalid(`A fact of session "${session}" is not valid: ${reasonOf(parsed.error)}.`, parsed.error);
}

/** Entry `at` as it was stored. @throws EngineError SESSION_INVALID when it was damaged */
export function readEntry(session: string, value: unknown, at: number): SessionEntry {
  const place = placeSchema.safeParse(value);
  const fact = factSchema.safeParse(value);
  if (place.success && fact.success && place.data.at === at) return { ...place.data, ...fact.data };
  const why =
    place.success && fact.success
      ? `it is number ${place.data.at}`
      : reasonOf((fact.error ?? place.error) as z.ZodError);
  throw invalid(
    `Entry ${at} of session "${session}" cannot be read: ${why}. It was damaged where it is stored; restore it, or delete the session.`,
    fact.error,
  );
}

function reasonOf(error: z.ZodError): string {
  const [issue] = error.issues;
  return `${issue?.path.join('.') || 'the whole'}: ${issue?.message ?? 'unknown'}`;
}

function invalid(message: string, cause?: unknown): EngineError {
  return new EngineError('SESSION_INVALID', message, { cause });
}
