import type { ServerResponse } from 'node:http';
import { lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { failureOf, serve } from '../egress/support/servers.js';
import { type Answer, failing, json, SECRET, stream } from './support/failing-server.js';
import { ECHO, quiet, said, startMcpServer } from './support/mcp-server.js';
import { callOnce, declare, over, textOfCall, use } from './support/using.js';

const FAILURES: readonly (readonly [name: string, answer: Answer, message: string | RegExp])[] = [
  ['401', (r) => r.writeHead(401).end(SECRET), 'authentication settings'],
  ['403', (r) => r.writeHead(403).end(), 'authentication settings'],
  ['429', (r) => r.writeHead(429, { 'retry-after': '3600' }).end(), 'status 429'],
  ['500', (r) => r.writeHead(500).end(`<h1>${SECRET}</h1>`), 'answered with status 500.'],
  ['404 twice', (r) => r.writeHead(404).end(), 'answered with status 404.'],
  ['a body that is no JSON', (r) => r.writeHead(200, { 'content-type': 'application/json' }).end('{"a":'), 'failed: '],
  [
    'another kind of body',
    (r) => r.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    'content type: text/html',
  ],
  ['a result that is none', (r, { id }) => json(r, id, { content: 'text' }), 'Invalid result'],
  ['an empty result', (r, { id }) => json(r, id, { content: [] }), 'empty result'],
  ['silence', () => {}, 'gave no answer within 0.3 seconds'],
  ['silence in the middle', (r) => stream(r).write(': \n\n'), 'gave no answer within 0.3 seconds'],
  ['an event stream that ends', (r) => stream(r).end(': \n\n'), 'closed the connection before it answered'],
  [
    'an event stream that breaks',
    (r) => {
      stream(r).write(': \n\n', () => r.destroy());
    },
    /no valid HTTP|connection was closed|closed the connection/,
  ],
  ['garbage in an event stream', (r) => stream(r).end('data: {"jsonrpc":1}\n\ndata: [\n\n'), 'closed the connection'],
  [
    'a body that is cut off',
    (r) => {
      r.writeHead(200, { 'content-type': 'application/json', 'content-length': '99' });
      r.write('{', () => r.destroy());
    },
    /no valid HTTP|connection was closed/,
  ],
  [
    'a result that says it is an error',
    (r, { id }) => json(r, id, { isError: true, content: [{ type: 'text', text: `the key Bearer ${SECRET} is bad` }] }),
    'MCP server error: the key [REDACTED] is bad',
  ],
  [
    'an error of the protocol',
    (r, { id }) => {
      r.writeHead(200, { 'content-type': 'application/json' });
      r.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_602, message: `${'no '.repeat(1_000)}` } }));
    },
    /failed: no no .{200,300}$/,
  ],
];

describe('a server that fails', () => {
  it.each(FAILURES)(
    'with %s is a failure in words, without secrets, and no connection stays',
    async (name, answer, message) => {
      const { servers, server } = await failing(answer, { timeout: name.startsWith('silence') ? 0.3 : 10 });
      const failure = (await failureOf(callOnce(servers, 't'))) as Error & { code: string };
      expect(failure.code).toBe('TOOL_FAILED');
      expect(failure.message).toMatch(
        message instanceof RegExp ? message : new RegExp(message.replace(/[[\].]/g, '\\$&')),
      );
      expect(failure.message).not.toContain(SECRET);
      await servers.close();
      await quiet(server);
    },
  );

  it('because nobody listens is a failure in words', async () => {
    const { origin, server } = await serve(() => {});
    await new Promise((resolve) => server.close(resolve));
    const failure = await failureOf(callOnce(over(origin), 't'));
    expect(String(failure)).toMatch(/Tool "t" of MCP server "s" cannot be used: .*refused/);
  });

  it('to connect is not asked for ever', async () => {
    const { origin, server } = await serve((_, response) => stream(response).write(': \n\n'));
    for (const type of ['sse', 'streamable-http']) {
      const servers = declare({ s: { type, url: origin, timeout: 0.2 } });
      expect(String(await failureOf(callOnce(servers, 't')))).toContain('gave no answer within 0.2 seconds');
      await servers.close();
    }
    await quiet(server);
  });
});

describe('a hostile server', () => {
  it('cannot send a run elsewhere by a redirect', async () => {
    const inner = await startMcpServer({ echo: ECHO });
    const { origin } = await serve((_, response) => response.writeHead(307, { location: inner.url }).end());
    const failure = await failureOf(callOnce(over(`${origin}/mcp`, { headers: { authorization: SECRET } }), 'echo'));
    expect(String(failure)).toContain('status 307');
    expect(inner.asked).toEqual([]);
  });

  it.each([
    ['a body', (r: ServerResponse) => r.writeHead(200, { 'content-type': 'application/json' })],
    ['one event', (r: ServerResponse) => stream(r).write('data: ')],
  ])('cannot fill the memory with %s', async (_, begin) => {
    let sent = 0;
    const { servers, server } = await failing((response) => {
      begin(response);
      const more = (): void => {
        if (response.destroyed) return;
        sent += 65_536;
        if (response.write('x'.repeat(65_536))) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    });
    const failure = await failureOf(callOnce(servers, 't'));
    expect(String(failure)).toContain('larger than the 4194304 bytes');
    await servers.close();
    await quiet(server);
    // What lies in buffers of the sockets comes on top.
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  it('cannot list without end', async () => {
    let pages = 0;
    const { servers } = await failing(() => {}, {
      onList: (response, { id }) => {
        pages += 1;
        const tools = [
          { name: `tool ${pages}`, description: 'x'.repeat(100_000), inputSchema: { type: 'object' } },
          { name: `huge ${pages}`, inputSchema: { type: 'object', description: 'x'.repeat(100_000) } },
        ];
        json(response, id, { tools, nextCursor: String(pages) });
      },
    });
    const tools = await lastValueFrom(use(servers, (connection) => connection.tools()));
    expect(pages).toBe(32);
    expect(tools).toHaveLength(32);
    expect(tools[0]).toMatchObject({ name: 'tool 1', description: expect.stringMatching(/^x{8192}$/) });
  });

  it('cannot fill the memory with schemas', async () => {
    const { servers } = await failing(() => {}, {
      onList: (response, { id }) => {
        const inputSchema = { type: 'object', description: 'x'.repeat(60_000) };
        json(response, id, { tools: Array.from({ length: 60 }, (_, n) => ({ name: `t${n}`, inputSchema })) });
      },
    });
    expect(await lastValueFrom(use(servers, (connection) => connection.tools()))).toHaveLength(17);
  });

  it('cannot make a model read a book', async () => {
    const server = await startMcpServer({ long: { run: () => said('x'.repeat(1_000_000)) } });
    const text = await textOfCall(over(server.url), 'long');
    expect(text).toHaveLength(100_000 + '… (cut; it had 1000000 characters)'.length);
  });

  it('has its own words about progress cut', async () => {
    const server = await startMcpServer({
      slow: {
        run: async (_, { mcpReq }) => {
          const progressToken = mcpReq._meta?.progressToken as number;
          const message = 'y'.repeat(10_000);
          await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1, message } });
          return said('done');
        },
      },
    });
    expect((await callOnce(over(server.url), 'slow'))[0]).toEqual({ type: 'progress', message: 'y'.repeat(500) });
  });
});
