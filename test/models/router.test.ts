import { firstValueFrom, map, Observable, toArray } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ChatModel, ChatRequest } from '../../src/models/chat-model.js';
import { collectAnswer } from '../../src/models/collect-answer.js';
import type { CallOptions } from '../../src/models/define-provider.js';
import { createModels, type Models, type ModelsOptions } from '../../src/models/router.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';
import { answerJson, answerStream, frame, sse, startServer } from './fake-server.js';

const KEY = 'sk-very-secret';

async function modelsOf(file: unknown, env: object = {}, options: ModelsOptions = {}): Promise<Models> {
  const configuration = await modelsFromEnvironment({ RUNNEL_MODELS: 'f', ...env }, async () => JSON.stringify(file));
  const models = createModels(configuration, options);
  onTestFinished(() => models.close());
  return models;
}

function ask(models: Models, llmId: string, request: Partial<ChatRequest> = {}): Promise<string> {
  const { model, name } = models.chat(llmId);
  const messages = [{ role: 'user' as const, content: 'hi' }];
  return firstValueFrom(
    model.chat({ model: name, messages, ...request }).pipe(
      collectAnswer(),
      map((answer) => answer.text),
    ),
  );
}

describe('createModels', () => {
  it('answers from the built-in model when nothing is configured, and says so', async () => {
    const models = await modelsOf({});
    expect(models.isScripted).toBe(true);
    expect(models.describe()).toMatchObject({ isScripted: true, defaultProvider: undefined, providers: [] });
    expect(await ask(models, 'gpt@OpenAI')).toBe('echo: hi');
  });

  it('lets tenants take turns at the seats for chats, so that one with many calls keeps no other waiting for all of them', async () => {
    const begun: [tenant: string, end: () => void][] = [];
    const scripted: ChatModel = {
      chat: ({ messages }) =>
        new Observable((subscriber) => {
          begun.push([String(messages[0]?.content), () => subscriber.complete()]);
        }),
    };
    const models = await modelsOf({}, { MAX_CONCURRENT_CHATS: '1' }, { scripted });
    const call = (tenant: string) => {
      const { model, name } = (models.forTenant?.(tenant) ?? models).chat('');
      model.chat({ model: name, messages: [{ role: 'user', content: tenant }] }).subscribe();
    };
    for (const tenant of ['busy', 'busy', 'busy', 'busy', 'other', 'busy', 'other']) call(tenant);
    expect(models.load?.()).toEqual({ running: 1, waiting: 6 });
    for (let at = 0; at < begun.length; at += 1) begun[at]?.[1]();
    expect(begun.map(([tenant]) => tenant)).toEqual(['busy', 'busy', 'other', 'busy', 'other', 'busy', 'busy']);
    expect(models.load?.()).toEqual({ running: 0, waiting: 0 });
  });

  it('answers from the configured script', async () => {
    const models = await modelsOf({ scripted: { rules: [{ when: { user: 'hi' }, reply: 'hello' }] } });
    expect(await ask(models, '')).toBe('hello');
  });

  it('sends each name to its provider, with its key and its own name of the model', async () => {
    const acme = await startServer((response) => answerStream(response, sse(frame({ content: 'from acme' }))));
    const open = await startServer((response) => answerStream(response, sse(frame({ content: 'from open' }))));
    const models = await modelsOf(
      { factories: { Acme: { base_url: acme.url, api_key: 'acme-key', stream_usage: false } } },
      { OPENAI_BASE_URL: open.url, OPENAI_API_KEY: KEY },
    );
    expect(models.isScripted).toBe(false);
    expect(await ask(models, 'm1@Acme')).toBe('from acme');
    expect(await ask(models, 'm2@Unknown')).toBe('from open');
    expect(await ask(models, 'scripted')).toBe('echo: hi');
    expect(
      acme.arrived.map(({ body, headers }) => [body.model, headers.authorization, 'stream_options' in body]),
    ).toEqual([['m1', 'Bearer acme-key', false]]);
    expect(open.arrived.map(({ body, headers }) => [body.model, headers.authorization])).toEqual([
      ['m2', `Bearer ${KEY}`],
    ]);
  });

  it('describes what is configured without keys and headers', async () => {
    const models = await modelsOf(
      {
        factories: {
          Acme: { base_url: 'http://acme.test/v1?key=sk-in-query', headers: { 'x-key': KEY }, models: ['a'] },
        },
      },
      { OPENAI_API_KEY: KEY },
    );
    const description = models.describe();
    expect(description.defaultProvider).toEqual({
      name: 'default',
      baseUrl: 'https://api.openai.com/v1',
      hasKey: true,
      models: [],
      uses: ['chat', 'embedding', 'rerank', 'tts'],
    });
    expect(description.providers).toEqual([
      {
        name: 'Acme',
        baseUrl: 'http://acme.test/v1',
        hasKey: false,
        models: ['a'],
        uses: ['chat', 'embedding', 'rerank', 'tts'],
      },
    ]);
    expect(JSON.stringify(description)).not.toMatch(/sk-/);
  });

  it('knows which models see, and how much they read', async () => {
    const models = await modelsOf(
      { vision_models: ['v', 'w@Acme'], context_lengths: { v: 10, 'v@Acme': 20 } },
      { OPENAI_BASE_URL: 'http://o.test' },
    );
    const known = (id: string) => [models.chat(id).supportsImages, models.chat(id).contextLength];
    expect([known('v'), known('v@Acme'), known('w@Acme'), known('w'), known('constructor')]).toEqual([
      [true, 10],
      [true, 20],
      [true, undefined],
      [false, undefined],
      [false, undefined],
    ]);
  });

  it.each([
    ['of the request', { LLM_MAX_RETRIES: '0' }, { retries: { maxRetries: 2, delayMs: 0 } }],
    ['of the environment', { LLM_MAX_RETRIES: '2', LLM_BASE_DELAY: '0' }, {}],
    ['of the environment, the request giving but a delay', { LLM_MAX_RETRIES: '2' }, { retries: { delayMs: 0 } }],
  ])('makes as many attempts as the retries %s allow', async (_, env, request) => {
    const attempts: unknown[] = [];
    const script = { rules: [{ error: 'flaky', times: 2 }] };
    const models = await modelsOf({ scripted: script }, env, { onScriptedCall: (call) => attempts.push(call) });
    expect(await ask(models, '', request)).toBe('echo: hi');
    expect(attempts).toHaveLength(3);
  });

  it('does not retry unless told to', async () => {
    const models = await modelsOf({ scripted: { rules: [{ error: 'flaky', times: 1 }] } });
    await expect(ask(models, '')).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
  });

  it('makes a bad number of retries an error of the call', async () => {
    const models = await modelsOf({});
    await expect(ask(models, '', { retries: { maxRetries: -1 } })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });

  it('never has more calls going on than allowed, over all providers', async () => {
    let now = 0;
    let most = 0;
    const { url } = await startServer(async (response) => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      answerStream(response, sse(frame({ content: 'x' })));
    });
    const models = await modelsOf(
      { factories: { A: { base_url: url }, B: { base_url: url } } },
      { MAX_CONCURRENT_CHATS: '2' },
    );
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => ask(models, at % 2 ? 'm@A' : 'm@B')));
    expect(answers).toEqual(Array(12).fill('x'));
    expect(most).toBe(2);
  });

  it('ends what is going on when it is closed', async () => {
    const { url } = await startServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(frame({ content: 'x' }))}\n\n`);
    });
    const models = await modelsOf({}, { OPENAI_BASE_URL: url });
    const { model } = models.chat('m');
    const heard = firstValueFrom(model.chat({ model: 'm', messages: [] }).pipe(toArray()));
    const failed = expect(heard).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', retryable: false });
    await models.close();
    await failed;
  });
});

describe('embedder, reranker and speech', () => {
  const vector = (text: string) => [text.length, Number(text)];

  it('embeds in batches, in order, whatever the order of the answer', async () => {
    const { url, arrived } = await startServer((response, { body }) => {
      const data = body.input.map((text: string, index: number) => ({ index, embedding: vector(text) }));
      answerJson(response, { data: data.reverse() });
    });
    const models = await modelsOf({ defaults: { embedding: 'e@X' } }, { OPENAI_BASE_URL: url });
    const texts = Array.from({ length: 130 }, (_, at) => String(at));
    expect(await models.embedder().embed(texts)).toEqual(texts.map(vector));
    expect(arrived.map(({ path, body }) => [path, body.model, body.input.length])).toEqual([
      ['/v1/embeddings', 'e', 64],
      ['/v1/embeddings', 'e', 64],
      ['/v1/embeddings', 'e', 2],
    ]);
    expect(await models.embedder('e').embed([])).toEqual([]);
  });

  it('reranks, in the order of the documents', async () => {
    const { url, arrived } = await startServer((response) => {
      const results = [
        { index: 1, relevance_score: 0.9 },
        { index: 0, relevance_score: 0.1 },
      ];
      answerJson(response, { results });
    });
    const models = await modelsOf({}, { OPENAI_BASE_URL: url });
    expect(await models.reranker('r').rerank('q', ['a', 'b'])).toEqual([0.1, 0.9]);
    expect(arrived[0]).toMatchObject({
      path: '/v1/rerank',
      body: { model: 'r', query: 'q', documents: ['a', 'b'], top_n: 2 },
    });
    expect(await models.reranker('r').rerank('q', [])).toEqual([]);
  });

  it('speaks', async () => {
    const { url, arrived } = await startServer((response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(Buffer.from([1, 2, 3]));
    });
    const models = await modelsOf({}, { OPENAI_BASE_URL: url });
    const { bytes, mediaType } = await models.speech('s').speak('hello', { voice: 'nova' });
    expect([[...bytes], mediaType]).toEqual([[1, 2, 3], 'audio/mpeg']);
    expect(arrived[0]).toMatchObject({
      path: '/v1/audio/speech',
      body: { input: 'hello', voice: 'nova', response_format: 'mp3' },
    });
  });

  const calls: readonly [string, (models: Models, options?: CallOptions) => Promise<unknown>][] = [
    ['embed', (models, options) => models.embedder('e').embed(['a', 'b'], options)],
    ['rerank', (models, options) => models.reranker('r').rerank('q', ['a', 'b'], options)],
    ['speak', (models, options) => models.speech('s').speak('a', options)],
  ];

  it.each(calls)('%s sends headers of the call along, and keeps its own key', async (_, call) => {
    const { url, arrived } = await startServer((response) => answerJson(response, {}));
    const headers = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: 'v=1', baggage: 'shop=7' };
    const models = await modelsOf({}, { OPENAI_BASE_URL: url, OPENAI_API_KEY: KEY });
    await call(models, { headers }).catch(() => {});
    expect(arrived.map((one) => one.headers)).toEqual([
      expect.objectContaining({ ...headers, authorization: `Bearer ${KEY}` }),
    ]);
  });

  it.each(calls)('%s refuses an answer that makes no sense', async (_, call) => {
    const bodies = [{}, { data: [{ index: 0, embedding: [1] }], results: [{ index: 0, relevance_score: 1 }] }];
    for (const body of bodies) {
      const { url } = await startServer((response) => answerJson(response, body));
      await expect(call(await modelsOf({}, { OPENAI_BASE_URL: url }))).rejects.toMatchObject({
        code: 'MODEL_RESPONSE',
      });
    }
  });

  it('refuses embeddings that leave one out', async () => {
    const twice = [
      { index: 1, embedding: [1] },
      { index: 1, embedding: [2] },
    ];
    const { url } = await startServer((response) => answerJson(response, { data: twice }));
    const models = await modelsOf({}, { OPENAI_BASE_URL: url });
    await expect(models.embedder('e').embed(['a', 'b'])).rejects.toMatchObject({ code: 'MODEL_RESPONSE' });
  });

  it.each(calls)('%s asks again after an overload, as often as configured', async (_, call) => {
    const { url, arrived } = await startServer((response) => answerJson(response, { error: 'busy' }, 503));
    const env = { OPENAI_BASE_URL: url, LLM_MAX_RETRIES: '2', LLM_BASE_DELAY: '0' };
    await expect(call(await modelsOf({}, env))).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    expect(arrived).toHaveLength(3);
  });

  it('closes the connection at once when aborted', async () => {
    const controller = new AbortController();
    let closed: Promise<unknown> | undefined;
    const { url } = await startServer((response) => {
      closed = new Promise((resolve) => response.on('close', resolve));
      controller.abort(new Error('enough'));
    });
    const models = await modelsOf({}, { OPENAI_BASE_URL: url });
    await expect(models.embedder('e').embed(['a'], { signal: controller.signal })).rejects.toThrow('enough');
    await closed;
    await expect(models.embedder('e').embed(['a'], { signal: controller.signal })).rejects.toThrow('enough');
  });

  it('has no built-in model for them', async () => {
    const models = await modelsOf({});
    expect(() => models.embedder('e')).toThrow(expect.objectContaining({ code: 'MODEL_UNKNOWN' }));
  });
});
