import { lastValueFrom, NEVER, Observable, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createBackgroundSummaries } from '../../../src/chat/memory/background-summaries.js';
import { loadMemory, type Memory } from '../../../src/chat/memory/load-memory.js';
import { type Summarised, type SummariseOptions, summarise } from '../../../src/chat/memory/summarise.js';
import type { StageResult } from '../../../src/chat/stages/stage-result.js';
import { EngineError } from '../../../src/errors.js';
import type { ChatDelta, ChatRequest } from '../../../src/models/chat-model.js';
import { estimateTokens } from '../../../src/models/estimate-tokens.js';
import { createScriptedModel } from '../../../src/models/scripted.js';
import type { ChatMessageRecord, ChatStore } from '../../../src/records/chats.js';
import { createMemoryChats } from '../../../src/stores/memory-chats.js';
import { property } from '../../support/random.js';

const PLACE = { tenant: 't', session: 's' };

const message = (id: string, role: ChatMessageRecord['role'], content: string): ChatMessageRecord => ({
  id,
  role,
  content,
  createdAt: 1,
});

/** A session with turns q0/a0, q1/a1 …, each with its own word. */
async function storeWith(turns: number, text = (word: string) => word): Promise<ChatStore> {
  const store = createMemoryChats();
  await addTurns(store, 0, turns, text);
  return store;
}

async function addTurns(store: ChatStore, from: number, to: number, text = (word: string) => word): Promise<void> {
  for (let at = from; at < to; at += 1) {
    await store.append('t', 's', [
      message(`q${at}`, 'user', text(`q${at}`)),
      message(`a${at}`, 'assistant', text(`a${at}`)),
    ]);
  }
}

const load = (store: Pick<ChatStore, 'messages' | 'summary'>, limits = {}): Promise<StageResult<Memory>> =>
  lastValueFrom(loadMemory({ ...PLACE, store, ...limits }));
const contents = ({ value: { history } }: StageResult<Memory>): unknown[] => history.map(({ content }) => content);

interface Asked {
  readonly summary_so_far?: string;
  readonly turns: readonly (readonly { readonly content: string }[])[];
  readonly max_words: number;
}

const askedBy = ({ messages }: ChatRequest): Asked => JSON.parse(String(messages.at(-1)?.content)) as Asked;

/** A model whose summary is the list of everything that it was given, so that a lost or doubled turn shows. */
function listing(requests: ChatRequest[] = []): SummariseOptions['model'] {
  return {
    name: 'm',
    model: {
      chat: (request) =>
        new Observable<ChatDelta>((subscriber) => {
          requests.push(request);
          const { summary_so_far, turns } = askedBy(request);
          const words = [...(summary_so_far?.split(' ') ?? []), ...turns.flat().map(({ content }) => content)];
          subscriber.next({ type: 'text', text: JSON.stringify({ summary: words.join(' ') }) });
          subscriber.next({ type: 'finish', reason: 'stop' });
          subscriber.complete();
        }),
    },
  };
}

const answering = (...answers: readonly string[]) => {
  const asked: ChatRequest[] = [];
  const chat = (request: ChatRequest): Observable<ChatDelta> => {
    asked.push(request);
    return of({ type: 'text', text: answers[Math.min(asked.length, answers.length) - 1] as string });
  };
  return { asked, model: { name: 'm', model: { chat } } };
};

const shorten = (store: ChatStore, model: SummariseOptions['model'], more = {}): Promise<Summarised> =>
  lastValueFrom(summarise({ ...PLACE, store, model, now: () => 7, ...more }));

describe('loadMemory', () => {
  it('is empty for a session without messages', async () => {
    expect(await load(createMemoryChats())).toMatchObject({
      value: { summary: undefined, history: [] },
      detail: { history_count: 0, summary: false, tokens: 0 },
    });
  });

  it('tells the last 10 turns, oldest first, with ids and roles', async () => {
    const memory = await load(await storeWith(15));
    expect(contents(memory)).toEqual(Array.from({ length: 10 }, (_, at) => [`q${at + 5}`, `a${at + 5}`]).flat());
    expect(memory.value.history[0]).toEqual({ role: 'user', content: 'q5', id: 'q5' });
    expect(memory.detail).toEqual({ history_count: 10, summary: false, tokens: memory.detail.tokens });
  });

  it('leaves the oldest out until the rest has 4,000 tokens, turns whole', async () => {
    const memory = await load(await storeWith(12, () => 'x'.repeat(1_600)));
    const tokens = estimateTokens('x'.repeat(1_600));
    const fitting = Math.floor(4_000 / (2 * tokens));
    expect(memory.detail).toEqual({ history_count: fitting, summary: false, tokens: fitting * 2 * tokens });
    expect(memory.value.history.at(-1)?.id).toBe('a11');
    expect(memory.value.history).toHaveLength(2 * fitting);
  });

  it('cuts the newest turn when not even that fits', async () => {
    const memory = await load(await storeWith(2, (word) => word + 'x'.repeat(100_000)));
    expect(memory.value.history.map(({ id }) => id)).toEqual(['q1', 'a1']);
    expect(memory.detail.tokens).toBeLessThanOrEqual(4_000);
    expect(memory.detail.tokens).toBeGreaterThan(3_900);
  });

  it('gives the summary, and no turn that it covers', async () => {
    const store = await storeWith(8);
    const covered = (await store.messages('t', 's', { limit: 8 })).at(-1);
    await store.replaceSummary('t', 's', undefined, {
      text: 'about x',
      through: 'a3',
      position: covered?.position as number,
      createdAt: 1,
    });
    const memory = await load(store);
    expect([memory.value.summary, memory.detail.summary]).toEqual(['about x', true]);
    expect(contents(memory)).toEqual(['q4', 'a4', 'q5', 'a5', 'q6', 'a6', 'q7', 'a7']);
  });

  it('fails as its store does', async () => {
    const away = new EngineError('STORE_UNAVAILABLE', 'away');
    const store = { summary: () => Promise.reject(away), messages: () => Promise.reject(away) };
    await expect(load(store)).rejects.toBe(away);
  });

  it.each([{ maxTurns: 0 }, { toldTurns: -1 }, { maxTokens: 0.5 }])('refuses %j', (limits) => {
    expect(() => loadMemory({ ...PLACE, store: createMemoryChats(), ...limits })).toThrow(/must be a whole number/);
  });
});

