/** JSON that takes a process long to read, on every way in: it is refused before anything is built from it. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readArguments } from '../../src/tools/read-arguments.js';
import { parseFrame } from '../../src/transport/live/client-frames.js';
import { documentOf, ECHO } from './support/documents.js';
import { startServer } from './support/server.js';

const AGENTS = '/api/v1/agents';
const MANY = 750_000;
const TOO_MANY_NAMES = 'has an object with more than 10000 names';

const names = (count: number): string => Array.from({ length: count }, (_, at) => `"n${at}":0`).join();
const LARGE = `{${names(MANY)}}`;

/** Characters of the longest text that was built into values. */
let longestBuilt = 0;
/** Texts that were built into values, if they are short. */
const built = new Set<string>();

beforeEach(() => {
  longestBuilt = 0;
  built.clear();
  const parse = JSON.parse;
  vi.spyOn(JSON, 'parse').mockImplementation((text: string, ...rest: unknown[]) => {
    longestBuilt = Math.max(longestBuilt, String(text).length);
    if (String(text).length < 10_000) built.add(text);
    return parse(text, ...(rest as []));
  });
});

afterEach(() => {
  vi.restoreAllMocks();
});

const expectNothingBuilt = (): void => expect(longestBuilt).toBeLessThan(MANY);

describe('a document', () => {
  it('as text with 750,000 names is not built', async () => {
    const { call } = await startServer();
    const dsl = `{"components":{},"graph":{},"x":{${names(100_000)}}}`;
    const { body } = await call('POST', AGENTS, { title: 'x', dsl });
    expect(body).toEqual({ code: 101, data: false, message: `The DSL ${TOO_MANY_NAMES}.` });
    const large = await call('POST', AGENTS, { title: 'x', dsl: `{"components":{},"x":${LARGE}}` });
    expect(large.body.message).toContain('has more than 2097152 bytes');
  });

  it.each(['PUT', 'PATCH'])('is refused the same when it is saved by %s', async (method) => {
    const { call, agent } = await startServer();
    const path = `${AGENTS}/${await agent(ECHO)}`;
    const { body } = await call(method, path, { dsl: `{"components":{},"x":{${names(100_000)}}}` });
    expect(body).toMatchObject({ code: 101, message: `The DSL ${TOO_MANY_NAMES}.` });
    expect((await call('POST', `${path}/publish`, { dsl: '{"components":{"__proto__":{}}}' })).body).toMatchObject({
      code: 101,
      message: 'The DSL has the name "__proto__", which objects may not have.',
    });
  });

  it('of more than RUNNEL_DOCUMENT_BYTES is refused as text and as an object, wherever it is saved', async () => {
    const { call, agent } = await startServer({ env: { RUNNEL_DOCUMENT_BYTES: '2048' } });
    const path = `${AGENTS}/${await agent(ECHO)}`;
    const dsl = documentOf({
      begin: ['Begin', ['Message:A']],
      'Message:A': ['Message', [], { content: ['é'.repeat(1_000)] }],
    });
    for (const given of [dsl, JSON.stringify(dsl)]) {
      const refused = { code: 101, message: expect.stringContaining('has more than 2048 bytes') };
      expect((await call('POST', AGENTS, { title: 'x', dsl: given })).body).toMatchObject(refused);
      expect((await call('PUT', path, { dsl: given })).body).toMatchObject(refused);
      expect((await call('POST', `${path}/publish`, { dsl: given })).body).toMatchObject(refused);
    }
  });
});

describe('an import', () => {
  const send = async (url: string, files: Readonly<Record<string, string>>) => {
    const form = new FormData();
    for (const [name, text] of Object.entries(files)) form.append('file', new Blob([text]), name);
    const response = await fetch(`${url}${AGENTS}/import`, { method: 'POST', body: form });
    return response.text();
  };

  it('of a file with 750,000 names builds nothing', async () => {
    const { url } = await startServer();
    expect(await send(url, { 'a.json': LARGE })).toContain('The file \\"a.json\\" has more than 4194304 bytes.');
    expectNothingBuilt();
    const some = `{"components":{},"x":{${names(200_000)}}}`;
    expect(await send(url, { 'a.json': some })).toContain(`The file \\"a.json\\" ${TOO_MANY_NAMES}.`);
    expectNothingBuilt();
  });

  it('of a hundred files measures all of them before it decodes the first', async () => {
    const { url, call } = await startServer();
    const files = Array.from({ length: 99 }, (_, at) => [`f${at}.json`, JSON.stringify(ECHO)]);
    const answer = await send(url, { ...Object.fromEntries(files), 'z.json': ' '.repeat(5_000_000) });
    expect(answer).toContain('The file \\"z.json\\" has more than');
    expect(built).not.toContain(JSON.stringify(ECHO));
    expect((await call('GET', AGENTS)).body.data.total).toBe(0);
  });
});

