/** Conversations for pages of the AI SDK: `useChat` with its default transport sends, reconnects and stops. */
import { z } from 'zod';
import { readTurnInput } from '../../canvas/conversation.js';
import { EngineError } from '../../errors.js';
import { eventOf } from '../../hosting/event-frame.js';
import { checkId } from '../../hosting/ids.js';
import { badArgument, noRun } from '../../hosting/refusals.js';
import { partyOf } from '../../hosting/shares.js';
import type { TurnRequest } from '../../hosting/start-command.js';
import type { AgentRecord } from '../../records/agents.js';
import type { SessionRecord } from '../../records/sessions.js';
import { fromUiMessages, type UiRequest } from '../../ui-messages/from-ui-messages.js';
import { UI_MESSAGE_HEADER, type UiMessage } from '../../ui-messages/protocol.js';
import { opensSession, refuseOwnersFields } from '../access/page-keys.js';
import { findAgent } from '../agents/find-agent.js';
import { success } from '../envelope.js';
import { whenLeft } from '../http/client-left.js';
import { takePlace } from '../http/guards.js';
import { type HttpExchange, type PathRequest, type RouteGroup, type RouteRequest, route } from '../http/route.js';
import { streamRun } from '../runs/answer-run.js';
import { turnOf, turnSchema } from '../runs/read-turn.js';
import { inputSchema, keptShape, sayToRun } from '../runs/run-inputs.js';
import type { ServerParts } from '../server-parts.js';
import { uiMessageView } from './ui-message-view.js';

const sentSchema = turnSchema
  .pick({ inputs: true, user_id: true, name: true, version: true, release: true, detach: true, custom_header: true })
  .extend({
    id: z.string().describe('Id of the chat, which becomes that of its session.'),
    messages: z
      .array(z.looseObject({ role: z.string(), parts: z.array(z.looseObject({ type: z.string() })) }))
      .describe('The last one is a question, or has the answers to what a run waits for.'),
    trigger: z.unknown().optional().describe('Ignored: a repeated question is asked again.'),
  });

/** Runs that go on with each other in one message. */
const MAX_RUNS = 100;

export const uiMessageRoutes: RouteGroup = {
  name: 'ui-messages',
  description:
    'Conversations for pages of the AI SDK (`useChat`), in its UI message stream. A page that leaves detaches; `stop` ends the run.',
  routes: [
    route('POST /agents/:id/ui-messages', {
      summary: 'Asks, or answers what a run waits for, and streams the message',
      access: 'page',
      finds: findAgent,
      body: sentSchema,
      answers: 'events',
      handle: send,
    }),
    route('GET /agents/:id/ui-messages/:chat/stream', {
      summary: 'Streams the message that is being made, from its beginning; 204 while nothing is at work',
      access: 'page',
      finds: findChat,
      answers: 'events',
      handle: reconnect,
    }),
    route('POST /agents/:id/ui-messages/:chat/inputs', {
      summary: 'Says something to the agents of the run of a chat, which is at work',
      access: 'page',
      finds: findChat,
      body: inputSchema,
      data: keptShape,
      handle: async ({ tenant, found, body }, parts) => {
        const record = found?.lastRun === undefined ? undefined : await parts.host.record(tenant, found.lastRun);
        if (record === undefined) throw noRun();
        return success(await sayToRun(parts, tenant, record, body));
      },
    }),
    route('POST /agents/:id/ui-messages/:chat/stop', {
      summary: 'Stops the run of a chat',
      access: 'page',
      finds: findChat,
      data: z.boolean(),
      handle: async ({ tenant, found }, { host }) => {
        if (found !== undefined) await host.cancel(tenant, { agentId: found.agentId, sessionId: found.id });
        return success(true);
      },
    }),
  ],
};

async function send(
  request: RouteRequest<'id', never, typeof sentSchema, AgentRecord>,
  parts: ServerParts,
): Promise<void> {
  const { tenant, page, body, exchange, found } = request;
  refuseOwnersFields({ page }, body);
  const sent = readSent(body.messages as unknown as readonly UiMessage[]);
  const turn = await turnOfSent(request, sent, parts);
  const { live } = await parts.startTurn({ tenant, page, agentId: found.id, fallback: 'published' }, turn);
  const { id: run, sessionId } = live.identity;
  answerWith(exchange, parts, run, { message: sent.message, metadata: { session: sessionId } });
}