describe('summarise', () => {
  it('leaves 20 turns alone', async () => {
    const requests: ChatRequest[] = [];
    const store = await storeWith(20);
    expect(await shorten(store, listing(requests))).toEqual({ outcome: 'enough', turns: 0 });
    expect([requests, await store.summary('t', 's')]).toEqual([[], undefined]);
  });

  it('makes a summary of the first 60 % of 21 turns, which says with which message it ends', async () => {
    const requests: ChatRequest[] = [];
    const store = await storeWith(21);
    expect(await shorten(store, listing(requests))).toEqual({ outcome: 'summarised', turns: 12 });
    const summary = await store.summary('t', 's');
    expect(summary).toMatchObject({ through: 'a11', createdAt: 7 });
    expect(summary?.text).toBe(Array.from({ length: 12 }, (_, at) => `q${at} a${at}`).join(' '));
    expect(contents(await load(store))).toEqual(
      Array.from({ length: 9 }, (_, at) => [`q${at + 12}`, `a${at + 12}`]).flat(),
    );
    expect(requests).toHaveLength(1);
    expect(requests[0]?.jsonSchema?.name).toBe('chat_summary');
    expect(askedBy(requests[0] as ChatRequest).turns).toHaveLength(12);
  });

  it('adds later turns to the summary before', async () => {
    const requests: ChatRequest[] = [];
    const store = await storeWith(21);
    await shorten(store, listing(requests));
    await addTurns(store, 21, 33);
    expect(await shorten(store, listing(requests))).toEqual({ outcome: 'summarised', turns: 12 });
    expect(askedBy(requests[1] as ChatRequest).summary_so_far).toMatch(/^q0 a0 /);
    expect((await store.summary('t', 's'))?.through).toBe('a23');
  });

  it('asks for a tenth of the tokens and takes no more, but for 200 that it may always have', async () => {
    const long = await storeWith(21, (word) => `${word} ${'x'.repeat(1_000)}`);
    const { model, asked } = answering(JSON.stringify({ summary: 'y'.repeat(50_000) }));
    await shorten(long, model);
    const given = 24 * estimateTokens(`q10 ${'x'.repeat(1_000)}`);
    const { text = '' } = (await long.summary('t', 's')) ?? {};
    expect(estimateTokens(text)).toBeLessThanOrEqual(Math.ceil(given / 10));
    expect(askedBy(asked[0] as ChatRequest).max_words).toBeLessThan(given / 10);
    const short = await storeWith(21);
    await shorten(short, model);
    expect(estimateTokens((await short.summary('t', 's'))?.text ?? '')).toBe(200);
  });

  it('has a broken answer repaired once, with the object that it is about as the last message', async () => {
    const store = await storeWith(21);
    const { model, asked } = answering('The user asked {', '```json\n{"summary": "about q"}\n```');
    expect(await shorten(store, model)).toEqual({ outcome: 'summarised', turns: 12 });
    expect((await store.summary('t', 's'))?.text).toBe('about q');
    expect(asked).toHaveLength(2);
    expect(askedBy(asked[1] as ChatRequest).turns).toHaveLength(12);
  });

  it.each(['no JSON', '{"summary": ""}', '{"text": "x"}', '[]'])(
    'leaves everything as it is when the answer stays %s',
    async (answer) => {
      const store = await storeWith(21);
      const { model, asked } = answering(answer);
      expect(await shorten(store, model)).toEqual({ outcome: 'unusable', turns: 0 });
      expect([asked.length, await store.summary('t', 's')]).toEqual([2, undefined]);
      expect((await load(store)).detail.history_count).toBe(10);
    },
  );

  it('takes what the built-in model echoes for no summary', async () => {
    const store = await storeWith(21);
    const model = { name: 'scripted', model: createScriptedModel() };
    expect((await shorten(store, model)).outcome).toBe('unusable');
  });

  it('drops the second of two summaries that are made at once', async () => {
    const store = await storeWith(21);
    const results = await Promise.all([shorten(store, listing()), shorten(store, listing())]);
    expect(results.map(({ outcome }) => outcome).sort()).toEqual(['overtaken', 'summarised']);
    expect((await store.summary('t', 's'))?.text.split(' ')).toHaveLength(24);
  });

  it('shortens a session that had no model for long, in several requests', async () => {
    const requests: ChatRequest[] = [];
    const store = await storeWith(300);
    const { outcome, turns } = await shorten(store, listing(requests));
    expect([outcome, 300 - turns <= 20]).toEqual(['summarised', true]);
    const left = await store.messages('t', 's', {
      after: (await store.summary('t', 's'))?.position as number,
      limit: 1_000,
    });
    expect(left).toHaveLength(2 * (300 - turns));
  });

  it('ends the call of the model when it is unsubscribed', async () => {
    const store = await storeWith(21);
    let begun: () => void;
    let ended: () => void;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const hasEnded = new Promise<void>((resolve) => (ended = resolve));
    const chat = () =>
      new Observable<ChatDelta>(() => {
        begun();
        return () => ended();
      });
    const running = summarise({ ...PLACE, store, model: { name: 'm', model: { chat } } }).subscribe();
    await hasBegun;
    running.unsubscribe();
    await hasEnded;
    expect(await store.summary('t', 's')).toBeUndefined();
  });

  property('loses and doubles no turn, with crashes and two at once, whatever comes between', 60, async (random) => {
    const store = createMemoryChats();
    let count = 0;
    for (let step = 0; step < 25; step += 1) {
      // A list is no summary: of more turns it would be cut.
      const more = Math.min(random.int(9), 80 - count);
      await addTurns(store, count, count + more);
      count += more;
      // Some crash before the summary is stored, some meet another one.
      const crashing: ChatStore = { ...store, replaceSummary: () => Promise.reject(new Error('killed')) };
      const wide = { maxTokens: 100_000 };
      const work = random
        .some([0, 1, 2], 0.5)
        .map(() => shorten(random.chance(0.3) ? crashing : store, listing(), wide).catch(() => undefined));
      await Promise.all(work);
      const memory = await load(store, { ...wide, maxTurns: 1_000, toldTurns: 1_000 });
      const seen = [...(memory.value.summary?.split(' ') ?? []), ...contents(memory)];
      expect(seen).toEqual(Array.from({ length: count }, (_, at) => [`q${at}`, `a${at}`]).flat());
    }
  });
});

