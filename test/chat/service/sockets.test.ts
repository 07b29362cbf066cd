/** What is at work for a chat ends with it, down to the sockets, and leaves nothing behind. */
import { describe, expect, it, vi } from 'vitest';
import type { RunEvent } from '../../../src/graph/events.js';
import { ofType, startChatHost } from './support/chat-host.js';
import { begin, embed, embedAs, say } from './support/held-server.js';

vi.mock(import('../../../src/chat/pipeline/stage-table.js'), async (original) => {
  const table = await original();
  // What a test waits for must not be ended by the limit of its stage on a busy machine.
  const stages = Object.entries(table.STAGES).map(([stage, info]) => [stage, { ...info, limitMs: NEVER_MS }]);
  return { ...table, STAGES: Object.fromEntries(stages) };
});

/** Longer than any test. */
const NEVER_MS = vi.hoisted(() => 600_000);

/** Of a test that hangs. */
const WAIT = { timeout: 100_000, interval: 5 };

/** Calls of a run that count as failed, and the tokens that were counted. */
function billed(events: readonly RunEvent[]) {
  const failed = events.filter((event) => event.type === 'node-call' && 'error' in event.call);
  const tokens = events.reduce((sum, event) => sum + (event.type === 'node-usage' ? event.totalTokens : 0), 0);
  return { failed: failed.length, tokens };
}

const intents = (...kinds: readonly object[]) => say(JSON.stringify({ intents: kinds }));

describe('a short circuit', () => {
  it('A ends the rewrite and the search that are at work; nothing of them is billed or kept', async () => {
    const { upstream, begin: start, ended, before } = await startChatHost();
    const turn = await start('the thing about states');
    await vi.waitFor(() => expect(upstream.open()).toEqual(['chat_intent', 'chat_rewrite', 'embeddings']), WAIT);
    const asked = upstream.arrived.findLast(({ purpose }) => purpose === 'chat_intent');
    if (asked !== undefined) intents({ kind: 'KB', confidence: 0.3 })(asked);
    const first = await ended(turn);
    expect(ofType(first.told, 'shortcut')).toMatchObject([{ kind: 'A', skipped: [5, 6, 7], cancelled: [2] }]);
    expect(first.told.at(-1)).toMatchObject({ type: 'final', shortcut: 'A', model: null });
    await vi.waitFor(() => expect(upstream.open()).toEqual([]), WAIT);
    expect(billed(first.events)).toEqual({ failed: 0, tokens: 7 });
    const { told } = await ended(await start('the thing about states'));
    expect(ofType(told, 'stage_end').find(({ stage }) => stage === 3)).toMatchObject({ status: 'cache_hit', ms: 0 });
    expect(ofType(told, 'stage_end').find(({ stage }) => stage === 2)?.status).not.toBe('cache_hit');
    expect(upstream.arrived.slice(before).filter(({ purpose }) => purpose === 'chat_intent')).toHaveLength(1);
  });

  it('B opens no socket', async () => {
    const { upstream, ask, before } = await startChatHost();
    const { told } = await ask('hello');
    expect(told.at(-1)).toMatchObject({ type: 'final', shortcut: 'B', model: null, usage: {} });
    expect(ofType(told, 'stage_end').find(({ stage }) => stage === 5)?.detail).toEqual({ kind: 'greeting' });
    expect(upstream.arrived).toHaveLength(before);
  });

  it('C asks no model for an answer', async () => {
    const { upstream, ask } = await startChatHost();
    // A direction that no document has: what vectors alone find is as similar as they are.
    upstream.answers.set('embeddings', embedAs([0, 0, 1]));
    upstream.answers.set('chat_rewrite', say('{"rewrites": ["zebra crossings in Oslo"]}'));
    upstream.answers.set('chat_intent', intents({ kind: 'KB', confidence: 0.9 }));
    const { told } = await ask('Tell me of zebra crossings in Oslo', {
      variables: { 'sys.chat': { options: { top_k: 2 } } },
    });
    expect(told.at(-1)).toMatchObject({ type: 'final', shortcut: 'C', evidence: [], model: null });
    expect(upstream.arrived.map(({ purpose }) => purpose)).not.toContain('answer');
    expect(upstream.open()).toEqual([]);
  });
});

