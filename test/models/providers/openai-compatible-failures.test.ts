import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { firstValueFrom } from 'rxjs';
import { Agent } from 'undici';
import { describe, expect, it } from 'vitest';
import type { ChatDelta } from '../../../src/models/chat-model.js';
import { collectAnswer } from '../../../src/models/collect-answer.js';
import { createConnection } from '../../../src/models/connection.js';
import { withRetries } from '../../../src/models/retry-policy.js';
import { answerJson, answerStream, frame, sse, startServer } from '../fake-server.js';
import { all, failureOf, hello, KEY, modelAt } from '../model-at.js';

describe('createOpenaiCompatible, when things go wrong', () => {
  it.each([
    [400, { error: { message: `bad field; you sent ${KEY}` } }, 'MODEL_REQUEST', false, 'bad field; you sent ***'],
    [401, { error: { message: 'no' } }, 'MODEL_REQUEST', false, "Check the provider's key"],
    [404, { detail: 'no such model' }, 'MODEL_REQUEST', false, 'no such model. Check the model name'],
    [302, {}, 'MODEL_REQUEST', false, '302'],
    [408, {}, 'MODEL_UNAVAILABLE', true, '408'],
    [409, {}, 'MODEL_UNAVAILABLE', true, '409'],
    [425, {}, 'MODEL_UNAVAILABLE', true, '425'],
    [429, { error: 'slow down' }, 'MODEL_UNAVAILABLE', true, 'slow down'],
    [500, { message: 'oops' }, 'MODEL_UNAVAILABLE', true, 'oops'],
    [503, { error: { type: 'overloaded' } }, 'MODEL_UNAVAILABLE', true, 'overloaded'],
  ] as const)('tells of status %i', async (status, body, code, retryable, fragment) => {
    const { url } = await startServer((response) => answerJson(response, body, status, { 'retry-after': '7' }));
    const error = await failureOf(all(modelAt(url)));
    expect(error).toMatchObject({ code, retryable, details: { status, retryAfterMs: 7000 } });
    expect(error.message).toContain('Model "gpt" at 127.0.0.1:');
    expect(error.message).toContain(fragment);
    expect(JSON.stringify([error.message, error.details, error.cause ?? null])).not.toContain(KEY);
  });

  it('bounds the text of an error', async () => {
    const { url } = await startServer((response) => void response.writeHead(500).end('x'.repeat(300_000)));
    expect((await failureOf(all(modelAt(url)))).message.length).toBeLessThan(700);
  });

  it('says of a connection that breaks off that it did, and how far it came', async () => {
    const { url } = await startServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse(frame({ content: 'half' })).slice(0, 10), () => response.destroy());
    });
    const error = await failureOf(all(modelAt(url)));
    expect(error).toMatchObject({ code: 'MODEL_UNAVAILABLE', retryable: true });
    expect(error.message).toMatch(/^Model "gpt" at [\w.:/]+ broke off after \d+ bytes of its answer: /);
    expect(error.message).not.toContain('could not be reached');
  });

  it('refuses an answer that is too large', async () => {
    const { url } = await startServer((response) => answerStream(response, sse(frame({ content: 'x'.repeat(5_000) }))));
    const error = await failureOf(all(modelAt(url, { maxResponseBytes: 4_000 })));
    expect(error).toMatchObject({ code: 'MODEL_RESPONSE', retryable: false });
    expect(error.message).toContain('more than 4000 bytes');
  });

  it('refuses a malformed frame after what was good', async () => {
    const { url } = await startServer((response) =>
      answerStream(response, `data: ${JSON.stringify(frame({ content: 'ok' }))}\n\ndata: {oops\n\n`),
    );
    const deltas: ChatDelta[] = [];
    const error = await failureOf(
      new Promise((resolve, reject) => {
        modelAt(url)
          .chat(hello)
          .subscribe({ next: (delta) => deltas.push(delta), error: reject, complete: () => resolve(0) });
      }),
    );
    expect(deltas).toEqual([{ type: 'text', text: 'ok' }]);
    expect(error.code).toBe('MODEL_RESPONSE');
  });

  it('tells of a connection that breaks midway', async () => {
    const { url } = await startServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(frame({ content: 'x' }))}\n\n`, () => response.destroy());
    });
    expect(await failureOf(all(modelAt(url)))).toMatchObject({ code: 'MODEL_UNAVAILABLE', retryable: true });
  });

  it('tells of a server that is not there', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const error = await failureOf(all(modelAt(`http://127.0.0.1:${port}`)));
    expect(error).toMatchObject({ code: 'MODEL_UNAVAILABLE', retryable: true, details: { network: 'ECONNREFUSED' } });
    expect((error as Error).message).toMatch(/\(ECONNREFUSED\); check that the server is running there\.$/);
  });

  it('gives up on a server that falls silent', async () => {
    const { url } = await startServer(() => {});
    const error = await failureOf(all(modelAt(url, { idleTimeoutMs: 20 })));
    expect(error).toMatchObject({ code: 'MODEL_UNAVAILABLE', retryable: true });
    expect(error.message).toContain('LLM_TIMEOUT_SECONDS');
  });

  it('gives up on a server that talks for ever', async () => {
    const { url } = await startServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const timer = setInterval(() => response.write(': still here\n\n'), 2);
      response.on('close', () => clearInterval(timer));
    });
    const error = await failureOf(all(modelAt(url, { timeoutMs: 50 })));
    expect(error).toMatchObject({ code: 'MODEL_UNAVAILABLE', retryable: false });
  });

  it('refuses bad settings when it is built, without showing a password', () => {
    const dispatcher = new Agent();
    expect(() => createConnection({ baseUrl: 'ftp://x', dispatcher })).toThrow('received "ftp://x"');
    expect(() => createConnection({ baseUrl: 'https://me:pw@x/v1', dispatcher })).toThrow('received "https://***@x"');
    expect(() => createConnection({ baseUrl: 'https://x', dispatcher, idleTimeoutMs: 0 })).toThrow('received 0');
  });
});

describe('withRetries over HTTP', () => {
  const retries = { maxRetries: 2, delayMs: 0 };

  it('asks again after 429 until it is answered', async () => {
    const { url, arrived } = await startServer((response, _, count) => {
      if (count < 3) answerJson(response, { error: { message: 'slow down' } }, 429);
      else answerStream(response, sse(frame({ content: 'ok' }, 'stop')));
    });
    const answer = await firstValueFrom(
      withRetries(modelAt(url))
        .chat({ ...hello, retries })
        .pipe(collectAnswer()),
    );
    expect([answer.text, arrived.length]).toEqual(['ok', 3]);
  });

  it.each([
    ['500 each time', 500, 3],
    ['400, which no retry helps', 400, 1],
  ])('gives the last error after %s', async (_, status, attempts) => {
    const { url, arrived } = await startServer((response, __, count) =>
      answerJson(response, { error: `no ${count}` }, status),
    );
    const error = await failureOf(all(withRetries(modelAt(url)), { ...hello, retries }));
    expect(error.message).toContain(`no ${attempts}`);
    expect(arrived).toHaveLength(attempts);
  });

  it('does not ask again once a delta was heard', async () => {
    const { url, arrived } = await startServer((response) => {
      answerStream(response, sse(frame({ content: 'a' }), { error: { message: 'busy', code: 503 } }));
    });
    expect((await failureOf(all(withRetries(modelAt(url)), { ...hello, retries }))).retryable).toBe(true);
    expect(arrived).toHaveLength(1);
  });
});
