import type { ServerResponse } from 'node:http';
import { lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { McpTool } from '../../../src/adapters/mcp/mcp-connection.js';
import { failureOf } from '../egress/support/servers.js';
import { failing, json, type Message, stream } from './support/failing-server.js';
import { quiet } from './support/mcp-server.js';
import { callOnce, use } from './support/using.js';

/** Fewer messages to the same number of bytes: a loaded machine reads them within the time of a call. */
const PADDING = 'x'.repeat(50_000);

const event = (message: object): string => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
const said = (text: string) => ({ content: [{ type: 'text', text }] });
const raw = (response: ServerResponse, text: string): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(text);
};

/** The tools that a server is left with that lists `tools`, given as JSON. */
async function offered(tools: string): Promise<readonly McpTool[]> {
  const { servers } = await failing(() => {}, {
    onList: (response, { id }) => raw(response, `{"jsonrpc":"2.0","id":${id},"result":{"tools":${tools}}}`),
  });
  return lastValueFrom(use(servers, (connection) => connection.tools()));
}

describe('answers of a hostile MCP server', () => {
  it.each<[string, (message: Message) => unknown]>([
    ['another number', ({ id = 0 }) => id + 1],
    ['null', () => null],
    ['the name of a prototype', () => '__proto__'],
    ['the largest number', () => Number.MAX_SAFE_INTEGER],
  ])('with %s as id are no answers', async (_, idOf) => {
    const answers = [
      (response: ServerResponse, message: Message) =>
        raw(response, JSON.stringify({ jsonrpc: '2.0', id: idOf(message), result: said('forged') })),
      (response: ServerResponse, message: Message) =>
        stream(response).end(event({ id: idOf(message), result: said('forged') })),
    ];
    for (const answer of answers) {
      const { servers, server } = await failing(answer, { timeout: 0.3 });
      expect(await failureOf(callOnce(servers, 't'))).toMatchObject({ code: 'TOOL_FAILED' });
      await servers.close();
      await quiet(server);
    }
  });

  it('count once', async () => {
    const { servers } = await failing((response, { id }) => {
      stream(response).end(event({ id, result: said('first') }) + event({ id, result: said('second') }));
    });
    expect(await callOnce(servers, 't')).toMatchObject([{ type: 'result', text: 'first' }]);
  });

  it('may come with requests to the client, which does nothing of what they ask', async () => {
    const answered: Message[] = [];
    const { servers } = await failing(
      (response, { id }) => {
        const asked = [
          'sampling/createMessage',
          'roots/list',
          'elicitation/create',
          'tools/call',
          '__proto__',
          'constructor',
        ];
        stream(response).write(asked.map((method, at) => event({ id: `own-${at}`, method, params: {} })).join(''));
        response.end(event({ id, result: said('done') }));
      },
      { onOther: (message) => void answered.push(message) },
    );
    expect(await callOnce(servers, 't')).toMatchObject([{ type: 'result', text: 'done' }]);
    expect(answered.filter((message) => 'result' in message)).toEqual([]);
  });

  it.each([
    ['progress', { method: 'notifications/progress', params: { progressToken: 1, progress: 1, message: PADDING } }],
    ['log lines', { method: 'notifications/message', params: { level: 'info', data: PADDING } }],
    ['changes of the list', { method: 'notifications/tools/list_changed', params: { _meta: { PADDING } } }],
    ['answers to nothing', { id: 'nothing', result: { PADDING } }],
  ])('cannot go on for ever with %s', async (_, message) => {
    let sent = 0;
    const flood = event(message).repeat(4);
    const { servers, server } = await failing((response) => {
      stream(response);
      const more = (): void => {
        if (response.destroyed) return;
        sent += flood.length;
        if (response.write(flood)) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    });
    expect(String(await failureOf(callOnce(servers, 't')))).toContain('larger than the 16777216 bytes');
    await servers.close();
    await quiet(server);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('that are nested deeply are a failure in words', async () => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    for (const result of [
      `{"content":[],"structuredContent":${deep}}`,
      `{"content":[{"type":"text","text":"x"}],"structuredContent":${deep}}`,
      `{"content":[{"type":"text","text":"x","_meta":${deep}}]}`,
      `{"content":${deep}}`,
      `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    ]) {
      const { servers } = await failing((response, { id }) =>
        raw(response, `{"jsonrpc":"2.0","id":${id},"result":${result}}`),
      );
      const outcome = await callOnce(servers, 't').catch((error: unknown) => error);
      if (Array.isArray(outcome)) expect(outcome).toMatchObject([{ outputs: { content: 'x' } }]);
      else expect(outcome).toMatchObject({ code: 'TOOL_FAILED' });
      expect(() => JSON.stringify(outcome)).not.toThrow();
    }
  });

  it('poison no prototypes', async () => {
    const { servers } = await failing((response, { id }) =>
      raw(
        response,
        `{"jsonrpc":"2.0","id":${id},"result":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},
        "content":[{"type":"text","text":"x","__proto__":{"polluted":1}}],"structuredContent":{"__proto__":{"polluted":1},"a":1}}}`,
      ),
    );
    const [result] = await callOnce(servers, 't');
    expect(result).toMatchObject({ type: 'result', text: 'x' });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect((result as { polluted?: number }).polluted).toBeUndefined();
  });

  it('of very many parts are cut', async () => {
    const { servers } = await failing((response, { id }) =>
      json(response, id, { content: Array.from({ length: 50_000 }, () => ({ type: 'text', text: 'part' })) }),
    );
    const [result] = await callOnce(servers, 't');
    expect((result as { text: string }).text.length).toBeLessThan(101_000);
  });
});

describe('tools of a hostile MCP server', () => {
  const named = (name: string): string => JSON.stringify({ name, inputSchema: { type: 'object' } });

  it('have names without control characters, or are left out', async () => {
    const names = [
      'fine',
      '',
      '\u001b[2J\u001b[31mred',
      'a\nb',
      'a\u0000b',
      'a\u0007',
      '\u009b1m',
      'gnp.\u202eexe',
      'a\u200bb',
      '\ufeffx',
    ];
    const tools = await offered(`[${names.map(named).join(',')}]`);
    expect(tools.map(({ name }) => name)).toEqual(['fine']);
  });

  it('may be called as prototypes are, and are nothing else', async () => {
    const tools = await offered(`[${['__proto__', 'constructor', 'toString', 'hasOwnProperty'].map(named).join(',')}]`);
    expect(tools.map(({ name }) => name)).toEqual(['__proto__', 'constructor', 'toString', 'hasOwnProperty']);
    const { servers } = await failing((response, { id, params }) => json(response, id, said(String(params.name))));
    expect(await callOnce(servers, '__proto__')).toMatchObject([{ text: '__proto__' }]);
  });

  it('have descriptions without control characters', async () => {
    const [tool] = await offered(
      `[${JSON.stringify({ name: 'a', description: 'one\n\ttwo\u001b[2J\u0000three\u202efour', inputSchema: { type: 'object' } })}]`,
    );
    expect(tool?.description).toBe('one\n\ttwo[2Jthreefour');
  });

  it.each([
    ['deep', `{"type":"object","properties":${'{"a":{"properties":'.repeat(5_000)}{}${'}}'.repeat(5_000)}}`],
    ['wide', `{"type":"object","properties":{${Array.from({ length: 20_000 }, (_, n) => `"p${n}":{}`).join(',')}}}`],
    ['no object', '"object"'],
    ['a list', '[]'],
  ])('with a schema that is %s are left out, or the list fails', async (_, schema) => {
    const listed = await offered(`[{"name":"bad","inputSchema":${schema}},${named('fine')}]`).catch((error) => error);
    if (Array.isArray(listed)) expect(listed.map(({ name }: McpTool) => name)).toEqual(['fine']);
    else expect(listed).toMatchObject({ code: 'TOOL_FAILED' });
  });

  it('may have schemas that refer to themselves, which nothing here follows', async () => {
    const schema =
      '{"type":"object","$defs":{"a":{"$ref":"#/$defs/a"}},"properties":{"__proto__":{"$ref":"http://127.0.0.1:1/x"},"a":{"pattern":"(a+)+$"}}}';
    const [tool] = await offered(`[{"name":"a","inputSchema":${schema}}]`);
    expect(tool?.name).toBe('a');
    expect(({} as { $ref?: string }).$ref).toBeUndefined();
  });
});
