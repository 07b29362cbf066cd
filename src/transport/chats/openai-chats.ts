/** Questions to assistants as clients of OpenAI's API ask them. */
import { z } from 'zod';
import { TURN_VARIABLE } from '../../chat/service/chat-settings.js';
import { badArgument } from '../../hosting/refusals.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { AgentRecord } from '../../records/agents.js';
import { tellRate } from '../chat/chat-routes.js';
import { startChat } from '../chat/start-chat.js';
import {
  answerInOpenaiForm,
  messageSchema,
  openaiSchema,
  readOpenaiRequest,
  refuseInOpenaiForm,
} from '../completions/completions.js';
import type { CompletionHeader } from '../completions/openai-view.js';
import { clientLeft } from '../http/client-left.js';
import { readInput } from '../http/input.js';
import { type RouteGroup, type RouteRequest, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { samplingOf, settingsOf } from './assistant.js';
import { defaultModelOf } from './assistant-view.js';
import { dropWhenOver, existingDatasets, requireModel } from './completions.js';
import { findChat } from './find-chat.js';
import { referenceOf } from './session-view.js';

const extra = z
  .unknown()
  .optional()
  .describe(
    '`reference`: true adds what the answer cites; `metadata_condition`: only passages of documents whose metadata fit. Both may also stand beside `messages`.',
  );

const questionSchema = openaiSchema.omit({ session_id: true, id: true, inputs: true }).extend({
  messages: z.array(messageSchema).describe('The last one is the question, those before it are what was said before.'),
  model: z.unknown().optional().describe('A chat model; "model", or the id of the assistant: the one that is set.'),
  extra_body: extra,
});

export const openaiChatRoutes: RouteGroup = {
  name: 'openai chats',
  description: 'Questions to assistants as clients of OpenAI’s API ask them; no session is kept.',
  routes: (['openai', 'chats_openai'] as const).map((path) =>
    route(`POST /${path}/:chat/chat/completions`, {
      summary: path === 'openai' ? 'Asks an assistant' : 'Older path of the same',
      finds: findChat,
      takes: questionSchema,
      answers: 'openai',
      refuse: refuseInOpenaiForm,
      handle: complete,
    }),
  ),
};

/** Of OpenAI's form what belongs to sessions and forms, which these chats do not have. */
const NO_SESSION = { session_id: undefined, id: undefined, metadata: undefined, inputs: undefined };

async function complete(
  { tenant, body, exchange, found }: RouteRequest<'chat', z.ZodObject, z.ZodUnknown, AgentRecord>,
  parts: ServerParts,
): Promise<JsonObject | undefined> {
  const given = isJsonObject(body) ? body : {};
  const { reference, filter } = readExtra(given);
  const sent = readInput(openaiSchema, given);
  if ((sent.messages ?? []).length === 0) throw badArgument('You have to provide messages.');
  if (sent.messages?.at(-1)?.role !== 'user') {
    throw badArgument('The last content of this conversation is not from user.');
  }
  const { turn, promptTokens } = readOpenaiRequest({ ...sent, ...NO_SESSION }, exchange.headers);
  const named = modelIn(parts, found, given.model);
  const sampling = samplingOf(given);
  const variable: JsonObject = {
    ...(await existingDatasets(parts, tenant, found)),
    ...(named !== undefined && { llm_id: named }),
    ...(Object.keys(sampling).length > 0 && { sampling }),
    ...(filter !== undefined && { filter }),
  };
  const asked = { ...turn, ...(Object.keys(variable).length > 0 && { variables: { [TURN_VARIABLE]: variable } }) };
  const { live, rate } = await startChat(parts, tenant, { turn: asked, chatId: found.id }, clientLeft(exchange));
  tellRate(exchange, rate);
  dropWhenOver(parts, tenant, live);
  const { id: run, agentId } = live.identity;
  const header: CompletionHeader = {
    sessionId: `chatcmpl-${run}`,
    agentId,
    created: Math.floor(live.startedAt / 1000),
    promptTokens,
    model: named ?? (settingsOf(found).llm_id || defaultModelOf(parts)),
    cite: (cited) => (reference ? (referenceOf(cited).chunks as Json) : undefined),
  };
  return answerInOpenaiForm(exchange, parts, live, { header, turn });
}

/** The model of a request, where it is not the one of the assistant. @throws EngineError NOT_FOUND */
function modelIn(parts: ServerParts, { id }: AgentRecord, model: Json | undefined): string | undefined {
  if (typeof model !== 'string' || model === '' || model === 'model' || model === id) return undefined;
  requireModel(parts, model);
  return model;
}

interface Extra {
  readonly reference: boolean;
  readonly filter: JsonObject | undefined;
}

/** What OpenAI's API does not know: in `extra_body`, or where OpenAI's own clients put that, beside the messages. @throws EngineError BAD_REQUEST */
function readExtra(body: JsonObject): Extra {
  const { extra_body: nested = {} } = body;
  if (nested !== null && !isJsonObject(nested)) throw badArgument('extra_body must be an object.');
  const { reference, reference_metadata, metadata_condition } = { ...body, ...nested };
  if (reference_metadata) {
    if (!isJsonObject(reference_metadata)) throw badArgument('reference_metadata must be an object.');
    const { fields } = reference_metadata;
    if (fields !== undefined && fields !== null && !Array.isArray(fields)) {
      throw badArgument('reference_metadata.fields must be an array.');
    }
  }
  if (metadata_condition && !isJsonObject(metadata_condition))
    throw badArgument('metadata_condition must be an object.');
  return { reference: Boolean(reference), filter: isJsonObject(metadata_condition) ? metadata_condition : undefined };
}
