/** A runner for pages and programs elsewhere: turns as server-sent events, inputs while they work, stops, answers, history. */
import { EngineError, type ErrorCode, errorCodeInfo, shownMessage, toEngineError } from '../../errors.js';
import {
  requireCallable,
  requireList,
  requireMethods,
  requireOptions,
  requireWhole,
} from '../../operators/invalid-option.js';
import { type ForeignRequest, foreignRequest } from '../../own-pages.js';
import { fromUiMessages } from '../../ui-messages/from-ui-messages.js';
import { UI_MESSAGE_HEADER, type UiMessage } from '../../ui-messages/protocol.js';
import type { Runner } from '../runner/runner.js';
import { type AgentSocket, AgentSocketTalk } from './agent-socket.js';
import {
  cancelSchema,
  inputSchema,
  readBody,
  resumeSchema,
  rollbackSchema,
  turnSchema,
  uiSchema,
} from './read-request.js';
import { type AskedSession, type Talk, Talks } from './talks.js';
import { uiChunks } from './ui-chunks.js';

/** See {@link agentHandler}. */
export interface AgentHandlerOptions {
  readonly runner: Runner;
  /** What paths begin with, such as `/agents/guide`. @default '' */
  readonly basePath?: string;
  /**
   * Who asks: a name whose sessions no other name reaches, or undefined for a request that is refused with 401. @default all are one and the same, which
   * is for servers that only their own machine reaches: requests under other names than loopback ones, and those of other pages, are refused with 403
   */
  readonly authorise?: (request: Request) => string | undefined | PromiseLike<string | undefined>;
  /** Conversations at work at once; one more is 429. @default 100 */
  readonly maxTurns?: number;
  /** Bytes of a request's body. @default 1 MiB */
  readonly maxBodyBytes?: number;
  /** Events of a conversation that a reader who comes back finds. @default 10,000 */
  readonly maxEvents?: number;
  /** Milliseconds for which they are kept behind the end. @default 60,000 */
  readonly keepMs?: number;
  /**
   * Origins of pages that may open WebSockets, and without `authorise` send requests, such as `https://shop.example`. @default the host of the request
   * alone
   */
  readonly origins?: readonly string[];
}

/** Answers requests; for every server that knows `Request` and `Response`, and with `nodeListener` for those of Node. */
export interface AgentHandler {
  (request: Request): Promise<Response>;
  /**
   * Whether a request may become a WebSocket, for `nodeUpgrade`: what serves the socket, or the answer that refuses it; undefined for a path that is
   * no place for one.
   */
  upgrade(request: Request): Promise<Response | ((socket: AgentSocket) => void) | undefined>;
  /** Stops everything that is at work, and takes nothing new; resolves once the sessions say so. Turns that were stopped go on with `resume`. */
  close(): Promise<void>;
}

/** A request on a session. */
interface Asked extends AskedSession {
  readonly request: Request;
}

const STATUS: Partial<Record<ErrorCode, number>> = {
  BAD_REQUEST: 400,
  INPUT_INVALID: 400,
  SESSION_INVALID: 400,
  ANSWER_UNKNOWN: 400,
  ANSWER_INVALID: 400,
  UNAUTHENTICATED: 401,
  NOT_FOUND: 404,
  SESSION_BUSY: 409,
  INPUT_OVERFLOW: 409,
  FORBIDDEN: 403,
  BODY_TOO_LARGE: 413,
  LIMIT_REACHED: 429,
};

const FOREIGN: Readonly<Record<ForeignRequest, string>> = {
  name: 'Without "authorise" these agents answer to loopback names only, such as localhost. Give agentHandler an "authorise" to use another name.',
  page: 'Without "authorise" these agents answer to their own pages only. Name other origins in "origins", or give agentHandler an "authorise".',
};

/** Where WebSockets are. */
const SOCKET_ROUTE = /^\/sessions\/([^/]+)\/live$/;

const ROUTE = /^\/sessions\/([^/]+)(?:\/(turns|resume|events|inputs|cancel|rollback))?$/;

