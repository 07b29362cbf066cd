/** Routes under random faults, ten thousand requests in virtual time. The seed of a failure is printed; `SEED=…` repeats it. */
import { asyncScheduler, Observable, take, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { ChatDelta, ChatModel, ChatRequest } from '../../../src/models/chat-model.js';
import { Breakers } from '../../../src/models/routing/breakers.js';
import { FirstPacketTimes } from '../../../src/models/routing/first-packet-times.js';
import { createModelRoute } from '../../../src/models/routing/model-route.js';
import type { AfterTokens } from '../../../src/models/routing/route-call.js';
import type { RouteTarget } from '../../../src/models/routing/route-target.js';
import { createRandom, type Random } from '../../../test/support/random.js';
import { brokenAnswer, failure } from './route.js';

const WORDS = 24;

/** The answer to the request with this number: words that stand in no other answer and only once in this one. */
const answerTo = (id: string): string => Array.from({ length: WORDS }, (_, at) => `${id}-${at}`).join(' ');

/** What the last message of a user asks for, and how much of the answer is there already. */
function askedFor({ messages }: ChatRequest): { readonly whole: string; readonly shown: string } {
  const shown = messages.findLast(({ role }) => role === 'assistant')?.content ?? '';
  return { whole: answerTo(String(messages[0]?.content)), shown: String(shown) };
}

/** A model that answers by words, and fails in one of seven ways with a probability. */
function faulty(random: Random, faults: number): ChatModel {
  const fail = (error: unknown, ms: number): Observable<never> =>
    new Observable((subscriber) => timer(ms).subscribe(() => subscriber.error(error)));
  return {
    chat: (request) =>
      new Observable<ChatDelta>((subscriber) => {
        const { whole, shown } = askedFor(request);
        // Half of the continuations repeat some of what they were given.
        const repeated = shown !== '' && random.chance(0.5) ? random.int(shown.length) : 0;
        const pieces = whole.slice(Math.max(0, shown.length - (repeated > 12 ? repeated : 0))).split(/(?<= )/);
        const kind = random.chance(faults) ? random.int(7) : -1;
        if (kind === 0) return fail(failure(), 20).subscribe(subscriber);
        if (kind === 1) return fail(failure(503), 50).subscribe(subscriber);
        if (kind === 2) return fail(failure(429, random.chance(0.5) ? 1_000 : undefined), 30).subscribe(subscriber);
        // Silence, as long as a connection bears it.
        if (kind === 3) return fail(failure(), 600_000).subscribe(subscriber);
        const cutAt = kind === 4 || kind === 5 ? random.int(pieces.length) : Number.POSITIVE_INFINITY;
        const firstMs = kind === 6 ? 20_000 : 100 + random.int(400);
        return timer(firstMs, 15).subscribe((at) => {
          if (at === cutAt) subscriber.error(kind === 4 ? failure() : brokenAnswer());
          else if (at < pieces.length) subscriber.next({ type: 'text', text: pieces[at] as string });
          else {
            subscriber.next({ type: 'finish', reason: 'stop' });
            subscriber.complete();
          }
        });
      }),
  };
}

interface Tally {
  answered: number;
  wrong: number;
  failed: Map<string, number>;
  retracts: number;
  open: number;
}

/** What becomes of so many requests, one each 50 ms. */
function play(seed: number, faults: readonly number[], afterTokens: AfterTokens, requests: number): Tally {
  const random = createRandom(seed);
  const tally: Tally = { answered: 0, wrong: 0, failed: new Map(), retracts: 0, open: 0 };
  const scheduler = new TestScheduler(() => {});
  scheduler.maxFrames = Number.POSITIVE_INFINITY;
  scheduler.run(({ flush }) => {
    const breakers = new Breakers({ scheduler: asyncScheduler });
    const targets = faults.map(
      (share, at): RouteTarget => ({
        id: `t${at}`,
        breaker: `t${at}`,
        name: `t${at}`,
        model: counted(faulty(random, share), tally),
        times: new FirstPacketTimes(),
      }),
    );
    const route = createModelRoute({ name: 'chat', targets, breakers, afterTokens, random: random.next });
    const ask = (id: string): void => {
      let text = '';
      route.answer({ model: '', messages: [{ role: 'user', content: id }] }).subscribe({
        next(delta) {
          if (delta.type === 'text') text += delta.text;
          if (delta.type !== 'retract') return;
          tally.retracts += 1;
          text = '';
        },
        error: (error: Error) => tally.failed.set(error.message, (tally.failed.get(error.message) ?? 0) + 1),
        complete() {
          if (text === answerTo(id)) tally.answered += 1;
          else tally.wrong += 1;
        },
      });
    };
    // One timer at a time: virtual time sorts all that wait with each that is added.
    timer(0, 50)
      .pipe(take(requests))
      .subscribe((at) => ask(`q${at}`));
    flush();
  });
  return tally;
}

/** Counts the calls that are open. */
function counted(model: ChatModel, tally: Tally): ChatModel {
  return {
    chat: (request) =>
      new Observable((subscriber) => {
        tally.open += 1;
        subscriber.add(() => {
          tally.open -= 1;
        });
        return model.chat(request).subscribe(subscriber);
      }),
  };
}

const SEED = Number(process.env.SEED ?? 1);

describe('a route under faults', () => {
  it.each<[AfterTokens, readonly number[], leastRetracts?: number]>([
    ['restart', [0.3, 0.3, 0]],
    ['continue', [0.3, 0.3, 0]],
    // So few that breakers stay closed, and every request may meet some.
    ['restart', [0.08, 0.08, 0], 100],
    ['continue', [0.08, 0.08, 0]],
    ['restart', [0, 0.3]],
    ['restart', [1, 1, 0]],
  ])(
    'with "%s" and shares of faults of %j answers nearly all of 10,000 requests, and shows no text twice',
    (afterTokens, faults, leastRetracts = 0) => {
      const { answered, wrong, failed, open, retracts } = play(SEED, faults, afterTokens, 10_000);
      const shown = `seed ${SEED}: ${JSON.stringify([...failed])}`;
      expect(wrong, shown).toBe(0);
      expect(answered, shown).toBeGreaterThanOrEqual(9_990);
      expect(retracts, shown).toBeGreaterThanOrEqual(leastRetracts);
      expect(open, shown).toBe(0);
    },
    60_000,
  );

  it('answers most requests even when every target fails in 30 % of its calls', () => {
    const { answered, wrong, failed, open } = play(SEED, [0.3, 0.3, 0.3], 'restart', 2_000);
    const shown = `seed ${SEED}: ${JSON.stringify([...failed].slice(0, 3))}`;
    expect([wrong, open], shown).toEqual([0, 0]);
    expect(answered, shown).toBeGreaterThanOrEqual(1_980);
  }, 60_000);
});
