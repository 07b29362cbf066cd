/** Agents in code beside the server's canvases: `…/runners/{name}/…`, with the server's keys, each tenant with sessions of its own. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type Koa from 'koa';
import type { Runner } from '../../agents/runner/runner.js';
import { type AgentHandler, agentHandler } from '../../agents/serve/agent-handler.js';
import { requestOf } from '../../agents/serve/node-listener.js';
import { nodeUpgrade } from '../../agents/serve/node-upgrade.js';
import { invalidOption, requireObject } from '../../operators/invalid-option.js';
import { LOCAL_TENANT } from '../../settings/access.js';
import { tokenOf } from '../access/callers.js';
import { authenticate, type GuardOptions } from '../http/guards.js';
import type { HttpExchange } from '../http/route.js';

/** Names that need no escaping in an address. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

/** How a browser sends its key, as for the connections of canvases. */
const BEARER = /^bearer\.([A-Za-z0-9_-]+)$/;

/** What the runners of a server are made of. */
export interface AgentRunnersOptions {
  readonly runners: Readonly<Record<string, Runner>>;
  readonly guard: GuardOptions;
  /** What their paths begin with, such as `/api/v1/runners`. */
  readonly prefix: string;
  /** Takes a place among the WebSockets of a tenant; false when there is none. */
  readonly placeSocket: (tenant: string, socket: Socket) => boolean;
}

/** Serves the runners that a program gave its server. */
export class AgentRunners {
  readonly #options: AgentRunnersOptions;
  readonly #handlers = new Map<string, AgentHandler>();
  /** Whose a request is, once its key was checked. */
  readonly #tenants = new WeakMap<Request, string>();

  /** @throws EngineError OPTION_INVALID */
  constructor(options: AgentRunnersOptions) {
    this.#options = options;
    const { runners, prefix, guard } = options;
    requireObject('createServer', 'runners', runners, 'runners by name');
    for (const [name, runner] of Object.entries(runners)) {
      if (!NAME.test(name)) throw invalidOption('createServer', 'runners', `names that match ${NAME.source}`, name);
      const handler = agentHandler({
        runner,
        basePath: `${prefix}/${name}`,
        authorise: (request) => this.#tenants.get(request),
        origins: guard.corsOrigins,
      });
      this.#handlers.set(name, handler);
    }
  }

  /** Answers what lies below the runners. */
  middleware(): Koa.Middleware {
    const check = authenticate(this.#options.guard);
    return async (exchange, next) => {
      const handler = this.#handlerOf(exchange.path);
      if (handler === undefined) return next();
      await check(exchange as unknown as HttpExchange);
      const { method, req } = exchange;
      const hasBody = method !== 'GET' && method !== 'HEAD';
      const request = requestOf(req, hasBody ? (Readable.toWeb(req) as ReadableStream<Uint8Array>) : undefined);
      this.#tenants.set(request, String(exchange.state.tenant));
      const answer = await handler(request);
      exchange.status = answer.status;
      for (const [name, value] of answer.headers) exchange.set(name, value);
      exchange.body = answer.body === null ? null : Readable.fromWeb(answer.body as never);
    };
  }

  /** Makes a WebSocket of a request below the runners; false for others. */
  upgrade(incoming: IncomingMessage, socket: Socket, head: Buffer): boolean {
    const handler = this.#handlerOf(incoming.url ?? '');
    if (handler === undefined) return false;
    const asked: Pick<AgentHandler, 'upgrade'> = {
      upgrade: async (request) => {
        const tenant = await this.#tenantOf(incoming);
        if (tenant !== undefined) this.#tenants.set(request, tenant);
        const answer = await handler.upgrade(request);
        if (typeof answer !== 'function' || tenant === undefined) return answer;
        return this.#options.placeSocket(tenant, socket) ? answer : new Response(null, { status: 503 });
      },
    };
    nodeUpgrade(asked).call(undefined, incoming, socket, head);
    return true;
  }

  /** Stops the turns at work; they go on with `resume`. */
  async close(): Promise<void> {
    await Promise.all([...this.#handlers.values()].map((handler) => handler.close()));
  }

  #handlerOf(path: string): AgentHandler | undefined {
    const { prefix } = this.#options;
    if (!path.startsWith(`${prefix}/`)) return undefined;
    return this.#handlers.get(path.slice(prefix.length + 1).split(/[/?]/, 1)[0] ?? '');
  }

  async #tenantOf(request: IncomingMessage): Promise<string | undefined> {
    const { callers } = this.#options.guard;
    if (!callers.hasKeys) return LOCAL_TENANT;
    const key = tokenOf(request.headers.authorization) ?? bearerOf(request.headers['sec-websocket-protocol']);
    return key === undefined ? undefined : (await callers.find(request, key))?.tenant;
  }
}

function bearerOf(header = ''): string | undefined {
  const encoded = header.split(',').map((protocol) => BEARER.exec(protocol.trim())?.[1]);
  const found = encoded.find((one) => one !== undefined);
  return found && Buffer.from(found, 'base64url').toString('utf8');
}
