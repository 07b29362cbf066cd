import { describe, expect, it } from 'vitest';
import { startFakeModel } from '../support/fake-model.js';
import { startServer, type TestServer } from '../support/server.js';

const CHATS = '/api/v1/chats';
const KEYS = { RUNNEL_API_KEYS: 'one=key-of-one-0123456789abcdef,two=key-of-two-0123456789abcdef' };
const ONE = { authorization: 'Bearer key-of-one-0123456789abcdef' };
const TWO = { authorization: 'Bearer key-of-two-0123456789abcdef' };

async function newChat({ call }: TestServer, more: object = {}, headers?: Record<string, string>): Promise<string> {
  const { body } = await call(
    'POST',
    CHATS,
    { name: 'chat', prompt_config: { prologue: 'Welcome' }, ...more },
    headers,
  );
  return body.data.id;
}

async function newSession({ call }: TestServer, chat: string, body: object = {}): Promise<string> {
  return (await call('POST', `${CHATS}/${chat}/sessions`, body)).body.data.id;
}

const ask = async ({ call }: TestServer, chat: string, session: string, question: string) =>
  (await call('POST', `${CHATS}/${chat}/completions`, { question, session_id: session, stream: false })).body;

const read = async ({ call }: TestServer, chat: string, session: string) =>
  (await call('GET', `${CHATS}/${chat}/sessions/${session}`)).body.data;

const modelsAt = (url: string): string =>
  JSON.stringify({ factories: { Fake: { base_url: url } }, defaults: { chat: 'talker@Fake' } });

const busy = { code: 103, message: 'This agent session is already running.' };

