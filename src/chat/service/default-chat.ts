/** The chat of a tenant that names none: it searches all datasets, and may call all tools. */
import { createHash } from 'node:crypto';
import { EngineError } from '../../errors.js';
import { requireMethods } from '../../operators/invalid-option.js';
import { type AgentRecord, type AgentStore, CHAT_CATEGORY } from '../../records/agents.js';
import { chatDocument } from './chat-document.js';

/** Title of the chat of a tenant that names none. */
export const DEFAULT_CHAT_TITLE = 'default';

/** Id of the chat of a tenant that names none; the same in every process. */
export function defaultChatId(tenant: string): string {
  return createHash('sha256')
    .update(JSON.stringify(['default chat', tenant]))
    .digest('hex')
    .slice(0, 32);
}

/** Gives its id, and makes it when there is none. A user may change it. Errors: those of the store, QUOTA_EXCEEDED. */
export async function openDefaultChat(
  agents: Pick<AgentStore, 'find' | 'insert'>,
  tenant: string,
  now: number,
): Promise<string> {
  requireMethods('openDefaultChat', 'agents', agents, ['find', 'insert'], 'a store of agents');
  const id = defaultChatId(tenant);
  if ((await agents.find(tenant, id)) !== undefined) return id;
  try {
    await agents.insert(tenant, newDefaultChat(id, now));
  } catch (error) {
    // Two first questions at once; or a chat of the user has its title, and the next one is as good.
    if (!EngineError.is(error) || error.code !== 'CONFLICT') throw error;
    if ((await agents.find(tenant, id)) === undefined) {
      await agents.insert(tenant, newDefaultChat(id, now, `${DEFAULT_CHAT_TITLE} ${id.slice(0, 8)}`));
    }
  }
  return id;
}

function newDefaultChat(id: string, now: number, title: string = DEFAULT_CHAT_TITLE): AgentRecord {
  return {
    id,
    title,
    description: 'Answers questions that name no chat.',
    avatar: null,
    permission: 'me',
    canvasType: null,
    canvasCategory: CHAT_CATEGORY,
    tags: '',
    dsl: chatDocument({}),
    createdAt: now,
    updatedAt: now,
  };
}
