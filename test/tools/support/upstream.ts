/** A fixture server that stands for the upstream of a tool, and the calls that every tool must get right against it. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { firstValueFrom, lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createEgressClient } from '../../../src/adapters/egress/egress-client.js';
import type { Json, JsonObject } from '../../../src/json.js';
import { callTool } from '../../../src/tools/call-tool.js';
import type { AnyTool, ToolCall, ToolEvent, ToolResult } from '../../../src/tools/tool.js';
import type { ToolServices } from '../../../src/tools/tool-services.js';
import { failureOf, serve, textOf } from '../../adapters/egress/support/servers.js';
import { activationOf } from '../../components/text-activation.js';

/** What the upstream was asked. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One answer: JSON, or text with its type. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: Json;
  readonly text?: string;
  readonly type?: string;
}

/** Answers by `METHOD /path`; a list is used up from its front, its last answer stays. */
export type Routes = Readonly<Record<string, Reply | readonly Reply[] | ((asked: Asked) => Reply)>>;

export interface Upstream {
  readonly origin: string;
  readonly asked: readonly Asked[];
}

/** Starts the upstream; it goes with the test. A path that has no route is answered with 404 `no fixture`. */
export async function startUpstream(routes: Routes): Promise<Upstream> {
  const asked: Asked[] = [];
  const uses = new Map<string, number>();
  const { origin } = await serve(async (request, response) => {
    const one = await describeRequest(request);
    asked.push(one);
    const key = `${one.method} ${one.path}`;
    const route = Object.hasOwn(routes, key) ? routes[key] : undefined;
    const use = uses.get(key) ?? 0;
    uses.set(key, use + 1);
    if (route === undefined) send(response, { status: 404, text: 'no fixture' });
    else if (typeof route === 'function') send(response, route(one));
    else send(response, Array.isArray(route) ? (route[Math.min(use, route.length - 1)] as Reply) : (route as Reply));
  });
  return { origin, asked };
}

async function describeRequest(request: IncomingMessage): Promise<Asked> {
  const url = new URL(request.url ?? '/', 'http://fixture.invalid');
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    body: await textOf(request),
  };
}

function send(
  response: ServerResponse,
  { status = 200, headers = {}, json, text = '', type = 'text/plain' }: Reply,
): void {
  const contentType = json === undefined ? type : 'application/json';
  response.writeHead(status, { 'content-type': `${contentType}; charset=utf-8`, ...headers });
  response.end(json === undefined ? text : JSON.stringify(json));
}

/** How a tool is called in a test. */
export interface Calling {
  /** A function of where the upstream is, for tools that are told so by their arguments. */
  readonly args?: JsonObject | ((origin: string) => JsonObject);
  readonly params?: JsonObject;
  readonly services?: ToolServices;
  readonly environment?: Readonly<Record<string, string>>;
  /** Attempts and pause as a document sets them. */
  readonly retries?: ToolCall['retries'];
  readonly trace?: ToolCall['trace'];
}

/** A call of `tool` whose fixed upstream is at `origin`, and whose every pause between attempts is 0. */
export function callOf(
  tool: AnyTool,
  origin: string,
  { params = {}, services = {}, environment, retries, trace }: Calling,
): ToolCall<never> {
  const read = z.looseObject({ ...tool.params }).parse(params);
  return {
    params: read as never,
    services: {
      http: createEgressClient({ allowPrivateNetwork: true }),
      tools: { baseUrls: { [tool.name]: origin }, ...(environment && { environment }) },
      ...services,
    },
    source: activationOf({}).source,
    key: 'run/1',
    ...(retries && { retries }),
    ...(trace && { trace }),
    now: () => Date.parse('2026-11-21T12:00:00Z'),
    random: () => 0,
  };
}

function argsOf({ args = {} }: Calling, origin: string): JsonObject {
  return typeof args === 'function' ? args(origin) : args;
}

/** Everything that a call says. */
export function eventsOf(tool: AnyTool, origin: string, calling: Calling = {}): Promise<ToolEvent[]> {
  return lastValueFrom(callTool(tool, argsOf(calling, origin), callOf(tool, origin, calling)).pipe(toArray()));
}

/** The result of a call. */
export async function resultOf(tool: AnyTool, origin: string, calling: Calling = {}): Promise<ToolResult> {
  const last = (await eventsOf(tool, origin, calling)).at(-1);
  if (last?.type !== 'result') throw new Error(`${tool.name} ended without a result`);
  return last;
}

/** The error of a call that fails. */
export async function errorOf(
  tool: AnyTool,
  origin: string,
  calling: Calling = {},
): Promise<Error & { code?: string }> {
  return (await failureOf(eventsOf(tool, origin, calling))) as Error;
}

/** What {@link itBehavesAsUpstreamTool} must know of a tool. */
export interface UpstreamTool {
  readonly tool: AnyTool;
  /** A call that works… */
  readonly calling: Calling;
  /** …against these answers. */
  readonly routes: Routes;
  /** Attempts that the tool makes on its own. */
  readonly attempts: number;
  /** Whether a body that cannot be read is a failure; not so for a tool that takes any text. @default true */
  readonly refusesGarbage?: boolean;
  /** Whether 429 is tried again where the document asks for attempts. @default true */
  readonly repeats429?: boolean;
  /** Whether JSON that is no object is a failure. @default as `refusesGarbage` */
  readonly refusesOtherShapes?: boolean;
}

/**
 * The failures that every tool with an upstream must survive: 429 with and without patience, 5xx, refusals, a body that is cut
 * or garbage, and a call that is given up in the middle, which must close its socket.
 */
