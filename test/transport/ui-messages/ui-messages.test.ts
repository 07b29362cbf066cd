/** Conversations over the published client of the AI SDK, over real sockets. */
import { Chat } from '@ai-sdk/react';
import {
  type ChatInit,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { textsOf } from '../../ui-messages/support/read-chunks.js';
import { example, exampleModels } from '../../web/support/conversation.js';
import { ECHO, FORM, PROBE } from '../support/documents.js';
import { startServer, type TestServer, type TestServerOptions } from '../support/server.js';

type Init = Partial<ChatInit<UIMessage>> & { readonly agent: string; readonly headers?: Record<string, string> };

const OWNER = { authorization: 'Bearer one-of-acme-long-key' };

/** A chat as `useChat` makes it, and the errors that it shows. */
function chatWith(server: TestServer, { agent, headers = {}, ...init }: Init): Chat<UIMessage> {
  const api = `${server.url}/api/v1/agents/${agent}/ui-messages`;
  return new Chat({ transport: new DefaultChatTransport({ api, headers }), ...init });
}

async function serve(dsl: JsonObject, options: TestServerOptions = {}) {
  const server = await startServer(options);
  const agent = await server.agent(dsl);
  return { server, agent };
}

const last = (chat: Chat<UIMessage>): UIMessage => chat.messages.at(-1) as UIMessage;
const textOf = (chat: Chat<UIMessage>): string => textsOf(last(chat)).join('');

/** Resolves when what a chat has fits; it is looked at whenever a chunk has come. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

describe('a chat of the AI SDK', () => {
  it('asks, and asks again in the same session', async () => {
    const { server, agent } = await serve(ECHO);
    const chat = chatWith(server, { agent, id: 'chat-1' });
    await chat.sendMessage({ text: 'hello' });
    expect(chat.error).toBeUndefined();
    expect(textOf(chat)).toBe('you said hello');
    await chat.sendMessage({ text: 'again' });
    expect(textOf(chat)).toBe('you said again');
    expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(last(chat).metadata).toMatchObject({ session: 'chat-1', run: last(chat).id });
    const { body } = await server.call('GET', `/api/v1/agents/${agent}/sessions/chat-1`);
    expect(body.data.message.map(({ content }: { content: string }) => content)).toEqual([
      'hello',
      'you said hello',
      'again',
      'you said again',
    ]);
  });

  it('says its protocol, and takes what an earlier page had said as the history of a new session', async () => {
    const { server, agent } = await serve(ECHO);
    const message = (role: string, text: string) => ({ id: text, role, parts: [{ type: 'text', text }] });
    const answer = await fetch(`${server.url}/api/v1/agents/${agent}/ui-messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        id: 'c',
        messages: [message('user', 'one'), message('assistant', 'two'), message('user', 'three')],
      }),
    });
    expect(answer.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const text = await answer.text();
    expect(text.startsWith('data: {"type":"start"')).toBe(true);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    const run = answer.headers.get('x-run-id');
    const { body } = await server.call('GET', `/api/v1/agents/${agent}/runs/${run}/state`);
    expect(JSON.stringify(body.data)).toContain('assistant: two');
  });

  it('answers a form as the output of a call, in the same message', async () => {
    const { server, agent } = await serve(FORM);
    const chat = chatWith(server, {
      agent,
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    });
    await chat.sendMessage({ text: 'go' });
    const asked = last(chat).parts.find(({ type }) => type === 'tool-ask') as Record<string, unknown> | undefined;
    expect(asked).toMatchObject({
      state: 'input-available',
      input: { node: 'UserFillUp:B', tips: 'Where to?', inputs: { city: { name: 'City' } } },
    });
    await chat.addToolOutput({ tool: 'ask', toolCallId: String(asked?.toolCallId), output: { city: 'Oslo' } });
    await until(() => chat.status === 'ready' && textOf(chat) !== '');
    expect(textOf(chat)).toBe('to Oslo');
    expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    const { body } = await server.call('GET', `/api/v1/agents/${agent}/runs`);
    expect(body.data.map(({ status }: { status: string }) => status)).toEqual(['succeeded', 'waiting']);
  });

  it('approves and declines calls of an agent', async () => {
    const dsl = JSON.parse(JSON.stringify(await example('agent')));
    dsl.components['Agent:Guide'].obj.params.require_approval = ['*'];
    const { server, agent } = await serve(dsl, { models: await exampleModels('agent') });
    const chat = chatWith(server, {
      agent,
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    });
    await chat.sendMessage({ text: 'How old is the Golden Gate Bridge?' });
    const calls = last(chat).parts.flatMap((part) => ('approval' in part ? [part] : []));
    expect(calls).toMatchObject([{ state: 'approval-requested' }, { state: 'approval-requested' }]);
    expect(calls.every(({ input }) => Object.keys(input as object).length > 0)).toBe(true);
    const ids = calls.map(({ approval }) => String(approval?.id));
    await chat.addToolApprovalResponse({ id: String(ids[0]), approved: true });
    await chat.addToolApprovalResponse({ id: String(ids[1]), approved: false, reason: 'too dear' });
    await until(() => chat.status === 'ready' && textOf(chat) !== '');
    expect(chat.error).toBeUndefined();
    const ended = last(chat).parts.flatMap((part) => ('toolCallId' in part ? [part.state] : []));
    expect(ended).toContain('output-denied');
    expect(ended).toContain('output-available');
    expect(ended).not.toContain('approval-responded');
  });

  it('goes on after a reload in the middle, from the beginning of the message', async () => {
    const { server, agent } = await serve(PROBE);
    const first = chatWith(server, { agent, id: 'c' });
    const sent = first.sendMessage({ text: 'go' });
    const probe = await server.probes.next();
    probe.say('one ');
    await until(() => first.messages.length === 2 && textOf(first) === 'one ');
    await first.stop();
    await sent;
    probe.say('two ');
    const second = chatWith(server, { agent, id: 'c', messages: JSON.parse(JSON.stringify(first.messages)) });
    const resumed = second.resumeStream();
    await until(() => textOf(second) === 'one two ');
    probe.say('three');
    probe.settle('one two three');
    await resumed;
    expect(second.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(textOf(second)).toBe('one two three');
    expect(second.status).toBe('ready');
    // Nothing is at work any more.
    await second.resumeStream();
    expect([second.status, second.messages.length]).toEqual(['ready', 2]);
  });

  it('comes back to a message that several runs have made', async () => {
    const dsl = JSON.parse(JSON.stringify(FORM));
    dsl.components['Message:C'] = { obj: { component_name: 'Probe', params: {} }, downstream: [], upstream: [] };
    const { server, agent } = await serve(dsl);
    const chat = chatWith(server, {
      agent,
      id: 'c',
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    });
    await chat.sendMessage({ text: 'go' });
    const { id } = last(chat);
    const asked = last(chat).parts.find(({ type }) => type === 'tool-ask') as Record<string, unknown> | undefined;
    await chat.addToolOutput({ tool: 'ask', toolCallId: String(asked?.toolCallId), output: { city: 'Oslo' } });
    const probe = await server.probes.next();
    probe.say('to Oslo');
    await until(() => textOf(chat) === 'to Oslo');
    const other = chatWith(server, { agent, id: 'c', messages: chat.messages.slice(0, 1) });
    const resumed = other.resumeStream();
    await until(() => textOf(other) === 'to Oslo');
    probe.settle('to Oslo');
    await resumed;
    expect(last(other).id).toBe(id);
    expect(other.messages).toHaveLength(2);
    expect(last(other).parts.map((part) => ('state' in part ? [part.type, part.state] : [part.type]))).toEqual([
      ['step-start'],
      ['tool-ask', 'output-available'],
      ['step-start'],
      ['text', 'done'],
    ]);
  });

  it('stops for good, which a page that leaves does not', async () => {
    const { server, agent } = await serve(PROBE);
    const chat = chatWith(server, { agent, id: 'c' });
    const sent = chat.sendMessage({ text: 'go' });
    const probe = await server.probes.next();
    probe.say('half');
    await until(() => chat.messages.length === 2 && textOf(chat) === 'half');
    await chat.stop();
    await sent;
    expect(probe.isStopped).toBe(false);
    const { body } = await server.call('POST', `/api/v1/agents/${agent}/ui-messages/c/stop`);
    expect(body).toMatchObject({ code: 0, data: true });
    await probe.stopped;
    const { status } = await fetch(`${server.url}/api/v1/agents/${agent}/ui-messages/c/stream`);
    expect(status).toBe(204);
  });

  it('shows why a run failed', async () => {
    const { server, agent } = await serve(PROBE);
    const chat = chatWith(server, { agent });
    const sent = chat.sendMessage({ text: 'go' });
    (await server.probes.next()).fail(new Error('secret'));
    await sent;
    expect(chat.status).toBe('error');
    expect(chat.error?.message).not.toBe('');
  });
});

describe('what a chat may not do', () => {
  const post = (server: TestServer, agent: string, body: object, headers = {}) =>
    server.call('POST', `/api/v1/agents/${agent}/ui-messages`, body, headers);
  const question = { role: 'user', parts: [{ type: 'text', text: 'x' }] };

  it.each<[string, object, RegExp]>([
    ['no id', { messages: [question] }, /`id`/],
    ['no messages', { id: 'c' }, /`messages`/],
    ['an empty list', { id: 'c', messages: [] }, /at least one message/],
    ['a role that there is not', { id: 'c', messages: [{ role: 'robot', parts: [] }] }, /messages\[0\]/],
    ['an answer to nothing', { id: 'c', messages: [question, { role: 'assistant', parts: [] }] }, /answers nothing/],
    [
      'an answer to a run that there is not',
      {
        id: 'c',
        messages: [
          {
            role: 'assistant',
            parts: [{ type: 'tool-ask', toolCallId: 'ask:nope:F#1', state: 'output-available', output: {} }],
          },
        ],
      },
      /answers nothing/,
    ],
  ])('is sending %s', async (_, body, message) => {
    const { server, agent } = await serve(ECHO);
    const { body: answer } = await post(server, agent, body);
    expect(answer.code).not.toBe(0);
    expect(answer.message).toMatch(message);
  });

  it('is entering a chat of another agent, of another page or of another tenant', async () => {
    const env = { RUNNEL_API_KEYS: 'acme=one-of-acme-long-key,other=one-of-other-long-key' };
    const server = await startServer({ env });
    const [agent, another] = [await server.agent(ECHO, OWNER), await server.agent(ECHO, OWNER)];
    const pages = await Promise.all(
      [1, 2].map(async () => (await server.call('POST', '/api/v1/system/tokens', {}, OWNER)).body.data.beta as string),
    );
    const [mine, yours] = pages.map((key) => ({ authorization: `Bearer ${key}` }));
    const [begun, probing] = [server.probes.next(), await server.agent(PROBE, OWNER)];
    const chat = chatWith(server, { agent: probing, id: 'c', headers: mine as Record<string, string> });
    const sent = chat.sendMessage({ text: 'hello' });
    const probe = await begun;
    const body = { id: 'c', messages: [question] };
    expect((await post(server, probing, body, yours)).body.code).not.toBe(0);
    expect((await post(server, another, body, mine)).body.code).not.toBe(0);
    expect((await post(server, agent, { ...body, id: 'd', detach: true }, mine)).status).toBe(403);
    const below = `/api/v1/agents/${probing}/ui-messages/c`;
    const strangers: readonly (Record<string, string> | undefined)[] = [
      yours,
      { authorization: 'Bearer one-of-other-long-key' },
      {},
    ];
    for (const headers of strangers) await server.call('POST', `${below}/stop`, undefined, headers);
    await server.call('POST', `/api/v1/agents/${another}/ui-messages/c/stop`, undefined, OWNER);
    expect((await fetch(`${server.url}${below}/stream`, { headers: yours as Record<string, string> })).status).toBe(
      204,
    );
    expect((await server.call('POST', `${below}/stop`)).status).toBe(401);
    expect(probe.isStopped).toBe(false);
    await server.call('POST', `${below}/stop`, undefined, mine);
    await probe.stopped;
    await sent;
  });

  it('is beginning one chat twice at once', async () => {
    const { server, agent } = await serve(PROBE);
    const body = { id: 'c', messages: [question] };
    const both = [1, 2].map(() =>
      fetch(`${server.url}/api/v1/agents/${agent}/ui-messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
    const probe = await server.probes.next();
    const answers = await Promise.all(both);
    const types = answers.map(({ headers }) => headers.get('content-type')?.split(';')[0]);
    expect(types.toSorted()).toEqual(['application/json', 'text/event-stream']);
    probe.settle('x');
    await Promise.all(answers.map((answer) => answer.text()));
  });
});