/** @throws EngineError BAD_REQUEST. */
function readSent(messages: readonly UiMessage[]): UiRequest {
  if (messages.length === 0) throw badArgument('`messages` must have at least one message.');
  try {
    return fromUiMessages(messages);
  } catch (error) {
    throw EngineError.is(error) && error.code === 'OPTION_INVALID' ? badArgument(error.message) : error;
  }
}

async function turnOfSent(
  { tenant, body: { id, messages: _, trigger: __, ...body }, exchange }: Parameters<typeof send>[0],
  { query, files, history, answers, run, message }: UiRequest,
  { host }: ServerParts,
): Promise<TurnRequest> {
  const sessionId = checkId('id', id);
  const turn = { ...turnOf(body, { release: false }, exchange.headers), sessionId, streams: true };
  if (message === undefined) return { ...turn, query, files: files.map(({ url }) => url), history, makesSession: true };
  const asked = run === undefined ? undefined : await host.record(tenant, run);
  // A run that failed could be resumed, too, which is nothing that an answer means.
  if (asked?.status !== 'waiting' || asked.sessionId !== sessionId) {
    throw badArgument(
      'The last message is one of the assistant, and answers nothing that the chat waits for. Send a message of the user, or answers to the newest questions.',
    );
  }
  return { ...turn, inputs: { ...turn.inputs, ...answers }, resumeFrom: asked.id };
}

async function reconnect(
  {
    tenant,
    page,
    exchange,
    found: session,
  }: RouteRequest<'id' | 'chat', never, z.ZodUnknown, SessionRecord | undefined>,
  parts: ServerParts,
): Promise<void> {
  const { lastRun } = session ?? {};
  const record = lastRun === undefined ? undefined : await parts.host.record(tenant, lastRun);
  if (session === undefined || record?.status !== 'running') {
    exchange.status = 204;
    return;
  }
  const before = await runsBefore(parts, tenant, record);
  whenLeft(exchange, takePlace(parts.shares.streams, partyOf(tenant, page !== undefined), 'event streams'));
  const messageId = before[0] ?? record.id;
  answerWith(exchange, parts, record.id, { before, messageId, metadata: { session: session.id } });
}

/** The runs that the same message began with, the first one first: those that a run goes on with by answers alone. */
async function runsBefore(
  { stores, host }: ServerParts,
  tenant: string,
  { id, parentRun }: { readonly id: string; readonly parentRun?: string },
): Promise<readonly string[]> {
  const before: string[] = [];
  let [run, parent] = [id, parentRun];
  while (parent !== undefined && before.length < MAX_RUNS) {
    const [first] = (await stores.log.read(tenant, run, 0, { maxEvents: 1, maxBytes: 1 })) ?? [];
    const begun = first === undefined ? undefined : eventOf(first);
    if (begun?.type !== 'run-started' || !begun.resumed || readTurnInput(begun.input).query !== '') break;
    const record = await host.record(tenant, parent);
    if (record?.status !== 'waiting') break;
    before.unshift(record.id);
    [run, parent] = [record.id, record.parentRun];
  }
  return before;
}

function answerWith(
  exchange: HttpExchange,
  parts: ServerParts,
  run: string,
  { before = [], ...options }: Parameters<typeof uiMessageView>[1] & { readonly before?: readonly string[] },
): void {
  exchange.set(...UI_MESSAGE_HEADER);
  streamRun(exchange, parts, run, { ...uiMessageView(run, options), before });
}

/** The session of a chat; undefined before its first question, and for one of another agent or page, of which nothing is told. */
async function findChat(request: PathRequest<'id' | 'chat'>, parts: ServerParts): Promise<SessionRecord | undefined> {
  const { id } = await findAgent(request, parts);
  const chat = checkId('chat', request.params.chat);
  const session = await parts.stores.sessions.find(request.tenant, chat);
  if (session?.agentId !== id || !(await opensSession(request, parts.stores, chat))) return undefined;
  return session;
}
