import { Newest } from '../newest.js';
import { type ChatStore, type ChatSummary, chatMessageText, type PlacedMessage } from '../records/chats.js';
import { ownedKey } from '../records/repository.js';

/** A session. Replaced with each change, so that its size never changes while it is held. */
interface Thread {
  readonly lastPosition: number;
  readonly messages: readonly PlacedMessage[];
  readonly summary?: ChatSummary;
  readonly bytes: number;
}

const EMPTY: Thread = { lastPosition: 0, messages: [], bytes: 0 };

/** Chats in memory: of more than 100,000 sessions, or 256 MiB, those that were used longest ago are dropped. */
export function createMemoryChats(): ChatStore {
  const threads = new Newest<Thread>({ maxCount: 100_000, maxSize: 256 * 1024 ** 2, sizeOf: ({ bytes }) => bytes });
  const find = (tenant: string, session: string): Thread => threads.touch(ownedKey(tenant, session)) ?? EMPTY;
  const put = (tenant: string, session: string, thread: Thread): void => threads.put(ownedKey(tenant, session), thread);
  return {
    async append(tenant, session, messages) {
      const texts = messages.map(chatMessageText);
      const thread = find(tenant, session);
      const known = new Set(thread.messages.map(({ id }) => id));
      let { lastPosition, bytes } = thread;
      const added: PlacedMessage[] = [];
      for (const [at, message] of messages.entries()) {
        if (known.has(message.id)) continue;
        known.add(message.id);
        lastPosition += 1;
        bytes += (texts[at] as string).length;
        added.push({ ...message, position: lastPosition });
      }
      put(tenant, session, { ...thread, lastPosition, bytes, messages: [...thread.messages, ...added] });
      return added.length;
    },
    async messages(tenant, session, { after = 0, limit, newest = false }) {
      const found = find(tenant, session).messages.filter(({ position }) => position > after);
      return newest ? found.slice(Math.max(0, found.length - limit)) : found.slice(0, limit);
    },
    async setDetails(tenant, session, id, details) {
      const thread = find(tenant, session);
      if (!thread.messages.some((message) => message.id === id)) return false;
      const messages = thread.messages.map((message): PlacedMessage => {
        if (message.id !== id) return message;
        const { details: _, ...others } = message;
        return details === undefined ? others : { ...others, details };
      });
      put(tenant, session, { ...thread, messages });
      return true;
    },
    async remove(tenant, session, ids) {
      const thread = find(tenant, session);
      const gone = new Set(ids);
      const messages = thread.messages.filter(({ id }) => !gone.has(id));
      put(tenant, session, { ...thread, messages });
      return thread.messages.filter(({ id }) => gone.has(id)).map(({ id }) => id);
    },
    summary: async (tenant, session) => find(tenant, session).summary,
    async replaceSummary(tenant, session, before, summary) {
      const thread = find(tenant, session);
      if (thread.summary?.through !== before) return false;
      put(tenant, session, { ...thread, summary });
      return true;
    },
    async delete(tenant, session) {
      threads.delete(ownedKey(tenant, session));
    },
  };
}