describe('sessions with assistants', () => {
  it('begin with the prologue, and tell what they are', async () => {
    const server = await startServer({ now: () => 1_000_000 });
    const chat = await newChat(server, { icon: 'data:,x' });
    const { body } = await server.call('POST', `${CHATS}/${chat}/sessions`, { name: ' Talk ' });
    expect(body.data).toMatchObject({
      chat_id: chat,
      name: 'Talk',
      user_id: 'local',
      messages: [{ role: 'assistant', content: 'Welcome', created_at: 1_000 }],
      reference: [],
    });
    expect(await read(server, chat, body.data.id)).toEqual({ ...body.data, avatar: 'data:,x' });
  });

  it.each([
    ['empty', ''],
    ['blank', ' '],
    ['no text', 1],
  ])('refuse a name that is %s', async (_name, name) => {
    const server = await startServer();
    const chat = await newChat(server);
    const refused = { code: 102, message: '`name` can not be empty' };
    expect((await server.call('POST', `${CHATS}/${chat}/sessions`, { name })).body).toEqual(refused);
    const session = await newSession(server, chat);
    expect((await server.call('PATCH', `${CHATS}/${chat}/sessions/${session}`, { name })).body).toEqual(refused);
  });

  it('are renamed, and change in nothing else', async () => {
    const server = await startServer();
    const chat = await newChat(server);
    const session = await newSession(server, chat);
    const patch = async (body: object) =>
      (await server.call('PATCH', `${CHATS}/${chat}/sessions/${session}`, body)).body;
    expect((await patch({ name: 'a'.repeat(256), id: 'x', user_id: 'x' })).data).toMatchObject({
      id: session,
      name: 'a'.repeat(255),
      user_id: 'local',
    });
    expect((await patch({})).data.id).toBe(session);
    expect(await patch({ messages: [] })).toEqual({ code: 102, message: '`messages` cannot be changed' });
    expect(await patch({ reference: [] })).toEqual({ code: 102, message: '`reference` cannot be changed' });
    const unknown = await server.call('PATCH', `${CHATS}/${chat}/sessions/x`, { name: 'b' });
    expect(unknown.body).toEqual({ code: 102, message: 'Session not found!' });
  });

  it.each([
    ['', ['c', 'b', 'a']],
    ['desc=false', ['a', 'b', 'c']],
    ['orderby=name&desc=False&page=2&page_size=2', ['c']],
    ['name=b', ['b']],
    ['name=x', []],
    ['id=x', []],
    ['user_id=u', ['c']],
  ])('are a bare list with ?%s', async (query, expected) => {
    let time = 1_000;
    const server = await startServer({ now: () => (time += 1_000) });
    const chat = await newChat(server);
    for (const name of ['a', 'b', 'c']) await newSession(server, chat, { name, ...(name === 'c' && { user_id: 'u' }) });
    const { body } = await server.call('GET', `${CHATS}/${chat}/sessions?${query}`);
    expect(body.data.map(({ name }: { readonly name: string }) => name)).toEqual(expected);
  });

  it('are deleted by ids or all at once', async () => {
    const server = await startServer();
    const [chat, other] = [await newChat(server), await newChat(server, { name: 'other' })];
    const ids = [await newSession(server, chat), await newSession(server, chat), await newSession(server, chat)];
    const foreign = await newSession(server, other);
    const remove = async (body: unknown) => (await server.call('DELETE', `${CHATS}/${chat}/sessions`, body)).body;
    expect(await remove({ ids: [foreign] })).toEqual({
      code: 102,
      message: `The chat doesn't own the session ${foreign}`,
    });
    expect(await remove({ ids: [ids[0], 'x', ids[0]] })).toMatchObject({
      code: 0,
      data: { success_count: 1, errors: ["The chat doesn't own the session x", `Duplicate session ids: ${ids[0]}`] },
    });
    expect(await remove({ ids: [ids[1]] })).toMatchObject({ code: 0, data: true });
    expect(await remove('not json')).toMatchObject({ code: 101, message: expect.stringContaining('Malformed JSON') });
    expect(await remove({ delete_all: true })).toMatchObject({ code: 0, data: true });
    expect(await remove({ delete_all: true })).toMatchObject({ code: 0, data: {} });
    expect((await server.call('GET', `${CHATS}/${chat}/sessions`)).body.data).toEqual([]);
    expect((await read(server, other, foreign)).id).toBe(foreign);
  });

  it('hold questions and answers under one id, which deletes both and takes feedback', async () => {
    const server = await startServer();
    const chat = await newChat(server);
    const session = await newSession(server, chat);
    const first = await ask(server, chat, session, 'the first question of all');
    const second = await ask(server, chat, session, 'the second question of all');
    const path = `${CHATS}/${chat}/sessions/${session}/messages`;
    const told = await server.call('PUT', `${path}/${second.data.id}/feedback`, {
      thumbup: false,
      feedback: 'too short',
    });
    expect(told.body.data.messages.at(-1)).toMatchObject({ role: 'assistant', thumbup: false, feedback: 'too short' });
    const praised = await server.call('PUT', `${path}/${second.data.id}/feedback`, { thumbup: true, feedback: 'x' });
    expect(praised.body.data.messages.at(-1)).not.toHaveProperty('feedback');
    const wrong = await server.call('PUT', `${path}/${second.data.id}/feedback`, { thumbup: 'yes' });
    expect(wrong.body).toEqual({ code: 102, message: 'thumbup must be a boolean' });
    const { body } = await server.call('DELETE', `${path}/${first.data.id}`);
    expect(body.data.messages.map(({ content }: { readonly content: string }) => content)).toEqual([
      'Welcome',
      'the second question of all',
      second.data.answer,
    ]);
    expect(body.data.messages.slice(1).map(({ id }: { readonly id: string }) => id)).toEqual([
      second.data.id,
      second.data.id,
    ]);
    const stored = await server.stores.sessions.find('local', session);
    expect(JSON.stringify(stored)).not.toContain('the first question');
    expect((await server.call('DELETE', `${path}/unknown`)).body.data.messages).toHaveLength(3);
  });

  it('are not changed while a question is answered, and go away with their run', async () => {
    const model = await startFakeModel();
    const server = await startServer({ models: modelsAt(model.url) });
    const chat = await newChat(server);
    const session = await newSession(server, chat);
    const asked = ask(server, chat, session, 'what is there to say about rivers');
    const call = await model.next();
    call.say('Much');
    expect((await server.call('PATCH', `${CHATS}/${chat}/sessions/${session}`, { name: 'b' })).body).toMatchObject(
      busy,
    );
    expect(await ask(server, chat, session, 'and lakes')).toMatchObject(busy);
    const { body } = await server.call('DELETE', `${CHATS}/${chat}/sessions`, { ids: [session] });
    expect(body).toMatchObject({ code: 0, data: true });
    await call.closed;
    expect(await asked).toMatchObject({ code: 103 });
    expect(await server.stores.sessions.find('local', session)).toBeUndefined();
    expect(await server.stores.chats?.messages('local', session, { limit: 10 })).toEqual([]);
  });

  it('of other tenants do not exist', async () => {
    const server = await startServer({ env: KEYS });
    const [mine, theirs] = [await newChat(server, {}, ONE), await newChat(server, {}, TWO)];
    const { body } = await server.call('POST', `${CHATS}/${mine}/sessions`, {}, ONE);
    const missing = { code: 102, message: 'Session not found!' };
    const path = `${CHATS}/${theirs}/sessions/${body.data.id}`;
    expect((await server.call('GET', path, undefined, TWO)).body).toEqual(missing);
    expect((await server.call('PATCH', path, { name: 'b' }, TWO)).body).toEqual(missing);
    expect((await server.call('DELETE', `${path}/messages/x`, undefined, TWO)).body).toEqual(missing);
    const question = { question: 'x', session_id: body.data.id };
    expect((await server.call('POST', `${CHATS}/${theirs}/completions`, question, TWO)).body).toEqual(missing);
  });
});
