/** What requests to agents say, checked. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { type JsonObject, parseJson, whyNotJson } from '../../json.js';
import { contentSchema, messageSchema } from '../../models/message-schema.js';

const inputs = z.union([z.string().min(1), z.array(messageSchema).min(1)]);

/** Of `POST …/turns`. */
export const turnSchema = z.strictObject({ input: inputs });
/** Of `POST …/resume`. */
export const resumeSchema = z.strictObject({ answers: z.record(z.string(), z.json()).default({}) });
/** Of `POST …/inputs`. */
export const inputSchema = z.strictObject({
  id: z.string().min(1).max(200).optional(),
  content: contentSchema,
  when: z.enum(['safe-point', 'next-turn', 'preempt', 'now']).exactOptional(),
  to: z.string().min(1).max(200).exactOptional(),
});
/** Of `POST …/cancel`. */
export const cancelSchema = z.strictObject({
  mode: z.enum(['now', 'after-model', 'after-tools', 'after-round']).default('now'),
  withinMs: z.number().int().min(0).exactOptional(),
  deep: z.boolean().exactOptional(),
});
/** Of `POST /ui-messages`, as `useChat` sends it. */
export const uiSchema = z.looseObject({
  id: z.string().min(1).max(200),
  messages: z.array(z.looseObject({ role: z.string(), parts: z.array(z.looseObject({ type: z.string() })) })).min(1),
});
/** Of `POST …/rollback`. */
export const rollbackSchema = z.strictObject({ turn: z.string() });

const req = z.union([z.string().max(200), z.number()]).optional();
const frames = {
  turn: z.strictObject({ type: z.literal('turn'), req, input: inputs }),
  resume: resumeSchema.extend({ type: z.literal('resume'), req }),
  input: inputSchema.extend({ type: z.literal('input'), req }),
  cancel: cancelSchema.extend({ type: z.literal('cancel'), req }),
  attach: z.strictObject({ type: z.literal('attach'), req, after: z.number().int().min(0).default(0) }),
} as const;

/** A frame of a client, of its WebSocket. */
export type SocketFrame = { [K in keyof typeof frames]: z.output<(typeof frames)[K]> }[keyof typeof frames];

/** @throws EngineError BAD_REQUEST with the field and what is wrong with it */
export function readFrame(value: JsonObject): SocketFrame {
  const { type } = value;
  if (typeof type !== 'string' || !Object.hasOwn(frames, type))
    throw new EngineError('BAD_REQUEST', `"type" must be one of ${Object.keys(frames).join(', ')}.`);
  return checked(frames[type as keyof typeof frames] as z.ZodType<SocketFrame>, value, 'The frame');
}

/**
 * The body of a request.
 *
 * Only `application/json` is read, which a form on a page of another site cannot send.
 *
 * @throws EngineError BODY_TOO_LARGE, BAD_REQUEST with the field and what is wrong with it
 */
export async function readBody<T>(request: Request, schema: z.ZodType<T>, maxBytes: number): Promise<T> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new EngineError(
      'BAD_REQUEST',
      `The body must be application/json; received ${type === '' ? 'no type' : `"${type.slice(0, 100)}"`}.`,
    );
  }
  const text = await readText(request, maxBytes);
  const value = parseJson(text === '' ? '{}' : text);
  if (value === undefined) throw new EngineError('BAD_REQUEST', `The body ${whyNotJson(text)}.`);
  return checked(schema, value, 'The body');
}

function checked<T>(schema: z.ZodType<T>, value: unknown, whole: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new EngineError('BAD_REQUEST', `${issue?.path.join('.') || whole}: ${issue?.message ?? 'it is not valid'}.`);
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const reader = request.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      await reader.cancel();
      throw new EngineError('BODY_TOO_LARGE', `The body is larger than ${maxBytes} bytes.`);
    }
    text += decoder.decode(value, { stream: true });
  }
}