/** What `useChat` asks for with its default transport; the id of a chat is that of its session. */
const UI_ROUTE = /^\/ui-messages(?:\/([^/]+)\/(stream|stop))?$/;

/**
 * Serves a runner.
 *
 * | | |
 * |---|---|
 * | `POST /sessions/{id}/turns` | `{ input }`: a turn, as server-sent events |
 * | `GET /sessions/{id}/events` | the events of what is at work, from `Last-Event-ID` or `?after=` on; 204 when nothing is |
 * | `POST /sessions/{id}/inputs` | `{ content, id?, when?, to? }`: 202 once it is stored |
 * | `POST /sessions/{id}/cancel` | `{ mode?, withinMs?, deep? }` |
 * | `POST /sessions/{id}/resume` | `{ answers? }`: goes on, as server-sent events |
 * | `POST /sessions/{id}/rollback` | `{ turn }`: takes back the turns behind it |
 * | `GET /sessions/{id}` | history, values, turns, what waits |
 * | `GET /sessions/{id}/live` | the same verbs over a WebSocket, see `nodeUpgrade` |
 * | `POST /ui-messages`, `GET …/{chat}/stream`, `POST …/{chat}/stop` | the same for `useChat` of the AI SDK |
 *
 * A reader that leaves detaches: the turn goes on, and `events` attaches again. Errors are `{ error: { code, message } }`.
 *
 * @throws EngineError OPTION_INVALID
 */
export function agentHandler(options: AgentHandlerOptions): AgentHandler {
  const owner = 'agentHandler';
  requireOptions(owner, options, NAMES, 'an object with "runner"');
  requireMethods(owner, 'runner', options.runner, ['run', 'resume', 'session', 'rollback'], 'what createRunner gives');
  requireCallable(owner, 'authorise', options.authorise);
  if (options.origins !== undefined) requireList(owner, 'origins', options.origins, 'a list of origins');
  for (const name of ['maxTurns', 'maxBodyBytes', 'maxEvents', 'keepMs'] as const) {
    if (options[name] !== undefined) requireWhole(owner, name, options[name], 1);
  }
  const server = new AgentServer(options);
  return Object.assign((request: Request) => server.answer(request), {
    upgrade: (request: Request) => server.upgrade(request),
    close: () => server.close(),
  });
}

const NAMES = ['runner', 'basePath', 'authorise', 'maxTurns', 'maxBodyBytes', 'maxEvents', 'keepMs', 'origins'];

class AgentServer {
  readonly #options: Required<Omit<AgentHandlerOptions, 'authorise'>> & Pick<AgentHandlerOptions, 'authorise'>;
  readonly #talks: Talks;
  readonly #sockets = new Set<AgentSocketTalk>();

