import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { startFakeModel } from '../support/fake-model.js';
import { startServer, type TestServer } from '../support/server.js';

const PATH = '/api/v1/chat/completions';
const modelsAt = (url: string): string =>
  JSON.stringify({ factories: { Fake: { base_url: url } }, defaults: { chat: 'talker@Fake' } });
const QUESTION = 'what is there to say about rivers';

async function newChat({ call }: TestServer): Promise<string> {
  return (await call('POST', '/api/v1/chats', { name: 'chat', prompt_config: { prologue: 'Welcome' } })).body.data.id;
}

/** The frames of a stream: what `data:` lines hold. */
async function framesOf({ url }: TestServer, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}${PATH}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data:'));
  return lines.map((line) => JSON.parse(line.slice('data:'.length)));
}

async function startAnswering(...pieces: readonly string[]) {
  const model = await startFakeModel();
  const server = await startServer({ models: modelsAt(model.url) });
  const answerNext = async (): Promise<void> => {
    const call = await model.next();
    for (const piece of pieces) call.say(piece);
    call.finish();
  };
  return { server, model, answerNext };
}

describe('questions to assistants', () => {
  it('stream pieces, the whole answer, and true at the end', async () => {
    const { server, answerNext } = await startAnswering('Much ', 'water');
    const chat_id = await newChat(server);
    const [frames] = await Promise.all([framesOf(server, { chat_id, question: QUESTION }), answerNext()]);
    const pieces = frames.slice(0, -2).map(({ data }) => data);
    expect(pieces.map(({ answer }) => answer).join('')).toBe('Much water');
    expect(pieces[0]).toMatchObject({ final: false, chat_id, reference: { chunks: [] }, audio_binary: null });
    expect(frames.at(-2)).toMatchObject({
      code: 0,
      message: '',
      data: { answer: 'Much water', final: true, reference: { total: 0, chunks: [], doc_aggs: [] }, chat_id },
    });
    expect(frames.at(-1)).toEqual({ code: 0, message: '', data: true });
    const { session_id, id } = pieces[0];
    const { body } = await server.call('GET', `/api/v1/chats/${chat_id}/sessions/${session_id}`);
    expect(body.data.messages).toMatchObject([
      { content: 'Welcome' },
      { content: QUESTION, id },
      { content: 'Much water', id },
    ]);
  });

  it('can be come back to, behind any frame', async () => {
    const { server, answerNext } = await startAnswering('Much ', 'wa', 'ter');
    const chat = await newChat(server);
    const ask = fetch(`${server.url}${PATH}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ chat_id: chat, question: QUESTION }),
    });
    const [response] = await Promise.all([ask, answerNext()]);
    const whole = await response.text();
    const path = `/api/v1/chats/${chat}/runs/${response.headers.get('x-run-id')}/events`;
    const again = async (after: string) =>
      (await fetch(`${server.url}${path}`, { headers: { 'last-event-id': after } })).text();
    expect(await again('0')).toBe(whole);
    const ids = [...whole.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id as string);
    expect(ids.length).toBeGreaterThan(1);
    for (const id of ids) {
      const end = whole.indexOf('\n\n', whole.indexOf(`id: ${id}\n`)) + 2;
      expect(await again(id)).toBe(whole.slice(end));
    }
    expect((await server.call('GET', path.replace(chat, 'other'))).body).toMatchObject({ code: 109 });
    expect((await server.call('GET', path.replace('/events', 'x/events'))).body).toMatchObject({
      code: 102,
      message: 'Run not found.',
    });
  });

  it('stream the whole text so far to old clients', async () => {
    const { server, answerNext } = await startAnswering('Much ', 'water');
    const body = { chat_id: await newChat(server), question: QUESTION, legacy: true };
    const [frames] = await Promise.all([framesOf(server, body), answerNext()]);
    const answers = frames.slice(0, -1).map(({ data }) => data.answer as string);
    expect(answers.at(-1)).toBe('Much water');
    for (const [at, answer] of answers.entries()) expect(answer.startsWith(answers[at - 1] ?? '')).toBe(true);
  });

  it('are answered at once without a stream', async () => {
    const server = await startServer();
    const chat_id = await newChat(server);
    const session = (await server.call('POST', `/api/v1/chats/${chat_id}/sessions`, {})).body.data.id;
    const sent = { chat_id, session_id: session, messages: [{ role: 'user', content: QUESTION }], stream: false };
    const { body } = await server.call('POST', PATH, sent);
    expect(body).toMatchObject({ code: 0, data: { session_id: session, chat_id, audio_binary: null } });
    expect(body.data.answer).not.toBe('');
  });

  it('without an assistant, or without history, leave no session', async () => {
    const server = await startServer();
    const chat_id = await newChat(server);
    const alone = await server.call('POST', PATH, { question: QUESTION, stream: false });
    expect(alone.body.data.session_id).toBe('');
    expect(alone.body.data).not.toHaveProperty('chat_id');
    const flags = { pass_all_history_messages: true, store_history_messages: false };
    const kept = await server.call('POST', PATH, { chat_id, question: QUESTION, stream: false, ...flags });
    expect(kept.body.data.session_id).toBeNull();
    expect((await server.call('GET', `/api/v1/chats/${chat_id}/sessions`)).body.data).toEqual([]);
  });

  it('in an older session are answered by the assistant as it is now', async () => {
    const { server, answerNext } = await startAnswering('Much');
    const chat_id = await newChat(server);
    const session_id = (await server.call('POST', `/api/v1/chats/${chat_id}/sessions`, {})).body.data.id;
    await server.call('PATCH', `/api/v1/chats/${chat_id}`, { prompt_config: { system: 'Speak of whales.' } });
    await Promise.all([framesOf(server, { chat_id, session_id, question: QUESTION }), answerNext()]);
    const stored = await server.stores.sessions.find('local', session_id);
    expect(JSON.stringify(stored?.dsl)).toContain('Speak of whales.');
  });

  it.each([
    ['nothing', {}, 101, 'required argument are missing: messages'],
    ['no messages', { messages: [] }, 101, '`messages` must be a non-empty list.'],
    ['a message that is none', { messages: ['x'] }, 101, 'Every item in `messages` must be an object.'],
    [
      'a message without content',
      { messages: [{ role: 'user' }] },
      101,
      'Every item in `messages` must include `role` and `content`.',
    ],
    ['no question', { messages: [{ role: 'system', content: 'x' }] }, 101, '`messages` must contain a user message.'],
    [
      'an answer last',
      {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: 'y' },
        ],
      },
      101,
      'The last message must be from user.',
    ],
    ['an empty question', { question: ' ' }, 102, 'Please input your question.'],
    [
      'a session alone',
      { question: 'x', session_id: 's' },
      102,
      '`chat_id` is required when `session_id` is provided.',
    ],
    ['an assistant that is not there', { question: 'x', chat_id: 'c' }, 109, 'no authorization'],
    [
      'no history at all',
      { question: 'x', store_history_messages: false },
      102,
      '`pass_all_history_messages` must be true when `store_history_messages` is false.',
    ],
  ])('refuse %s', async (_name, sent, code, message) => {
    const { call } = await startServer();
    expect((await call('POST', PATH, { ...sent, stream: true })).body).toMatchObject({ code, message });
  });

  it('refuse a session that is not there', async () => {
    const server = await startServer();
    const { body } = await server.call('POST', PATH, {
      chat_id: await newChat(server),
      session_id: 'x',
      question: 'y',
    });
    expect(body).toEqual({ code: 102, message: 'Session not found!' });
  });
});

describe("clients of OpenAI's API", () => {
  const clientOf = ({ url }: TestServer, chat: string) =>
    new OpenAI({ baseURL: `${url}/api/v1/openai/${chat}`, apiKey: 'none', maxRetries: 0 });

  it('ask an assistant, with and without a stream', async () => {
    const { server, answerNext } = await startAnswering('Much ', 'water');
    const chat = await newChat(server);
    const { chat: api } = clientOf(server, chat);
    const messages = [{ role: 'user', content: QUESTION }] as const;
    const [one] = await Promise.all([
      api.completions.create({ model: 'model', messages: [...messages] }),
      answerNext(),
    ]);
    expect(one.choices[0]?.message).toMatchObject({ role: 'assistant', content: 'Much water' });
    expect(one.usage?.total_tokens).toBeGreaterThan(0);
    const [texts] = await Promise.all([
      (async () => {
        let text = '';
        const stream = await api.completions.create({ model: chat, messages: [...messages], stream: true });
        for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
        return text;
      })(),
      answerNext(),
    ]);
    expect(texts).toBe('Much water');
    expect((await server.call('GET', `/api/v1/chats/${chat}/sessions`)).body.data).toEqual([]);
  });

  it('are refused with real statuses', async () => {
    const server = await startServer();
    const chat = await newChat(server);
    const path = `/api/v1/openai/${chat}/chat/completions`;
    const messages = [{ role: 'user', content: 'x' }];
    const refusalOf = async (body: object, to = path) => {
      const { status, body: refused } = await server.call('POST', to, body);
      return [status, refused.error.message];
    };
    expect(await refusalOf({ messages: [] })).toEqual([400, 'You have to provide messages.']);
    expect(await refusalOf({ messages: [{ role: 'assistant', content: 'x' }] })).toEqual([
      400,
      'The last content of this conversation is not from user.',
    ]);
    expect(await refusalOf({ messages, extra_body: 'x' })).toEqual([400, 'extra_body must be an object.']);
    expect(await refusalOf({ messages, extra_body: { metadata_condition: 'x' } })).toEqual([
      400,
      'metadata_condition must be an object.',
    ]);
    expect(await refusalOf({ messages }, '/api/v1/openai/unknown/chat/completions')).toEqual([404, 'no authorization']);
  });
});

describe('suggestions', () => {
  it.each(['/chat/recommendation', '/chat/recommandation', '/chat/mindmap'])('need a model: %s', async (path) => {
    const { call } = await startServer();
    const { body } = await call('POST', `/api/v1${path}`, { question: 'x', kb_ids: [] });
    expect(body).toMatchObject({ code: 102, message: expect.stringContaining('No chat model is configured') });
  });

  it('need a question', async () => {
    const { call } = await startServer();
    const { body } = await call('POST', '/api/v1/chat/recommendation', {});
    expect(body).toMatchObject({ code: 101, message: 'required argument are missing: question; ' });
  });
});
