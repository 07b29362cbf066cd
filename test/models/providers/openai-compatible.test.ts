import type { ServerResponse } from 'node:http';
import { firstValueFrom, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ChatDelta } from '../../../src/models/chat-model.js';
import { collectAnswer } from '../../../src/models/collect-answer.js';
import { answerStream, frame, sse, startServer } from '../fake-server.js';
import { all, hello, KEY, modelAt } from '../model-at.js';

describe('createOpenaiCompatible', () => {
  it('streams an answer as it arrives', async () => {
    let open: ServerResponse | undefined;
    const { url } = await startServer((response) => {
      open = response;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(frame({ content: 'first' }))}\n\n`);
    });
    const deltas: ChatDelta[] = [];
    await new Promise<void>((resolve, reject) => {
      modelAt(url)
        .chat(hello)
        .subscribe({
          next: (delta) => {
            deltas.push(delta);
            // The server goes on only once the first piece is here.
            if (delta.type === 'text' && delta.text === 'first') open?.end(sse(frame({ content: 'second' }, 'stop')));
          },
          error: reject,
          complete: resolve,
        });
    });
    expect(deltas).toEqual([
      { type: 'text', text: 'first' },
      { type: 'text', text: 'second' },
      { type: 'finish', reason: 'stop', id: 'chat-1' },
    ]);
  });

  it('sends everything a request says, in the words of the API', async () => {
    const { url, arrived } = await startServer((response) =>
      answerStream(response, sse(frame({ content: 'x' }, 'stop'))),
    );
    await all(modelAt(`${url}/`, { headers: { 'X-Team': 'blue' } }), {
      model: 'gpt',
      messages: [
        { role: 'system', content: 'be nice' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', url: 'data:image/png;base64,AA==' },
          ],
        },
        { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'add', arguments: '{"x":1}' }] },
        { role: 'tool', toolCallId: 'c1', content: '2' },
      ],
      tools: [{ name: 'add', description: 'adds', parameters: { type: 'object' } }],
      toolChoice: { name: 'add' },
      jsonSchema: { name: 'sum', schema: { type: 'object' }, strict: true },
      sampling: { temperature: 0, topP: 0.5, maxTokens: 9, presencePenalty: 0.1, frequencyPenalty: 0.2 },
      thinking: 'disabled',
      chatTemplateKwargs: { enable_thinking: false },
      user: 'u1',
      headers: { 'x-trace': 't' },
    });
    expect(arrived[0]?.path).toBe('/v1/chat/completions');
    expect(arrived[0]?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-team': 'blue', 'x-trace': 't' });
    expect(arrived[0]?.body).toEqual({
      model: 'gpt',
      messages: [
        { role: 'system', content: 'be nice' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"x":1}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '2' },
      ],
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: 'add', description: 'adds', parameters: { type: 'object' } } }],
      tool_choice: { type: 'function', function: { name: 'add' } },
      response_format: { type: 'json_schema', json_schema: { name: 'sum', schema: { type: 'object' }, strict: true } },
      temperature: 0,
      top_p: 0.5,
      max_tokens: 9,
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      thinking: { type: 'disabled' },
      chat_template_kwargs: { enable_thinking: false },
      user: 'u1',
    });
  });

  it('leaves out what a request does not say', async () => {
    const { url, arrived } = await startServer((response) =>
      answerStream(response, sse(frame({ content: 'x' }, 'stop'))),
    );
    await all(modelAt(`${url}/chat/completions?api-version=1`, { apiKey: undefined }, false), {
      ...hello,
      toolChoice: 'auto',
    });
    expect(arrived[0]?.path).toBe('/v1/chat/completions?api-version=1');
    expect(arrived[0]?.headers.authorization).toBeUndefined();
    expect(arrived[0]?.body).toEqual({ model: 'gpt', messages: [{ role: 'user', content: 'hi' }], stream: true });
  });

  it('gives the same answer wherever the network cuts it, inside characters too', async () => {
    const body = Buffer.from(
      sse(
        frame({ reasoning_content: 'hm' }),
        frame({ content: '<think>é🙂</thi' }),
        frame({ content: 'nk>日本' }, 'stop'),
      ),
    );
    const { url } = await startServer(async (response, _, count) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.socket?.setNoDelay(true);
      // Two chunks with a turn of the loop between them arrive as two reads.
      await new Promise<void>((resolve) => response.write(body.subarray(0, count), () => setImmediate(resolve)));
      response.end(body.subarray(count));
    });
    const model = modelAt(url);
    for (let cut = 1; cut < body.length; cut += 1) {
      const answer = await firstValueFrom(model.chat(hello).pipe(collectAnswer()));
      expect(answer, `cut at ${cut}`).toEqual({
        text: '日本',
        thinking: 'hmé🙂',
        toolCalls: [],
        usage: undefined,
        finishReason: 'stop',
      });
    }
  });

  it('uses connections again', async () => {
    const { url, arrived } = await startServer((response) => {
      answerStream(response, sse(frame({ content: 'x' }, 'stop')));
    });
    const model = modelAt(url);
    for (let call = 0; call < 8; call += 1) await all(model);
    // Two and not one: a call made in the very moment in which another completes finds its connection still busy.
    expect(new Set(arrived.map(({ socketPort }) => socketPort)).size).toBeLessThanOrEqual(2);
  });

  it('completes at the end mark without waiting for a server that holds on', async () => {
    const { url } = await startServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse(frame({ content: 'x' }, 'stop')));
    });
    expect(await all(modelAt(url))).toHaveLength(2);
  });

  it.each([
    ['before it answers', (_: ServerResponse) => {}],
    [
      'while it answers',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`data: ${JSON.stringify(frame({ content: 'x' }))}\n\n`);
      },
    ],
  ])('closes the connection at once when unsubscribed from a server that hangs %s', async (_, act) => {
    const reached = deferred();
    const closed = deferred();
    const { url } = await startServer((response) => {
      response.on('close', () => closed.resolve());
      act(response);
      reached.resolve();
    });
    const subscription = modelAt(url)
      .chat(hello)
      .subscribe({ error: (error) => closed.reject(error) });
    await reached.promise;
    subscription.unsubscribe();
    await closed.promise;
  });

  it('closes the connection when a reader has heard enough', async () => {
    const closed = deferred();
    const { url } = await startServer((response) => {
      response.on('close', () => closed.resolve());
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(frame({ content: 'x' }))}\n\n`);
    });
    await firstValueFrom(modelAt(url).chat(hello).pipe(take(1)));
    await closed.promise;
  });
});

function deferred(): { promise: Promise<void>; resolve: (value?: unknown) => void; reject: (error: unknown) => void } {
  let settle: { resolve: () => void; reject: (error: unknown) => void } | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, resolve: () => settle?.resolve(), reject: (error) => settle?.reject(error) };
}