export function itBehavesAsUpstreamTool({
  tool,
  calling,
  routes,
  attempts,
  refusesGarbage = true,
  refusesOtherShapes = refusesGarbage,
  repeats429 = true,
}: UpstreamTool): void {
  const first = Object.keys(routes)[0] as string;
  const usual = routes[first] as Reply | readonly Reply[] | ((asked: Asked) => Reply);
  const good = (asked: Asked): Reply => {
    if (typeof usual === 'function') return usual(asked);
    return Array.isArray(usual) ? (usual[0] as Reply) : (usual as Reply);
  };
  const answering = (...before: Reply[]): Routes => {
    let used = 0;
    return { ...routes, [first]: (asked) => before[used++] ?? good(asked) };
  };
  const always = (reply: Reply): Routes => ({ ...routes, [first]: reply });
  const timesAsked = ({ asked }: Upstream) => asked.filter(({ method, path }) => `${method} ${path}` === first).length;

  describe(`${tool.name} against a failing upstream`, () => {
    it.runIf(attempts > 1)('tries again after 429 when Retry-After says so', async () => {
      const upstream = await startUpstream(
        answering({ status: 429, headers: { 'retry-after': '0' }, text: 'slow down' }),
      );
      expect(await resultOf(tool, upstream.origin, calling)).toMatchObject({ type: 'result' });
      expect(timesAsked(upstream)).toBe(2);
    });

    it.runIf(tool.isRepeatable !== false)('tries again as often as the document says', async () => {
      const upstream = await startUpstream(
        answering({ status: 503 }, { status: repeats429 ? 429 : 502 }, { status: 500 }),
      );
      const patient: Calling = { ...calling, retries: { attempts: 4, delayMs: 0 } };
      expect(await resultOf(tool, upstream.origin, patient)).toMatchObject({ type: 'result' });
      expect(timesAsked(upstream)).toBe(4);
    });

    it('does not wait for an hour because an upstream asks for it', async () => {
      const upstream = await startUpstream(always({ status: 429, headers: { 'retry-after': '3600' } }));
      const error = await errorOf(tool, upstream.origin, calling);
      expect(error).toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining('3600') });
      expect(timesAsked(upstream)).toBe(1);
    });

    it('does not wait longer than it has time', async () => {
      const wait = String(tool.timeoutSeconds);
      const upstream = await startUpstream(always({ status: 429, headers: { 'retry-after': wait } }));
      const error = await errorOf(tool, upstream.origin, calling);
      expect(error).toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining(`${wait} seconds`) });
      expect(timesAsked(upstream)).toBe(1);
    });

    it('gives up on a server that keeps failing', async () => {
      const upstream = await startUpstream(always({ status: 500, json: { message: 'broken inside' } }));
      const error = await errorOf(tool, upstream.origin, calling);
      expect(error).toMatchObject({
        code: 'TOOL_FAILED',
        message: expect.stringContaining(`${tool.component} error: `),
      });
      expect(error.message).toContain('500');
      expect(timesAsked(upstream)).toBe(attempts);
    });

    it.each([401, 403])('does not repeat what is refused with %d', async (status) => {
      const upstream = await startUpstream(always({ status, json: { message: 'not for you' } }));
      expect(await errorOf(tool, upstream.origin, calling)).toMatchObject({ code: 'TOOL_FAILED' });
      expect(timesAsked(upstream)).toBe(1);
    });

    it.runIf(refusesGarbage)('says that an answer cannot be read', async () => {
      const upstream = await startUpstream(always({ text: '{"results": [<<', type: 'application/json' }));
      expect(await errorOf(tool, upstream.origin, calling)).toMatchObject({ code: 'TOOL_FAILED' });
      expect(timesAsked(upstream)).toBe(1);
    });

    it.runIf(refusesOtherShapes)('says that JSON of another shape cannot be read', async () => {
      for (const json of ['oops', [], null]) {
        const upstream = await startUpstream(always({ json }));
        expect(await errorOf(tool, upstream.origin, calling)).toMatchObject({ code: 'TOOL_FAILED' });
        expect(timesAsked(upstream)).toBe(1);
      }
    });

    it('does not wait for the rest of an answer beyond its time', async () => {
      let closed: Promise<unknown> | undefined;
      const { origin } = await serve((request, response) => {
        closed = new Promise((resolve) => {
          request.socket.on('close', resolve);
        });
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"half": ');
      });
      const bounded$ = callTool(tool, argsOf(calling, origin), callOf(tool, origin, calling), { timeoutMs: 200 });
      expect(await failureOf(firstValueFrom(bounded$))).toMatchObject({ code: 'TOOL_FAILED' });
      await closed;
    });

    it('closes its socket when it is given up in the middle of an answer', async () => {
      let closed: Promise<unknown> | undefined;
      let start = (): void => {};
      const started = new Promise<void>((resolve) => {
        start = resolve;
      });
      const { origin } = await serve((request, response) => {
        closed = new Promise((resolve) => {
          request.socket.on('close', resolve);
        });
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"half": ');
        start();
      });
      const events$ = callTool(tool, argsOf(calling, origin), callOf(tool, origin, calling));
      const subscription = events$.subscribe({ error: () => {} });
      await started;
      subscription.unsubscribe();
      await closed;
    });

    it('ends after its time', async () => {
      const { origin } = await serve(() => {});
      const bounded$ = callTool(tool, argsOf(calling, origin), callOf(tool, origin, calling), { timeoutMs: 20 });
      expect(await failureOf(firstValueFrom(bounded$))).toMatchObject({ code: 'TOOL_FAILED' });
    });
  });
}
