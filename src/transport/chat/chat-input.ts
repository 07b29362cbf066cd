/** Reading a question to a chat from a request or a frame. */
import { z } from 'zod';
import { TURN_VARIABLE, turnSettingsSchema } from '../../chat/service/chat-settings.js';
import { EngineError } from '../../errors.js';
import { checkId } from '../../hosting/ids.js';
import { badArgument } from '../../hosting/refusals.js';
import type { TurnRequest } from '../../hosting/start-command.js';
import type { Json } from '../../json.js';
import { nearestName } from '../../nearest-name.js';
import { readTraceContext } from '../../trace-context.js';
import { given, isTruthy } from '../http/input.js';
import type { TraceHeaders } from '../runs/read-turn.js';

/** Characters of a question: far more than a model reads, and less than a message may have that is stored. */
const MAX_QUESTION = 500_000;

const id = z.string().nullish();

/** A question to a chat; null counts as absent. */
export const chatSchema = z.looseObject({
  message: z.string({ error: 'expected a text' }).describe('The question.'),
  session_id: id.describe('Continues this session; default: a new one.'),
  chat_id: id.describe(
    'The assistant that answers; default: that of the session, else one that searches all datasets of the tenant.',
  ),
  user_id: id.describe("The client's name for its user."),
  ...turnSettingsSchema.shape,
  detach: z.unknown().optional().describe('true: continues without clients for as long as it takes.'),
});

/** A question that was read. */
export interface ChatRequest {
  readonly turn: TurnRequest;
  readonly chatId?: string;
}

/**
 * The turn of a body; what it sets for this question alone is in the variable that the node reads.
 *
 * @throws EngineError BAD_REQUEST; QUESTION_INVALID for a message with nothing in it, or too much
 */
export function readChat(body: z.output<typeof chatSchema>, headers: TraceHeaders = {}): ChatRequest {
  refuseMistyped(body);
  const { message, detach, dataset_ids, tools, llm_id, options } = body;
  if (message.length > MAX_QUESTION) {
    throw new EngineError(
      'QUESTION_INVALID',
      `The question has ${message.length} characters; ${MAX_QUESTION} are allowed. Put long texts into a dataset.`,
    );
  }
  if (message.trim() === '') throw new EngineError('QUESTION_INVALID', 'There is no question: `message` is empty.');
  const [sessionId, chatId, userId] = [body.session_id, body.chat_id, body.user_id].map((one) => one || undefined);
  const settings = given({ dataset_ids, tools, llm_id: llm_id || undefined, options: options && given(options) });
  return {
    turn: {
      query: message,
      ...{ inputs: {}, files: [], headers: {}, history: [] },
      ...given({
        sessionId: sessionId === undefined ? undefined : checkId('session_id', sessionId),
        userId: userId === undefined ? undefined : checkId('user_id', userId),
      }),
      ...{ isReleased: false, migrates: false, answersForm: false, returnsTrace: false, streams: true },
      detached: isTruthy(detach),
      variables: Object.keys(settings).length === 0 ? {} : { [TURN_VARIABLE]: settings as Json },
      trace: readTraceContext(headers),
    },
    ...(chatId === undefined ? {} : { chatId: checkId('chat_id', chatId) }),
  };
}

/** Other fields pass; one that resembles a field that is missing was meant to be it. */
function refuseMistyped(body: z.output<typeof chatSchema>): void {
  const names = Object.keys(chatSchema.shape);
  for (const name of Object.keys(body)) {
    const meant = names.includes(name) ? undefined : nearestName(name, names);
    if (meant === undefined || Object.hasOwn(body, meant)) continue;
    throw badArgument(`\`${name}\` is no field of a chat. Did you mean \`${meant}\`?`);
  }
}
