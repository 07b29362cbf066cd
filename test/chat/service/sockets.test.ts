/** What is at work for a chat ends with it, down to the sockets, and leaves nothing behind. */
import { describe, expect, it, vi } from 'vitest';
import type { RunEvent } from '../../../src/graph/events.js';
import { ofType, startChatHost } from './support/chat-host.js';
import { begin, embed, embedAs, say } from './support/held-server.js';

const WAIT = { timeout: 10_000, interval: 5 };

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
