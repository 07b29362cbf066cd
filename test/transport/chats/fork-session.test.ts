/** Asking a question of a session differently, in a session of its own. */
import { describe, expect, it } from 'vitest';
import { createMemoryStores } from '../../../src/stores/memory-stores.js';
import { startServer, type TestServer } from '../support/server.js';

const CHATS = '/api/v1/chats';
const TENANT = 'local';

async function withTalk(questions: readonly string[]) {
  const stores = createMemoryStores();
  const server = await startServer({ stores });
  const { call } = server;
  const body = { name: 'chat', prompt_config: { prologue: 'Welcome' } };
  const chat: string = (await call('POST', CHATS, body)).body.data.id;
  const session: string = (await call('POST', `${CHATS}/${chat}/sessions`, { name: 'Talk' })).body.data.id;
  for (const question of questions) await ask(server, chat, session, question);
  return { server, stores, chat, session };
}

async function ask({ call }: TestServer, chat: string, session: string, question: string): Promise<void> {
  const { body } = await call('POST', `${CHATS}/${chat}/completions`, { question, session_id: session, stream: false });
  expect(body.code).toBe(0);
}

const read = async ({ call }: TestServer, chat: string, session: string) =>
  (await call('GET', `${CHATS}/${chat}/sessions/${session}`)).body.data;

const fork = async ({ call }: TestServer, chat: string, session: string, body: object) =>
  (await call('POST', `${CHATS}/${chat}/sessions/${session}/fork`, body)).body;

type Said = { readonly role: string; readonly content: string; readonly id?: string };

const questions = ({ messages }: { messages: readonly Said[] }) =>
  messages.filter(({ role }) => role === 'user').map(({ content }) => content);

const idOf = ({ messages }: { messages: readonly Said[] }, question: string) =>
  messages.find(({ role, content }) => role === 'user' && content === question)?.id;

/** Questions that the chat of a session remembers. */
const told = async (stores: ReturnType<typeof createMemoryStores>, session: string) =>
  (await stores.chats?.messages(TENANT, session, { limit: 100 }))
    ?.filter(({ role }) => role === 'user')
    .map(({ content }) => content);

describe('a fork of a session', () => {
  it('has what was said before the question, says where it comes from, and leaves the other one as it was', async () => {
    const { server, stores, chat, session } = await withTalk(['hello', 'good day', 'thanks']);
    const before = await read(server, chat, session);
    const message = idOf(before, 'good day');
    const { code, data } = await fork(server, chat, session, { message_id: message, name: 'good evening' });
    expect([code, data.name, data.forked_from]).toEqual([
      0,
      'good evening',
      { session_id: session, message_id: message },
    ]);
    expect(data.id).not.toBe(session);
    expect(data.messages).toEqual(before.messages.slice(0, 3));
    expect(data.reference).toEqual(before.reference.slice(0, 1));
    await ask(server, chat, data.id, 'good evening');
    expect(questions(await read(server, chat, data.id))).toEqual(['hello', 'good evening']);
    expect(await told(stores, data.id)).toEqual(['hello', 'good evening']);
    expect(await read(server, chat, session)).toEqual(before);
    expect(await told(stores, session)).toEqual(['hello', 'good day', 'thanks']);
    expect(before).not.toHaveProperty('forked_from');
  });

  it('of its first question begins anew', async () => {
    const { server, stores, chat, session } = await withTalk(['hello', 'thanks']);
    const before = await read(server, chat, session);
    const { data } = await fork(server, chat, session, { message_id: idOf(before, 'hello') });
    expect([data.name, data.messages]).toEqual(['Talk', before.messages.slice(0, 1)]);
    expect(await told(stores, data.id)).toEqual([]);
  });

  it('can be forked again, and forgets what is deleted of what it took over', async () => {
    const { server, stores, chat, session } = await withTalk(['hello', 'good day', 'thanks']);
    const before = await read(server, chat, session);
    const first = (await fork(server, chat, session, { message_id: idOf(before, 'thanks') })).data;
    await ask(server, chat, first.id, 'bye');
    const second = (await fork(server, chat, first.id, { message_id: idOf(before, 'good day') })).data;
    expect([questions(second), await told(stores, second.id)]).toEqual([['hello'], ['hello']]);
    await server.call('DELETE', `${CHATS}/${chat}/sessions/${first.id}/messages/${idOf(before, 'hello')}`);
    expect(questions(await read(server, chat, first.id))).toEqual(['good day', 'bye']);
    expect(await told(stores, first.id)).toEqual(['good day', 'bye']);
    expect(await told(stores, session)).toEqual(['hello', 'good day', 'thanks']);
  });

  it.each([
    [undefined, 101, /message_id/],
    ['nowhere', 102, /received "nowhere"/],
    [7, 101, /message_id/],
  ])('of the question %s is refused', async (message, code, text) => {
    const { server, chat, session } = await withTalk(['hello']);
    expect(await fork(server, chat, session, { message_id: message })).toMatchObject({
      code,
      message: expect.stringMatching(text),
    });
  });

  it('is not for others', async () => {
    const { server, chat, session } = await withTalk(['hello']);
    const message_id = idOf(await read(server, chat, session), 'hello');
    const other = (await server.call('POST', CHATS, { name: 'other' })).body.data.id;
    expect((await fork(server, other, session, { message_id })).code).toBe(102);
    expect((await fork(server, chat, 'nowhere', { message_id })).code).toBe(102);
  });
});
