/** What the chats of a server share: their messages, summaries behind their answers, what they understood before. */
import type { BackgroundSummaries } from '../../chat/memory/background-summaries.js';
import type { Services } from '../../components/services.js';
import type { Log } from '../../logger.js';
import { chatRouteOf } from '../../models/chat-route.js';
import { createCaches } from '../../newest.js';
import type { ChatStore, TenantChats } from '../../records/chats.js';

/** What they work with. */
export interface ChatServicesOptions {
  /** @default chats remember nothing */
  readonly store?: ChatStore | undefined;
  readonly models: Services['models'];
  readonly log: Pick<Log, 'warn'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Services of runs, and what ends them. */
export interface ChatServices {
  readonly services: Pick<Services, 'chats' | 'caches'>;
  /** Ends summaries that are being made; their sessions are summarised after a later answer. */
  close(): void;
}

/** Makes them; nothing of a summary is loaded before the first session is long enough to need one. */
export function createChatServices({ store, models, log, now }: ChatServicesOptions): ChatServices {
  const caches = createCaches({ now });
  if (store === undefined) return { services: { caches }, close: () => {} };
  let isClosed = false;
  let summaries: Promise<BackgroundSummaries> | undefined;
  const open = async (): Promise<BackgroundSummaries> => {
    const { createBackgroundSummaries } = await import('../../chat/memory/background-summaries.js');
    const modelFor = (tenant: string) =>
      models.isScripted ? undefined : chatRouteOf(models.forTenant?.(tenant) ?? models).choice;
    return createBackgroundSummaries({ store, modelFor, log, now });
  };
  const answered = async (tenant: string, session: string): Promise<void> => {
    if (isClosed || models.isScripted) return;
    summaries ??= open();
    const opened = await summaries;
    if (isClosed) opened.close();
    else opened.answered(tenant, session);
  };
  const chatsOf = (tenant: string): TenantChats => ({
    tenant,
    store,
    forTenant: chatsOf,
    answered: (session) =>
      void answered(tenant, session).catch((err: unknown) => log.warn({ err }, 'a chat could not be summarised')),
  });
  return {
    services: { chats: chatsOf(''), caches },
    close() {
      isClosed = true;
      void summaries?.then((opened) => opened.close());
    },
  };
}
