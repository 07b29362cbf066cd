/** Where `runnel chat` asks: the data folder or database of the settings, or a server. */
import { BehaviorSubject, defer, filter, from, map, mergeMap, Observable, tap } from 'rxjs';
import { toChatEvent } from '../chat/chat-frames.js';
import type { ChatEvent } from '../chat/pipeline/chat-events.js';
import { EngineError } from '../errors.js';
import { createCanvasOpener } from '../hosting/canvases.js';
import { createHost } from '../hosting/host.js';
import { startCommand } from '../hosting/start-command.js';
import { isJsonObject, type JsonObject, parseJson } from '../json.js';
import type { DatasetsQuery } from '../knowledge/knowledge-search.js';
import type { Log } from '../logger.js';
import { SharedReads } from '../operators/shared-reads.js';
import { LOCAL_TENANT } from '../settings/access.js';
import { readSettings } from '../settings/read-settings.js';
import { readChat } from '../transport/chat/chat-input.js';
import { createChatServices } from '../transport/chat/chat-services.js';
import { chatOfRequest, chatRunInfo } from '../transport/chat/start-chat.js';
import { cannot } from './command.js';
import type { Terminal } from './terminal.js';

/** A question, and where it belongs. */
export interface ChatQuestion {
  readonly message: string;
  readonly sessionId?: string | undefined;
  /** Names or ids. @default all datasets */
  readonly datasets?: readonly string[] | undefined;
}

/** Answers questions. */
export interface ChatSource {
  /** The events of one answer; unsubscribing cancels it. Errors: USAGE, NOT_FOUND and what else keeps a chat from beginning. */
  ask(question: ChatQuestion): Observable<ChatEvent>;
  /** Whether no model is configured; undefined where that is not known. */
  readonly isScripted: boolean | undefined;
  close(): Promise<void>;
}

/** Longest line of an event stream, in characters. */
const MAX_LINE = 64 * 1024 * 1024;

/**
 * Opens the stores of the settings and answers in this process, as a server would.
 *
 * @throws EngineError CONFLICT when another process uses the data folder, CONFIG_INVALID, STORE_UNAVAILABLE
 */
export async function openLocalChats({ env }: Pick<Terminal, 'env'>, log: Log): Promise<ChatSource> {
  const settings = readSettings(env, 'stores', 'models', 'nodes', 'tools');
  const [{ openStores }, { openServices, timeoutsOf }, { serveKnowledge }] = await Promise.all([
    import('./open-stores.js'),
    import('./open-services.js'),
    import('./served-knowledge.js'),
  ]);
  const { hasScript, close: closeServices, ...services } = await openServices(settings, { env });
  const stores = await openStores(settings.stores, log).catch(async (error: unknown) => {
    await closeServices();
    throw error;
  });
  const { models } = services;
  const knowledge = serveKnowledge(stores, services, { settings, log });
  const chats = createChatServices({ store: stores.chats, models, log, now: Date.now });
  const host = createHost({
    stores,
    services: { ...services, ...chats.services, retriever: knowledge.retriever, knowledge: knowledge.search },
    openCanvas: createCanvasOpener({ timeouts: timeoutsOf(settings.nodes) }),
    logger: log,
  });
  const defaultChats = new SharedReads<string>();
  let isWarm = false;
  /** The first search of a process reads dictionaries, which would take the time that a chat gives a search. */
  const warmed = async (query: Pick<DatasetsQuery, 'question' | 'datasetIds'>): Promise<void> => {
    if (isWarm) return;
    isWarm = true;
    // What fails here fails in the chat, and is told there.
    await knowledge.search.search(query, new AbortController().signal).catch(() => undefined);
  };
  const begin = async ({ message, sessionId, datasets }: ChatQuestion) => {
    const { base } = await knowledge.open();
    const ids = await Promise.all(
      (datasets ?? []).map(async (name) => {
        const found = await base.datasets.findByName(LOCAL_TENANT, name);
        if (found === undefined) throw noDataset(name);
        return found.dataset.id;
      }),
    );
    await warmed({ question: message, ...(datasets && { datasetIds: ids }) });
    const { turn } = readChat({ message, session_id: sessionId, ...(datasets && { dataset_ids: ids }) });
    const agentId = await chatOfRequest({ stores, defaultChats, now: Date.now }, LOCAL_TENANT, undefined, sessionId);
    const target = { tenant: LOCAL_TENANT, agentId, fallback: 'draft', isChat: true } as const;
    return (await host.start(startCommand(target, turn))).live;
  };
  return {
    isScripted: models.isScripted && !hasScript,
    ask: (question) =>
      defer(() => begin(question)).pipe(
        mergeMap(({ identity, cancel }) => {
          const about = chatRunInfo(LOCAL_TENANT, identity);
          const events$ = host.follow(LOCAL_TENANT, identity.id, { after: 0, ready$: new BehaviorSubject(true) });
          return events$.pipe(
            tap({ unsubscribe: cancel }),
            map(({ source }) => toChatEvent(source, about)),
            filter((event) => event !== undefined),
          );
        }),
      ),
    async close() {
      chats.close();
      await host.close(0);
      await knowledge.close();
      await stores.close();
      await closeServices();
    },
  };
}