describe('a chat that is cut', () => {
  it('by a cancel closes the answer, and stores no message', async () => {
    const { upstream, begin: start, ended, stores, host } = await startChatHost();
    upstream.answers.set('embeddings', embed);
    upstream.answers.set('chat_rewrite', say('{"rewrites": ["checkpoint"]}'));
    upstream.answers.set('chat_intent', intents({ kind: 'KB', confidence: 0.9 }));
    upstream.answers.set('answer', begin('A snapshot'));
    const turn = await start('What is a checkpoint?');
    await vi.waitFor(() => expect(upstream.open()).toEqual(['answer']), WAIT);
    await host.cancel('tenant', { run: turn.live.identity.id });
    const { told } = await ended(turn);
    expect(told.at(-1)).toMatchObject({ type: 'error', code: 'RUN_CANCELLED' });
    expect(told.filter(({ type }) => type === 'final' || type === 'error')).toHaveLength(1);
    await vi.waitFor(() => expect(upstream.open()).toEqual([]), WAIT);
    expect(await stores.chats.messages('tenant', turn.session.id, { limit: 10 })).toEqual([]);
  });

  it('by its deadline closes everything', async () => {
    const { upstream, ask } = await startChatHost();
    const { told, events } = await ask('What is a checkpoint?', {
      variables: { 'sys.chat': { options: { deadline_ms: 40 } } },
    });
    expect(told.at(-1)).toMatchObject({ type: 'error', code: 'RUN_TIMEOUT' });
    const ends = ofType(told, 'stage_end').map(({ stage }) => stage);
    expect(ends.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    await vi.waitFor(() => expect(upstream.open()).toEqual([]), WAIT);
    expect(billed(events)).toEqual({ failed: 0, tokens: 0 });
  });

  it('while a tool is called closes its request', async () => {
    const { upstream, begin: start, ended, host, before } = await startChatHost();
    upstream.answers.set('chat_rewrite', say('{"rewrites": ["weather in Oslo"]}'));
    const turn = await start("What's the weather in Oslo?");
    await vi.waitFor(() => expect(upstream.open()).toEqual(['tool']), WAIT);
    // The search that began with the question is not needed, and is over.
    expect(upstream.arrived.slice(before).map(({ purpose }) => purpose)).not.toContain('chat_intent');
    await host.cancel('tenant', { run: turn.live.identity.id });
    await ended(turn);
    await vi.waitFor(() => expect(upstream.open()).toEqual([]), WAIT);
  });
});

type ChatHost = Awaited<ReturnType<typeof startChatHost>>;
type Turn = Awaited<ReturnType<ChatHost['begin']>>;

/** What is open at the moment when a chat is cut: by what is asked, and what was answered before. */
const AT_WORK: Readonly<
  Record<string, { query: string; open: readonly string[]; answers: ChatHost['upstream']['answers'] }>
> = {
  'understanding and searching': {
    query: 'What is a checkpoint?',
    open: ['chat_intent', 'chat_rewrite', 'embeddings'],
    answers: new Map(),
  },
  'calling a tool': {
    query: "What's the weather in Oslo?",
    open: ['tool'],
    answers: new Map([['chat_rewrite', say('{"rewrites": ["weather in Oslo"]}')]]),
  },
  answering: {
    query: 'What is a checkpoint?',
    open: ['answer'],
    answers: new Map([
      ['embeddings', embed],
      ['chat_rewrite', say('{"rewrites": ["checkpoint"]}')],
      ['chat_intent', intents({ kind: 'KB', confidence: 0.9 })],
      ['answer', begin('A snapshot')],
    ]),
  },
};

const CUTS: Readonly<
  Record<string, { code: string; cut: (host: ChatHost, turn: Turn, leave: () => void) => unknown }>
> = {
  'is cancelled': {
    code: 'RUN_CANCELLED',
    cut: ({ host }, { live }) => host.cancel('tenant', { run: live.identity.id }),
  },
  'is left by its client': { code: 'RUN_CANCELLED', cut: (_host, _turn, leave) => leave() },
  // Which comes by itself.
  'is over its deadline': { code: 'RUN_TIMEOUT', cut: () => undefined },
};

describe.each(Object.entries(AT_WORK))('a chat that is %s', (_at, { query, open, answers }) => {
  it.each(Object.entries(CUTS))(
    'and %s closes its sockets, is told once, and stores and bills nothing',
    async (_how, { code, cut }) => {
      const isTimed = code === 'RUN_TIMEOUT';
      const chat = await startChatHost({ detachGraceMs: 500 });
      const { upstream, begin: start, ended, stores } = chat;
      for (const [purpose, answer] of answers) upstream.answers.set(purpose, answer);
      // Loads what chats need, so that a deadline falls into the work that is meant.
      if (isTimed) await chat.ask('hello');
      const turn = await start(
        query,
        isTimed ? { variables: { 'sys.chat': { options: { deadline_ms: 1_000 } } } } : {},
      );
      const client = turn.live.clients.attach();
      if (!isTimed) await vi.waitFor(() => expect(upstream.open()).toEqual(open), WAIT);
      await cut(chat, turn, () => client.unsubscribe());
      const { told, events } = await ended(turn);
      client.unsubscribe();
      expect(told.at(-1)).toMatchObject({ type: 'error', code });
      expect(told.filter(({ type }) => type === 'final' || type === 'error')).toHaveLength(1);
      await vi.waitFor(() => expect(upstream.open()).toEqual([]), WAIT);
      // What was answered before the cut counts.
      const answered = [...answers.keys()].filter((purpose) => purpose.startsWith('chat_'));
      expect(billed(events).failed).toBe(0);
      expect(billed(events).tokens).toBeLessThanOrEqual(7 * answered.length);
      expect(await stores.chats.messages('tenant', turn.session.id, { limit: 10 })).toEqual([]);
    },
  );
});

describe('a session', () => {
  it('is remembered, and is of its tenant alone', async () => {
    const { upstream, ask, begin: start } = await startChatHost();
    upstream.answers.set('embeddings', embed);
    upstream.answers.set('chat_rewrite', say('{"rewrites": ["checkpoint"]}'));
    upstream.answers.set('chat_intent', intents({ kind: 'KB', confidence: 0.9 }));
    upstream.answers.set('answer', say('A snapshot [1].'));
    const { started } = await ask('What is a checkpoint?');
    const sessionId = started.session.id;
    const { told } = await ask('And what does it hold?', { sessionId });
    expect(ofType(told, 'stage_end').find(({ stage }) => stage === 1)?.detail).toMatchObject({ history_count: 1 });
    const answer = upstream.arrived.findLast(({ purpose }) => purpose === 'answer');
    expect(answer?.body.messages.map(({ role }: { role: string }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ]);
    await expect(start('And then?', { sessionId }, 'other')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('loses its messages with itself', async () => {
    const { ask, stores } = await startChatHost();
    const { started } = await ask('hello');
    const { id } = started.session;
    expect((await stores.chats.messages('tenant', id, { limit: 10 })).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
    ]);
    await stores.sessions.delete('tenant', id);
    expect(await stores.chats.messages('tenant', id, { limit: 10 })).toEqual([]);
  });
});