describe('a webhook without a key', () => {
  const hook = (params: object) =>
    documentOf({
      begin: [
        'Begin',
        ['Message:A'],
        { mode: 'Webhook', security: { auth_type: 'none', allow_anonymous: true }, ...params },
      ],
      'Message:A': ['Message', [], { content: ['{begin@request}'] }],
    });

  it.each([
    ['application/json', LARGE, `The body ${TOO_MANY_NAMES}.`],
    ['application/json', `[${'{},'.repeat(MANY)}{}]`, 'The body has more than 500000 texts, lists and objects.'],
    ['application/json', '{"a":{"__pro\\u0074o__":1}}', 'The body has the name \\"__proto__\\"'],
    ['application/x-www-form-urlencoded', 'a=1&'.repeat(MANY), 'Too many fields'],
  ])('refuses %s of many parts', async (type, body, message) => {
    const { url, agent } = await startServer();
    const id = await agent(hook({}));
    const response = await fetch(`${url}${AGENTS}/${id}/webhook`, {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(message);
    expectNothingBuilt();
  });

  it('takes a body of an unknown type that has too much for an empty one', async () => {
    const { url, agent } = await startServer();
    const id = await agent(hook({ execution_mode: 'Streaming' }));
    const response = await fetch(`${url}${AGENTS}/${id}/webhook`, {
      method: 'POST',
      body: LARGE,
      headers: { 'content-type': 'text/plain' },
    });
    expect(await response.text()).toContain('"body\\": {}');
    expectNothingBuilt();
  });

  it('casts no text of many names', async () => {
    const { call, agent } = await startServer();
    const id = await agent(hook({ schema: { body: { properties: { a: { type: 'object' } } } } }));
    const { body } = await call('POST', `${AGENTS}/${id}/webhook`, { a: `{${names(100_000)}}` });
    expect(body).toMatchObject({ code: 400, message: `body.a auto-cast failed: the text ${TOO_MANY_NAMES}` });
  });
});

describe('a body', () => {
  it.each([
    ['of 750,000 names', `{"inputs":${LARGE}}`],
    ['of 750,000 names as the arguments of an MCP client', `{"jsonrpc":"2.0","params":${LARGE}}`],
    ['of half a million objects', `{"inputs":{"a":[${'{},'.repeat(MANY)}{}]}}`],
    [
      'of unlike objects',
      `{"inputs":[${Array.from({ length: 20_000 }, (_, at) => `{${names(10).replaceAll('n', `o${at}_`)}}`).join()}]}`,
    ],
  ])('%s is not built', async (_, body) => {
    const { call, agent } = await startServer();
    const id = await agent(ECHO);
    for (const path of [
      `${AGENTS}/${id}/run`,
      `${AGENTS}/${id}/sessions`,
      '/api/v1/mcp',
      '/api/v1/agents/chat/completions',
    ]) {
      expect((await call('POST', path, body)).body).toMatchObject({
        code: 101,
        message: expect.stringMatching(/^The request body has /),
      });
    }
    expectNothingBuilt();
  });
});

describe('a frame of a WebSocket and the arguments that a model gives a tool', () => {
  it.each([
    ['nested thousands of levels deep', `{"type":"run","inputs":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['of 750,000 names', LARGE],
    ['with the name of a prototype', '{"type":"run","inputs":{"__prot\\u006f__":{}}}'],
  ])('%s are not built', (_, text) => {
    expect(parseFrame(text)).toBeUndefined();
    expect(() => readArguments('a tool', text)).toThrow('The text of the arguments of a tool has');
    expect(longestBuilt).toBe(0);
  });
});