/** Asks a server. @param key of its API; undefined for a server without keys */
export function openServerChats(url: string, key: string | undefined): ChatSource {
  const headers = { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  const api = `${url.replace(/\/+$/, '')}/api/v1`;
  const idOf = async (name: string, signal: AbortSignal): Promise<string> => {
    for (const field of ['name', 'id']) {
      const answer = await send(`${api}/datasets?${field}=${encodeURIComponent(name)}`, { headers, signal });
      const value = parseJson(await answer.text());
      const [found] = isJsonObject(value) && Array.isArray(value.data) ? value.data : [];
      if (isJsonObject(found) && typeof found.id === 'string') return found.id;
    }
    throw noDataset(name);
  };
  const open = async ({ message, sessionId, datasets }: ChatQuestion, signal: AbortSignal): Promise<Response> => {
    const ids = datasets && (await Promise.all(datasets.map((name) => idOf(name, signal))));
    const body = { message, session_id: sessionId, dataset_ids: ids };
    const answer = await send(`${api}/chat/stream`, { method: 'POST', headers, signal, body: JSON.stringify(body) });
    if (answer.headers.get('content-type')?.startsWith('text/event-stream')) return answer;
    const refusal = parseJson(await answer.text());
    const said = isJsonObject(refusal) && typeof refusal.message === 'string' ? refusal.message : `${answer.status}`;
    throw new EngineError('BAD_REQUEST', `The server at ${url} refused the question: ${said}`);
  };
  return {
    isScripted: undefined,
    close: async () => {},
    ask: (question) =>
      new Observable((subscriber) => {
        const leave = new AbortController();
        subscriber.add(() => leave.abort());
        subscriber.add(
          defer(() => open(question, leave.signal))
            .pipe(mergeMap((answer) => from(eventsOf(answer))))
            .subscribe(subscriber),
        );
      }),
  };
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    throw cannot(`ask ${new URL(url).origin}`, (cause as Error).cause ?? cause);
  }
}

/** @throws EngineError BAD_REQUEST for what is no event stream */
async function* eventsOf(answer: Response): AsyncGenerator<ChatEvent> {
  let rest = '';
  for await (const piece of (answer.body ?? new ReadableStream<Uint8Array>()).pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) throw new EngineError('BAD_REQUEST', 'The server sent a line that is too long.');
    for (const line of lines) {
      const value: JsonObject | undefined = line.startsWith('data:{') ? asObject(parseJson(line.slice(5))) : undefined;
      if (value !== undefined) yield value as unknown as ChatEvent;
    }
  }
}

function asObject(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

function noDataset(name: string): EngineError {
  return new EngineError('NOT_FOUND', `There is no dataset ${JSON.stringify(name)}; runnel ingest makes one.`);
}
