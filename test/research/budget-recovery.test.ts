/** What a research may spend, over all the processes that work at it one after the other. */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  from,
  ignoreElements,
  lastValueFrom,
  mergeMap,
  of,
  range,
  Subject,
  takeUntil,
} from 'rxjs';
import { expect, it } from 'vitest';
import type { Json } from '../../src/json.js';
import type { ChatModel } from '../../src/models/chat-model.js';
import { estimateTokens } from '../../src/models/estimate-tokens.js';
import { askCall } from '../../src/research/calls/ask-call.js';
import { Budget, type BudgetLimits } from '../../src/research/calls/budget.js';
import type { Journal } from '../../src/research/calls/journal.js';
import { createRandom, type Random } from '../support/random.js';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000);
const QUESTIONS = 14;
const ANSWER = JSON.stringify({ questions: ['What else?'] });

/** A life of a research: what is kept outlives it, the rest ends at one of its moments. */
class Life {
  readonly over$ = new Subject<void>();
  readonly journal: Journal;
  #momentsLeft: number;
  #isOver = false;

  constructor(stored: [string, Json][], moments: number) {
    this.#momentsLeft = moments;
    const known = new Map(stored);
    this.journal = {
      find: (key) => known.get(key),
      keep: (key, value) => {
        if (this.#isOver) return;
        known.set(key, value);
        stored.push([key, value]);
        this.moment();
      },
    };
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  moment(): void {
    this.#momentsLeft -= 1;
    if (this.#momentsLeft > 0 || this.#isOver) return;
    this.#isOver = true;
    this.over$.next();
  }
}

/** A provider that counts what it really did. */
function provider(random: Random) {
  const real = { calls: 0, prompt: 0, answer: 0, cut: 0 };
  const modelOf = (life: Life): ChatModel => ({
    chat: (request) =>
      defer(() => {
        if (life.isOver) return EMPTY;
        const prompt = request.messages.reduce((sum, { content }) => sum + estimateTokens(String(content)), 0);
        const answer = 1 + random.int(request.sampling?.maxTokens ?? 1);
        real.calls += 1;
        real.prompt += prompt;
        real.cut += 1;
        const usage = {
          type: 'usage',
          promptTokens: prompt,
          completionTokens: answer,
          totalTokens: prompt + answer,
        } as const;
        const pause$ = from(Array.from({ length: random.int(6) }, async () => {})).pipe(
          mergeMap((one) => one),
          ignoreElements(),
        );
        return concat(
          pause$,
          defer(() => {
            life.moment();
            real.answer += answer;
            if (!life.isOver) real.cut -= 1;
            return of({ type: 'text', text: ANSWER } as const, usage);
          }),
        );
      }).pipe(takeUntil(life.over$)),
  });
  return { real, modelOf };
}

/** Asks all that it can, however often it crashes. */
async function live(limits: BudgetLimits, random: Random) {
  const stored: [string, Json][] = [];
  const { real, modelOf } = provider(random);
  let crashes = 0;
  for (;;) {
    const life = new Life(stored, crashes < 8 ? 1 + random.int(30) : Number.POSITIVE_INFINITY);
    const budget = new Budget(limits, { journal: life.journal });
    const began = budget.spent;
    const asking = { model: { name: 'm', model: modelOf(life) }, budget, journal: life.journal };
    const asked$ = range(0, QUESTIONS).pipe(
      mergeMap((at) => {
        const web$ = budget.reserveWeb('page').pipe(catchError(() => EMPTY));
        const input = { question: `Question ${at}?`, findings: [], missing: [] };
        return concat(web$, askCall(asking, 'research_followups', input).pipe(catchError(() => EMPTY)));
      }, 4),
      takeUntil(life.over$),
      ignoreElements(),
    );
    await lastValueFrom(asked$, { defaultValue: undefined });
    if (!life.isOver) return { real, budget, began, stored, crashes };
    crashes += 1;
  }
}

it(`is never exceeded, whenever the process goes away, and the count says what all have spent (SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  let crashed = 0;
  let exact = 0;
  for (let round = 0; round < 150; round += 1) {
    const limits = { tokens: 800 + random.int(9_000), calls: 2 + random.int(16), webRequests: random.int(20) };
    const { real, budget, crashes } = await live(limits, random);
    const { tokens, calls, webRequests } = budget.spent;
    const about = `SEED=${SEED}, round ${round}`;
    expect(real.prompt + real.answer, about).toBeLessThanOrEqual(limits.tokens);
    expect(real.calls, about).toBeLessThanOrEqual(limits.calls);
    expect(tokens, about).toBeGreaterThanOrEqual(real.prompt + real.answer);
    expect(calls, about).toBeGreaterThanOrEqual(real.calls);
    expect(webRequests, about).toBeLessThanOrEqual(limits.webRequests);
    crashed += crashes;
    if (real.cut > 0 || calls !== real.calls) continue;
    // Without a call that was cut off the count is that of the provider.
    exact += 1;
    expect(tokens, about).toBe(real.prompt + real.answer);
  }
  expect(crashed).toBeGreaterThan(100);
  expect(exact).toBeGreaterThan(10);
});

it('is, in another process, what it was: what was spent, and the limit that refused first', () => {
  const stored: [string, Json][] = [];
  const first = new Budget({ calls: 2, webRequests: 3 }, { journal: new Life(stored, 100).journal });
  first.admit({ prompt: 10, answer: 100 }, 'work').settle({ prompt: 11, answer: 7 });
  first.admitWeb('page');
  expect(() => first.admit({ prompt: 1, answer: 1 }, 'work')).toThrow();
  first.admit({ prompt: 5, answer: 40 }, 'report');
  const next = new Budget({ calls: 2, webRequests: 3 }, { journal: new Life(stored, 100).journal });
  expect(next.standing).toMatchObject({
    ...{ calls: 2, promptTokens: 16, tokens: 11 + 7 + 5 + 40, webRequests: 1 },
    exhausted: { limit: 'calls', per: 'research' },
  });
  expect(() => next.admit({ prompt: 1, answer: 1 }, 'report')).toThrow();
});
