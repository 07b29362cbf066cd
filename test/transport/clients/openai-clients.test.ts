/** The clients of OpenAI's API that others wrote, over a socket: the OpenAI SDK, LangChain.js, the AI SDK. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, streamText } from 'ai';
import OpenAI, { APIError } from 'openai';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { documentOf, ECHO, FORM, MODEL, PROBE } from '../support/documents.js';
import { type ModelCall, startFakeModel } from '../support/fake-model.js';
import { startServer, type TestServer } from '../support/server.js';

const THINKS = documentOf({
  begin: ['Begin', ['LLM:M']],
  'LLM:M': ['LLM', ['Message:A'], { llm_id: 'scripted', prompts: [{ role: 'user', content: '{sys.query}' }] }],
  'Message:A': ['Message', [], { content: ['{LLM:M@content}'] }],
});

const asks = (content: string) => [{ role: 'user' as const, content }];

/** An agent, and how each client is pointed at it, as the README says. */
async function serve(dsl: JsonObject, server?: TestServer) {
  const own = server ?? (await startServer());
  const agent = await own.agent(dsl);
  const baseURL = `${own.url}/api/v1/agents_openai/${agent}`;
  return {
    server: own,
    agent,
    baseURL,
    openai: new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 }),
    langchain: new ChatOpenAI({
      model: agent,
      apiKey: 'none',
      maxRetries: 0,
      streamUsage: false,
      configuration: { baseURL },
    }),
    aiSdk: createOpenAICompatible({ name: 'runnel', baseURL, apiKey: 'none' })(agent),
  };
}

/** An agent whose model breaks off after its first words, once `call` is taken. */
async function serveBrokenModel() {
  const model = await startFakeModel();
  const server = await startServer({ env: { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'k' } });
  const client = await serve(MODEL, server);
  const breakOff = async (whenSaid: Promise<unknown>): Promise<void> => {
    const call: ModelCall = await model.next();
    call.say('par');
    await whenSaid;
    call.breakOff();
  };
  return { ...client, breakOff };
}

/** A promise with the function that resolves it. */
function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  let give = (): void => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

describe('a turn', () => {
  it('answers the OpenAI SDK, whole and in a stream', async () => {
    const { openai, agent } = await serve(ECHO);
    const whole = await openai.chat.completions.create({ model: agent, messages: asks('hi') });
    expect(whole.choices[0]?.message.content).toBe('you said hi');
    const again = { model: agent, messages: asks('again'), session_id: whole.id };
    const stream = openai.chat.completions.stream(again);
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe('you said again');
    const next = await openai.chat.completions.create({
      model: agent,
      messages: asks('x'),
      metadata: { id: whole.id },
    });
    expect(next.id).toBe(whole.id);
  });

  it('answers LangChain.js, whole and in a stream', async () => {
    const { langchain } = await serve(ECHO);
    expect((await langchain.invoke('hi')).content).toBe('you said hi');
    const pieces: string[] = [];
    for await (const { content } of await langchain.stream('again')) pieces.push(String(content));
    expect(pieces.join('')).toBe('you said again');
  });

  it('answers the AI SDK, whole and in a stream', async () => {
    const { aiSdk } = await serve(ECHO);
    expect((await generateText({ model: aiSdk, prompt: 'hi', maxRetries: 0 })).text).toBe('you said hi');
    const { text, usage } = streamText({ model: aiSdk, prompt: 'again', maxRetries: 0 });
    expect(await text).toBe('you said again');
    expect((await usage).totalTokens).toBeGreaterThan(0);
  });

  it('gives thoughts as reasoning', async () => {
    const models = JSON.stringify({ scripted: { default: { reply: '<think>hm</think>yes' } } });
    const { aiSdk } = await serve(THINKS, await startServer({ models }));
    const { text, reasoningText } = await generateText({ model: aiSdk, prompt: 'hi', maxRetries: 0 });
    expect({ text, reasoningText }).toEqual({ text: 'yes', reasoningText: 'hm' });
  });
});

