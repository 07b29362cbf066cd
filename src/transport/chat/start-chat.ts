/** Starts a chat: finds the assistant that answers, and lets it begin as often as it may. */
import { lastValueFrom, type Observable, takeUntil } from 'rxjs';
import type { ChatRunInfo } from '../../chat/chat-frames.js';
import type { RateState } from '../../chat/limits/rate-limits.js';
import { defaultChatId, openDefaultChat } from '../../chat/service/default-chat.js';
import { EngineError } from '../../errors.js';
import { noRun, noSession } from '../../hosting/refusals.js';
import type { StartedTurn } from '../../hosting/start.js';
import { isAssistant } from '../../records/agents.js';
import type { RunIdentity, RunRecord } from '../../records/runs.js';
import type { ServerParts } from '../server-parts.js';
import type { ChatRequest } from './chat-input.js';

const noChat = (id: string): EngineError =>
  new EngineError('NOT_FOUND', `There is no chat ${JSON.stringify(id)}. Leave out \`chat_id\` to ask all datasets.`);

/** A chat that was started. */
export interface StartedChat extends StartedTurn {
  /** How many more may begin, where that is counted. */
  readonly rate: RateState | undefined;
}

/**
 * Starts a chat once it may begin; `gone$` emits when its client does not wait any more.
 *
 * @throws EngineError RATE_LIMITED; NOT_FOUND for a chat or a session that is not there or another tenant's; as `startTurn`
 */
export async function startChat(
  parts: ServerParts,
  tenant: string,
  { turn, chatId }: ChatRequest,
  gone$: Observable<unknown>,
): Promise<StartedChat> {
  const { sessionId: session, userId: user } = turn;
  const caller = { tenant, ...(user !== undefined && { user }), ...(session !== undefined && { session }) };
  const admitted = await admit(parts, caller, gone$);
  const agentId = await chatOfRequest(parts, tenant, chatId, session);
  return { ...(await parts.startTurn({ tenant, agentId, fallback: 'draft', isChat: true }, turn)), rate: admitted };
}

async function admit(
  { chatLimits }: ServerParts,
  caller: Parameters<NonNullable<ServerParts['chatLimits']>['admit']>[0],
  gone$: Observable<unknown>,
): Promise<RateState | undefined> {
  if (chatLimits === undefined) return undefined;
  const left = { isGone: true } as const;
  const admitted = await lastValueFrom(chatLimits.admit(caller).pipe(takeUntil(gone$)), { defaultValue: left });
  if (admitted === left) throw new EngineError('BAD_REQUEST', 'The client left before its chat could begin.');
  return admitted as RateState | undefined;
}

/** What assistants are found with. */
type ChatParts = Pick<ServerParts, 'now' | 'defaultChats'> & {
  readonly stores: Pick<ServerParts['stores'], 'agents' | 'sessions'>;
};

/**
 * Id of the assistant of a request: the one that it names, that of its session, or the one that the tenant has from the first question on.
 *
 * @throws EngineError NOT_FOUND for a chat or a session that is not there or another tenant's
 */
export async function chatOfRequest(
  parts: ChatParts,
  tenant: string,
  chatId: string | undefined,
  sessionId: string | undefined,
): Promise<string> {
  const session = sessionId === undefined ? undefined : await parts.stores.sessions.find(tenant, sessionId);
  if (sessionId !== undefined && session === undefined) throw noSession();
  const id = chatId ?? session?.agentId;
  if (id === undefined) {
    return parts.defaultChats.read(tenant, () => openDefaultChat(parts.stores.agents, tenant, parts.now()));
  }
  const agent = await parts.stores.agents.find(tenant, id);
  if (agent === undefined || !isAssistant(agent)) throw chatId === undefined ? noSession() : noChat(chatId);
  // Whose session it is instead is not told.
  if (session !== undefined && session.agentId !== agent.id) throw noSession();
  return agent.id;
}

/** A run of a chat of the tenant. @throws EngineError NOT_FOUND for any other one, without a hint */
export async function findChatRun({ host, stores }: ServerParts, tenant: string, run: string): Promise<RunRecord> {
  const record = await host.record(tenant, run);
  const agent = record && (await stores.agents.find(tenant, record.agentId));
  if (record === undefined || agent === undefined || !isAssistant(agent)) throw noRun();
  return record;
}

/** What the events of a run of a chat say of it; the same for each client and each process. */
export function chatRunInfo(
  tenant: string,
  { id, agentId, sessionId }: Pick<RunIdentity, 'id' | 'agentId' | 'sessionId'>,
): ChatRunInfo {
  return { sessionId, traceId: id, chatId: agentId === defaultChatId(tenant) ? undefined : agentId };
}