describe('background summaries', () => {
  const told: string[] = [];
  const log = { warn: (_: object, text: string) => void told.push(text) };

  it('summarise after an answer, a session once at a time', async () => {
    const store = await storeWith(21);
    const requests: ChatRequest[] = [];
    await new Promise<void>((resolve) => {
      const summaries = createBackgroundSummaries({
        store,
        log,
        modelFor: () => listing(requests),
        onEnd: () => resolve(),
      });
      for (let at = 0; at < 5; at += 1) summaries.answered('t', 's');
      expect(summaries.pending).toBe(1);
    });
    expect(requests).toHaveLength(1);
    expect((await store.summary('t', 's'))?.through).toBe('a11');
  });

  it('do nothing without a model', async () => {
    const summaries = createBackgroundSummaries({ store: await storeWith(21), log, modelFor: () => undefined });
    summaries.answered('t', 's');
    expect(summaries.pending).toBe(0);
  });

  it('log a failure and try again after the next answer', async () => {
    const store = await storeWith(21);
    const broken = { name: 'm', model: { chat: () => throwError(() => new EngineError('MODEL_UNAVAILABLE', 'away')) } };
    let model: SummariseOptions['model'] = broken;
    const ended: Summarised[] = [];
    const summaries = createBackgroundSummaries({
      store,
      log,
      modelFor: () => model,
      onEnd: (_t, _s, result) => void ended.push(result),
    });
    summaries.answered('t', 's');
    await expect.poll(() => summaries.pending).toBe(0);
    expect([told.length, ended]).toEqual([1, []]);
    model = listing();
    summaries.answered('t', 's');
    await expect.poll(() => ended).toEqual([{ outcome: 'summarised', turns: 12 }]);
  });

  it('have a bound, and end when they are closed', async () => {
    const store = await storeWith(21);
    const silent = { name: 'm', model: { chat: () => NEVER } };
    const summaries = createBackgroundSummaries({ store, log, modelFor: () => silent, concurrency: 1, maxWaiting: 2 });
    for (let at = 0; at < 9; at += 1) summaries.answered('t', `s${at}`);
    expect(summaries.pending).toBe(3);
    summaries.close();
    summaries.answered('t', 'other');
    expect(summaries.pending).toBe(0);
  });
});