describe('a run that fails in the middle of a stream', () => {
  it('is an exception of the OpenAI SDK', async () => {
    const { openai, agent, breakOff } = await serveBrokenModel();
    const said = signal();
    const broken = breakOff(said.given);
    const read = async (): Promise<void> => {
      const chunks = await openai.chat.completions.create({ model: agent, messages: asks('hi'), stream: true });
      for await (const { choices } of chunks) if (choices[0]?.delta.content === 'par') said.give();
    };
    await expect(read()).rejects.toThrow(APIError);
    await broken;
  });

  it('is an exception of LangChain.js', async () => {
    const { langchain, breakOff } = await serveBrokenModel();
    const said = signal();
    const broken = breakOff(said.given);
    const read = async (): Promise<void> => {
      for await (const { content } of await langchain.stream('hi')) if (content === 'par') said.give();
    };
    await expect(read()).rejects.toThrow(/broke off/);
    await broken;
  });

  it('is an error of the AI SDK', async () => {
    const { aiSdk, breakOff } = await serveBrokenModel();
    const said = signal();
    const broken = breakOff(said.given);
    const errors: unknown[] = [];
    const { textStream } = streamText({
      model: aiSdk,
      prompt: 'hi',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    for await (const piece of textStream) if (piece === 'par') said.give();
    await broken;
    expect(errors).toHaveLength(1);
    expect(String((errors[0] as { message?: unknown }).message ?? errors[0])).toMatch(/broke off/);
  });
});

describe('a run that waits for a form', () => {
  it('says so to a client that streams', async () => {
    const { langchain, aiSdk } = await serve(FORM);
    const pieces: string[] = [];
    for await (const { content } of await langchain.stream('go')) pieces.push(String(content));
    const said = pieces.join('');
    expect(said).toContain('Where to?');
    expect(said).toContain('city (City)');
    expect(said).toContain('session_id');
    const { text } = streamText({ model: aiSdk, prompt: 'go', maxRetries: 0 });
    expect(await text).toContain('Where to?');
  });

  it('is a refusal that has the question and the session, with which the client answers', async () => {
    const { openai, agent } = await serve(FORM);
    const asked = await openai.chat.completions.create({ model: agent, messages: asks('go') }).catch((error) => error);
    expect(asked).toBeInstanceOf(APIError);
    expect(asked.status).toBe(409);
    expect(asked.message).toContain('Where to?');
    const { session_id } = asked.error;
    expect(asked.message).toContain(session_id);
    const body = { model: agent, messages: asks('x'), session_id, inputs: { city: 'Oslo' } };
    const answered = await openai.chat.completions.create(body);
    expect(answered.choices[0]?.message.content).toBe('to Oslo');
  });
});

describe('a request', () => {
  it('that names no agent takes the model for it', async () => {
    const { server, agent } = await serve(ECHO);
    const openai = new OpenAI({ baseURL: `${server.url}/api/v1/agents`, apiKey: 'none', maxRetries: 0 });
    const { choices } = await openai.chat.completions.create({ model: agent, messages: asks('hi') });
    expect(choices[0]?.message.content).toBe('you said hi');
  });

  it.each([
    ['without a flag', {}],
    ['with the flag', { 'openai-compatible': true }],
  ])('whose model is no agent is an exception, %s', async (_, flag) => {
    const { server } = await serve(ECHO);
    const openai = new OpenAI({ baseURL: `${server.url}/api/v1/agents`, apiKey: 'none', maxRetries: 0 });
    const create = (model: string) =>
      openai.chat.completions.create({ ...flag, model, messages: asks('hi') } as { model: string; messages: [] });
    await expect(create('gpt-4o')).rejects.toMatchObject({ status: 403, message: expect.stringContaining('gpt-4o') });
    await expect(create('')).rejects.toMatchObject({ status: 400, message: expect.stringContaining('agent_id') });
  });

  it('finds its agent in the list of models', async () => {
    const { openai, agent } = await serve(ECHO);
    const { data } = await openai.models.list();
    expect(data).toMatchObject([{ id: agent, object: 'model', created: expect.any(Number), owned_by: 'local' }]);
    expect(await openai.models.retrieve(agent)).toMatchObject({ id: agent });
  });

  it.each([
    ['an image', { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } }],
    ['a sound', { type: 'input_audio' as const, input_audio: { data: 'AAAA', format: 'wav' as const } }],
  ])('with %s is refused: nothing of it would reach the agent', async (_, part) => {
    const { openai, agent } = await serve(ECHO);
    const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'what is this?' }, part] }];
    const refused = openai.chat.completions.create({ model: agent, messages });
    await expect(refused).rejects.toMatchObject({ status: 400, message: expect.stringContaining(part.type) });
  });
});

describe('a client that leaves', () => {
  it('ends its run: it has no way to come back', async () => {
    const { server, openai, agent } = await serve(PROBE);
    const leaving = new AbortController();
    const chunks = await openai.chat.completions.create(
      { model: agent, messages: asks('go'), stream: true },
      { signal: leaving.signal },
    );
    const probe = await server.probes.next();
    probe.say('half');
    for await (const { choices } of chunks) {
      expect(choices[0]?.delta.content).toBe('half');
      leaving.abort();
      break;
    }
    await probe.stopped;
  });

  it('ends a run that it waits for without a stream', async () => {
    const { server, openai, agent } = await serve(PROBE);
    const leaving = new AbortController();
    const request = { model: agent, messages: asks('go') };
    const answer = openai.chat.completions.create(request, { signal: leaving.signal });
    answer.catch(() => {});
    const probe = await server.probes.next();
    leaving.abort();
    await probe.stopped;
  });

  it('leaves a run alone that was started with detach', async () => {
    const { server, openai, agent } = await serve(PROBE);
    const leave = async (more: object) => {
      const request = { model: agent, messages: asks('go'), stream: true as const, ...more };
      const { data: chunks, response } = await openai.chat.completions.create(request).withResponse();
      const probe = await server.probes.next();
      probe.say('half');
      // Ending the loop closes the connection.
      for await (const _ of chunks) break;
      return { probe, run: response.headers.get('x-run-id') };
    };
    const detached = await leave({ detach: true });
    const other = await leave({});
    await other.probe.stopped;
    expect(detached.probe.isStopped).toBe(false);
    detached.probe.settle();
    const rest = await fetch(`${server.url}/api/v1/agents/${agent}/runs/${detached.run}/events`);
    expect(await rest.text()).toContain('"event":"workflow_finished"');
  });
});
