import { afterEach, describe, expect, it } from 'vitest';
import type { ConformanceCase } from './case.js';
import { MODEL, type OpenaiServer, type OpenaiServerOptions, startOpenaiServer } from './support/openai-server.js';

let server: OpenaiServer | undefined;

async function serve(model: Partial<NonNullable<ConformanceCase['model']>>, options?: OpenaiServerOptions) {
  server = await startOpenaiServer({ rules: [], ...model }, options);
  return server;
}

function ask(user: string, changes: object = {}): Promise<Response> {
  return fetch(`${server?.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MODEL.key}` },
    body: JSON.stringify({
      model: MODEL.name,
      stream: true,
      messages: [
        { role: 'system', content: 'S' },
        { role: 'user', content: user },
      ],
      ...changes,
    }),
  });
}

async function answer(user: string, changes: object = {}): Promise<string> {
  const body = await (await ask(user, changes)).text();
  const frames = body.split('\n\n').filter((frame) => frame !== '' && frame !== 'data: [DONE]');
  const deltas = frames.map((frame) => JSON.parse(frame.slice('data: '.length)).choices[0].delta);
  return deltas.map((delta) => delta.content ?? JSON.stringify(delta.tool_calls ?? '')).join('|');
}

afterEach(() => server?.close());

describe("the cases' model server", () => {
  it('takes the first rule that matches and is not used up, then the default', async () => {
    const when = { user: '^x' };
    await serve({
      rules: [
        { when, times: 1, reply: 'once' },
        { when: { ...when, tools: true }, reply: 'tools' },
        { when: { system: 'S' }, reply_stream: ['$user', ' of $system'] },
      ],
      default: { reply: 'never' },
    });
    const tools = { tools: [{ type: 'function', function: { name: 'f' } }] };
    expect(await answer('x')).toBe('once|""');
    expect(await answer('x', tools)).toBe('tools|""');
    expect(await answer('x')).toBe('x| of S|""');
    expect(server?.calls[1]).toEqual({ system: 'S', messages: [{ role: 'user', content: 'x' }], tools: true });
  });

  it('echoes what no rule knows', async () => {
    await serve({});
    expect(await answer('hello')).toBe('echo: hello|""');
  });

  it('asks for tools', async () => {
    await serve({ default: { tool_calls: [{ name: 'f', arguments: { a: 1 } }] } });
    const call = { index: 0, id: 'call_0', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
    expect(await answer('x')).toBe(`${JSON.stringify([call])}|""`);
  });

  it('fails as it is told', async () => {
    await serve({ default: { error: 'boom' } });
    const response = await ask('x');
    expect([response.status, await response.json()]).toEqual([500, { error: { message: 'boom' } }]);
  });

  it.each([
    ['another model', { model: 'other' }],
    ['an answer in one piece', { stream: false }],
    ['messages of no known form', { messages: [{ role: 'user', content: 7 }] }],
  ])('refuses %s', async (_, changes) => {
    await serve({});
    expect((await ask('x', changes)).status).toBe(400);
    expect(server?.calls).toEqual([]);
  });

  it('waits before a piece as long as it is told', async () => {
    const asked: number[] = [];
    await serve({ default: { reply_stream: ['a', 'b'] } }, { beforePiece: async (index) => void asked.push(index) });
    expect(await answer('x')).toBe('a|b|""');
    expect(asked).toEqual([0, 1]);
  });
});