  constructor(options: AgentHandlerOptions) {
    this.#options = {
      basePath: '',
      maxTurns: 100,
      maxBodyBytes: 1024 ** 2,
      maxEvents: 10_000,
      keepMs: 60_000,
      origins: [],
      ...options,
    };
    this.#talks = new Talks(this.#options);
  }

  async answer(request: Request): Promise<Response> {
    try {
      return await this.#route(request);
    } catch (thrown) {
      return refusal(thrown);
    }
  }

  async upgrade(request: Request): Promise<Response | ((socket: AgentSocket) => void) | undefined> {
    const found = SOCKET_ROUTE.exec(this.#placeOf(request));
    if (found === null) return undefined;
    try {
      this.#requireOwn(request);
      requireOrigin(request, this.#options.origins);
      const asked = this.#askedBy(await this.#whoAsks(request), decoded(found[1] ?? ''));
      if (this.#talks.isClosed) throw closing();
      return (socket) => this.#open(socket, asked);
    } catch (thrown) {
      return refusal(thrown);
    }
  }

  async close(): Promise<void> {
    await this.#talks.close();
    for (const socket of this.#sockets) socket.goAway();
  }

  async #route(request: Request): Promise<Response> {
    const { runner, maxBodyBytes } = this.#options;
    const place = this.#placeOf(request);
    const forPages = UI_ROUTE.exec(place);
    const found = ROUTE.exec(place);
    if (found === null && forPages === null)
      throw new EngineError('NOT_FOUND', `There is nothing at ${new URL(request.url).pathname.slice(0, 200)}.`);
    this.#requireOwn(request);
    const who = await this.#whoAsks(request);
    const askedFor = (id: string): Asked => ({ request, ...this.#askedBy(who, id) });
    const [, rawId = '', verb = ''] = found ?? forPages ?? [];
    const wanted =
      found !== null ? (verb === '' || verb === 'events' ? 'GET' : 'POST') : verb === 'stream' ? 'GET' : 'POST';
    if (request.method !== wanted) return json({ error: { code: 'BAD_REQUEST', message: `Use ${wanted}.` } }, 405);
    if (this.#talks.isClosed) throw closing();
    const read = <T>(schema: Parameters<typeof readBody<T>>[1]): Promise<T> => readBody(request, schema, maxBodyBytes);
    if (found === null) return this.#pages(askedFor, decoded(rawId), verb, read);
    const asked = askedFor(decoded(rawId));
    switch (verb) {
      case 'turns': {
        const { input } = await read(turnSchema);
        return this.#talk(asked, (options) => runner.run(input as never, { session: asked.session, ...options }));
      }
      case 'resume': {
        const { answers } = await read(resumeSchema);
        return this.#talk(asked, (options) => runner.resume(asked.session, answers, options));
      }
      case 'events':
        return this.#events(asked);
      case 'inputs': {
        const said = await this.#talks.say(asked, await read(inputSchema));
        return json(said, said.status === 'accepted' ? 202 : 200);
      }
      case 'cancel': {
        const wish = await read(cancelSchema);
        this.#talks.atWork(asked).cancel$.next(wish);
        return json({ cancelled: true }, 202);
      }
      case 'rollback': {
        const { turn } = await read(rollbackSchema);
        return json(stateOf(await runner.rollback(asked.session, turn)), 200);
      }
      default:
        return json(stateOf(await runner.session(asked.session)), 200);
    }
  }

  #open(socket: AgentSocket, asked: AskedSession): void {
    const { runner } = this.#options;
    const closed = (one: AgentSocketTalk): void => void this.#sockets.delete(one);
    const talk = new AgentSocketTalk(socket, { asked, talks: this.#talks, runner, closed });
    this.#sockets.add(talk);
    talk.start();
    if (this.#talks.isClosed) talk.goAway();
  }

  #placeOf({ url }: Request): string {
    const { basePath } = this.#options;
    const { pathname } = new URL(url);
    return pathname.startsWith(basePath) ? pathname.slice(basePath.length) : '';
  }

  /** Where nothing says who asks, what reaches the machine by a name of another site must not count. @throws EngineError FORBIDDEN */
  #requireOwn({ url, headers }: Request): void {
    const { authorise, origins } = this.#options;
    if (authorise !== undefined) return;
    const asked = {
      host: headers.get('host') ?? new URL(url).host,
      origin: headers.get('origin') ?? undefined,
      site: headers.get('sec-fetch-site') ?? undefined,
    };
    const foreign = foreignRequest(asked, origins);
    if (foreign !== undefined) throw new EngineError('FORBIDDEN', FOREIGN[foreign]);
  }

  /** @throws EngineError UNAUTHENTICATED */
  async #whoAsks(request: Request): Promise<string> {
    const { authorise } = this.#options;
    const who = authorise === undefined ? '' : await authorise(request);
    if (who !== undefined) return who;
    throw new EngineError('UNAUTHENTICATED', 'The request does not say who asks, or with a key that is not known.');
  }

  #askedBy(who: string, id: string): AskedSession {
    // The name of the caller has no slash of its own, so no two callers share an id.
    return { id, session: this.#options.authorise === undefined ? id : `${encodeURIComponent(who)}/${id}` };
  }

  async #talk(...given: Parameters<Talks['start']>): Promise<Response> {
    return streamOf(await this.#talks.start(...given));
  }

  /** What `useChat` asks for. */
  async #pages(
    askedFor: (id: string) => Asked,
    chat: string,
    verb: string,
    read: <T>(schema: Parameters<typeof readBody<T>>[1]) => Promise<T>,
  ): Promise<Response> {
    const { runner } = this.#options;
    if (verb === 'stop') {
      const talk = this.#talks.get(askedFor(chat));
      if (talk?.work !== undefined) talk.cancel$.next({ mode: 'now' });
      return json({ stopped: talk !== undefined }, 200);
    }
    if (verb === 'stream') {
      const talk = this.#talks.get(askedFor(chat));
      return talk?.work === undefined || talk.ui === undefined ? new Response(null, { status: 204 }) : streamOf(talk);
    }
    const { id, messages } = await read(uiSchema);
    const asked = askedFor(id);
    const { messages: said, answers, message } = fromUiMessages(messages as unknown as readonly UiMessage[]);
    const chunks = uiChunks(id, message);
    if (message !== undefined) {
      return this.#talk(asked, (options) => runner.resume(asked.session, answers, options), chunks);
    }
    const question = said.at(-1);
    if (question?.role !== 'user')
      throw new EngineError('BAD_REQUEST', 'The last message must be one of the user, or have answers.');
    // The session has what was said before.
    return this.#talk(asked, (options) => runner.run(question, { session: asked.session, ...options }), chunks);
  }

  #events({ request, ...asked }: Asked): Response {
    const talk = this.#talks.get(asked);
    if (talk === undefined) return new Response(null, { status: 204 });
    const given = request.headers.get('last-event-id') ?? new URL(request.url).searchParams.get('after') ?? '0';
    const after = Number(given);
    if (!Number.isSafeInteger(after) || after < 0)
      throw new EngineError('BAD_REQUEST', '"after" must be the number of an event.');
    return stream(talk.feed.read(after));
  }
}

function decoded(raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    throw new EngineError('BAD_REQUEST', 'The id of the session is not encoded as URLs are.');
  }
}

/** A session as JSON; ids of inputs are many, and of no use to a page. */
function stateOf({ seenInputIds: _, ...state }: Awaited<ReturnType<Runner['session']>>): object {
  return state;
}

function json(body: object, status: number): Response {
  return Response.json(body, { status, headers: { 'cache-control': 'no-store' } });
}

/** The events of a conversation for the one who began it, from the first one on. */
function streamOf({ feed, ui }: Talk): Response {
  return ui === undefined
    ? stream(feed.read(0))
    : stream(ui.feed.read(0), { [UI_MESSAGE_HEADER[0]]: UI_MESSAGE_HEADER[1] });
}

function stream(events: ReadableStream<Uint8Array>, more: Readonly<Record<string, string>> = {}): Response {
  const headers = {
    ...more,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  };
  return new Response(events, { status: 200, headers });
}

function closing(): EngineError {
  return new EngineError('LIMIT_REACHED', 'The server is being closed.');
}

function refusal(thrown: unknown): Response {
  const error = toEngineError(thrown, 'INTERNAL');
  const status = STATUS[error.code] ?? (errorCodeInfo(error.code).envelope >= 500 ? 500 : 400);
  return json({ error: { code: error.code, message: shownMessage(error) } }, status);
}

/** A page of another site may open a WebSocket with the cookies of its reader. @throws EngineError FORBIDDEN */
function requireOrigin({ headers }: Request, origins: readonly string[]): void {
  const origin = headers.get('origin');
  if (origin === null || origins.includes(origin)) return;
  if (URL.canParse(origin) && new URL(origin).host === headers.get('host')) return;
  throw new EngineError(
    'FORBIDDEN',
    `Pages of ${origin.slice(0, 200)} may not open WebSockets here; name it in "origins".`,
  );
}
