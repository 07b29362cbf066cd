/** What a research may spend, and what it has spent. */
import { defer, type Observable, of } from 'rxjs';
import { EngineError } from '../../errors.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { invalidOption } from '../../operators/invalid-option.js';
import type { DailySpending, DayAmount, DayStanding } from '../../records/spending.js';
import type { Journal } from './journal.js';

/** Limits of one research; what is left out has none. */
export interface BudgetLimits {
  readonly tokens?: number | undefined;
  /** Model calls, each attempt counting as one. */
  readonly calls?: number | undefined;
  readonly webRequests?: number | undefined;
  /** In the currency of the prices. */
  readonly money?: number | undefined;
  /** Milliseconds. */
  readonly ms?: number | undefined;
}

/** What a million tokens cost. */
export interface CallPrice {
  readonly input: number;
  readonly output: number;
}

/** What was spent. */
export interface Spent {
  readonly tokens: number;
  readonly promptTokens: number;
  readonly calls: number;
  readonly webRequests: number;
  /** `unknown` where the prices are. */
  readonly money: number | 'unknown';
}

/** Limits that are counted. */
type LimitName = Exclude<keyof BudgetLimits, 'ms'>;

/** A limit that refused a step. */
export interface ExhaustedLimit {
  readonly limit: LimitName;
  /** Whose limit it is: that of the research, or of the tenant and day. */
  readonly per: 'research' | 'day';
}

/** How a budget stands, as clients read it. */
export interface BudgetStanding extends Spent {
  readonly of: BudgetLimits;
  /** Of the tenant, where its days have limits. */
  readonly day?: DayStanding;
  /** The first limit that refused a step. */
  readonly exhausted?: ExhaustedLimit;
}

/** What a call is for: work takes nine tenths at most, so that there is a report. */
export type Purpose = 'work' | 'report';

/** Tokens that a call may take. */
export interface CallTokens {
  readonly prompt: number;
  readonly answer: number;
}

/** A call that was admitted. */
export interface AdmittedCall {
  /** Puts what it took in place of what it might have taken; without what it took, the prompt counts alone. */
  settle(took?: CallTokens): void;
}

/** Room that a search with a model of its own was given. */
export interface HeldRoom {
  readonly calls: number;
  readonly tokens: number;
  /** Puts what it took in place of all of it. */
  settle(took: Pick<HeldRoom, 'calls' | 'tokens'>): void;
}

/** What a budget counts with. */
export interface BudgetOptions {
  /** @default not known, and neither is what was spent of money */
  readonly price?: CallPrice | undefined;
  /** Counts what is spent for the tenant and its day, too. @default days have no limits */
  readonly day?: DailySpending | undefined;
  /**
   * Where the count is kept: what stands there when the budget is made has been spent, a call that was not over at its most. @default nothing was spent
   * before
   */
  readonly journal?: Journal | undefined;
}

/** What tokens cost, in the currency of the prices. */
export function costOf({ input, output }: CallPrice, { prompt, answer }: CallTokens): number {
  return (prompt * input + answer * output) / 1_000_000;
}

/** Key of the count in a journal. */
export const SPENT = 'spent';

/** Share of each limit that is left to the report. */
const REPORT_SHARE = 0.1;
/** Share of what is left to the work that one search may hold, as four may be at work, and its bounds. */
const ROOM_SHARE = 0.25;
const ROOM_CALLS = 10;
const ROOM_TOKENS = 30_000;
/** Tokens below which a model is not worth asking. */
const LEAST_ROOM_TOKENS = 1_000;
/** Share of the requests to the web that may be for pages. */
const PAGE_SHARE = 2 / 3;

const NAMES = ['tokens', 'calls', 'webRequests', 'money', 'ms'] as const;

/** @throws EngineError OPTION_INVALID for a limit that is no number of at least 0 */
export function checkLimits(limits: BudgetLimits): BudgetLimits {
  for (const name of NAMES) {
    const limit = limits[name];
    if (limit === undefined || (Number.isFinite(limit) && limit >= 0)) continue;
    throw invalidOption('budget', name, 'a number of at least 0', limit);
  }
  return limits;
}

/** The smaller limit of each kind. */
export function tighterOf(one: BudgetLimits, other: BudgetLimits): BudgetLimits {
  const tighter = NAMES.flatMap((name) => {
    const both = [one[name], other[name]].filter((limit) => limit !== undefined);
    return both.length === 0 ? [] : [[name, Math.min(...both)] as const];
  });
  return Object.fromEntries(tighter);
}

/**
 * Counts what calls take, in all processes that work at a research one after the other. A call is admitted when the most that it can take still fits, so that calls side by side never exceed a limit together by more
 * than one of them has misjudged.
 */
export class Budget {
  readonly limits: BudgetLimits;
  readonly #price: CallPrice | undefined;
  readonly #day: DailySpending | undefined;
  readonly #journal: Journal | undefined;
  #exhausted: ExhaustedLimit | undefined;
  #prompt = 0;
  #answer = 0;
  /** Of calls at work, the most that they can take. */
  #heldPrompt = 0;
  #heldAnswer = 0;
  #calls = 0;
  #web = 0;
  #pages = 0;

  constructor(limits: BudgetLimits, { price, day, journal }: BudgetOptions = {}) {
    this.limits = checkLimits(limits);
    this.#price = price;
    this.#day = day;
    this.#journal = journal;
    this.#restore(journal?.find(SPENT));
  }

  #restore(kept: unknown): void {
    if (!isJsonObject(kept)) return;
    const count = (name: string): number => (typeof kept[name] === 'number' ? kept[name] : 0);
    this.#prompt = count('prompt');
    this.#answer = count('answer');
    this.#calls = count('calls');
    this.#web = count('web');
    this.#pages = count('pages');
    if (isJsonObject(kept.exhausted)) this.#exhausted = kept.exhausted as unknown as ExhaustedLimit;
  }

  /** Calls at work are kept with the most that they can take: should the process end, that was spent. */
  #keep(): void {
    const exhausted = this.#exhausted;
    this.#journal?.keep(SPENT, {
      prompt: this.#prompt + this.#heldPrompt,
      answer: this.#answer + this.#heldAnswer,
      calls: this.#calls,
      web: this.#web,
      pages: this.#pages,
      ...(exhausted && { exhausted: exhausted as unknown as JsonObject }),
    });
  }

  get standing(): BudgetStanding {
    const day = this.#day?.last;
    const exhausted = this.#exhausted;
    return { ...this.spent, of: this.limits, ...(day && { day }), ...(exhausted && { exhausted }) };
  }

  get spent(): Spent {
    return {
      tokens: this.#prompt + this.#answer,
      promptTokens: this.#prompt,
      calls: this.#calls,
      webRequests: this.#web,
      money: this.#costOf(this.#prompt, this.#answer) ?? 'unknown',
    };
  }

  /** @throws EngineError BUDGET_EXHAUSTED */
  admit({ prompt, answer }: CallTokens, purpose: Purpose): AdmittedCall {
    const allPrompt = this.#prompt + this.#heldPrompt + prompt;
    const allAnswer = this.#answer + this.#heldAnswer + answer;
    this.#require('calls', this.#calls + 1, purpose);
    this.#require('tokens', allPrompt + allAnswer, purpose);
    // Where prices are unknown, a ceiling of money cannot be kept otherwise than by the other limits.
    this.#require('money', this.#costOf(allPrompt, allAnswer) ?? 0, purpose);
    this.#calls += 1;
    this.#heldPrompt += prompt;
    this.#heldAnswer += answer;
    this.#keep();
    let isSettled = false;
    return {
      settle: (took) => {
        if (isSettled) return;
        isSettled = true;
        this.#heldPrompt -= prompt;
        this.#heldAnswer -= answer;
        this.#prompt += took?.prompt ?? prompt;
        this.#answer += took?.answer ?? 0;
        this.#keep();
      },
    };
  }

  /**
   * {@link admit}, also by the limits of the tenant's day; emits once, when the count is stored. Unsubscribing before it emits takes nothing.
   *
   * Errors: BUDGET_EXHAUSTED, STORE_UNAVAILABLE.
   */
  reserve(tokens: CallTokens, purpose: Purpose): Observable<AdmittedCall> {
    return defer(() => {
      const day = this.#day;
      const admitted = this.admit(tokens, purpose);
      const stored = this.#journal?.stored?.();
      if (day === undefined && stored === undefined) return of(admitted);
      const most = this.#amountOf(tokens);
      return fromAbortable(async (signal): Promise<AdmittedCall> => {
        try {
          await Promise.all([day?.take(most), stored]);
        } catch (error) {
          this.#withdraw(admitted);
          throw this.#noted(error);
        }
        if (signal.aborted) {
          this.#withdraw(admitted);
          this.#correct(differenceOf({ tokens: 0, calls: 0, webRequests: 0, money: 0 }, most));
        }
        let isSettled = false;
        return {
          settle: (took) => {
            if (isSettled) return;
            isSettled = true;
            admitted.settle(took);
            const used = this.#amountOf(took ?? { prompt: tokens.prompt, answer: 0 });
            this.#correct(differenceOf(used, most));
          },
        };
      });
    });
  }

  /**
   * Room for calls of which only the sum will be known, such as those of a graph search: a quarter of what is left to the work, 10 calls and 30,000 tokens at
   * most. Emits once; undefined where there is too little, also of the tenant's day. Tokens count at the dearer price. What is not settled stays counted.
   */
  holdRoom(): Observable<HeldRoom | undefined> {
    return defer(() => {
      const room = this.#roomLeft();
      const day = this.#day;
      if (room === undefined) return of(undefined);
      const { calls, tokens } = room;
      const most = this.#splitTokens(tokens);
      this.#calls += calls;
      this.#hold(most, 1);
      this.#keep();
      let isSettled = false;
      const settle: HeldRoom['settle'] = (took) => {
        if (isSettled) return;
        isSettled = true;
        const used = this.#splitTokens(took.tokens);
        this.#calls += took.calls - calls;
        this.#hold(most, -1);
        this.#prompt += used.prompt;
        this.#answer += used.answer;
        this.#keep();
      };
      const stored = this.#journal?.stored?.();
      if (day === undefined && stored === undefined) return of({ calls, tokens, settle });
      const taken = { ...this.#amountOf(most), calls };
      const correct = (took: Pick<HeldRoom, 'calls' | 'tokens'>): void =>
        this.#correct(differenceOf({ ...this.#amountOf(this.#splitTokens(took.tokens)), calls: took.calls }, taken));
      return fromAbortable(async (signal): Promise<HeldRoom | undefined> => {
        try {
          await Promise.all([day?.take(taken), stored]);
        } catch {
          settle(NO_ROOM);
          return undefined;
        }
        if (signal.aborted) {
          settle(NO_ROOM);
          correct(NO_ROOM);
        }
        return {
          calls,
          tokens,
          settle: (took) => {
            if (isSettled) return;
            settle(took);
            correct(took);
          },
        };
      });
    });
  }

  #roomLeft(): Pick<HeldRoom, 'calls' | 'tokens'> | undefined {
    const left = (name: LimitName, used: number): number => {
      const limit = this.limits[name];
      return limit === undefined ? Number.POSITIVE_INFINITY : limit - reservedOf(name, limit) - used;
    };
    const prompt = this.#prompt + this.#heldPrompt;
    const answer = this.#answer + this.#heldAnswer;
    const price = this.#price && Math.max(this.#price.input, this.#price.output) / 1_000_000;
    const payable = price ? left('money', this.#costOf(prompt, answer) ?? 0) / price : Number.POSITIVE_INFINITY;
    const mostTokens = Math.min(left('tokens', prompt + answer), payable) * ROOM_SHARE;
    const calls = Math.floor(Math.min(ROOM_CALLS, left('calls', this.#calls) * ROOM_SHARE));
    const tokens = Math.floor(Math.min(ROOM_TOKENS, mostTokens));
    return calls < 1 || tokens < LEAST_ROOM_TOKENS ? undefined : { calls, tokens };
  }

  #splitTokens(tokens: number): CallTokens {
    const { input = 0, output = 0 } = this.#price ?? {};
    return input > output ? { prompt: tokens, answer: 0 } : { prompt: 0, answer: tokens };
  }

  #hold({ prompt, answer }: CallTokens, sign: 1 | -1): void {
    this.#heldPrompt += sign * prompt;
    this.#heldAnswer += sign * answer;
  }

  /** A call that was not made. */
  #withdraw(admitted: AdmittedCall): void {
    this.#calls -= 1;
    admitted.settle({ prompt: 0, answer: 0 });
  }

  /** Asks for room for a call that is not known before, such as that of a tool's own model. @throws EngineError BUDGET_EXHAUSTED */
  requireRoom(): void {
    this.#require('calls', this.#calls + 1, 'work');
    this.#require('tokens', this.#prompt + this.#heldPrompt + this.#answer + this.#heldAnswer + 1, 'work');
    const day = this.#day?.last;
    if (day === undefined) return;
    for (const limit of ['calls', 'tokens'] as const) {
      const most = day.of[limit];
      if (most === undefined || day[limit] < most) continue;
      throw this.#noted(exhausted(limit, most, 'day'));
    }
  }

  /** Counts a call that was not admitted before. */
  count(took: CallTokens): void {
    this.#calls += 1;
    this.#prompt += took.prompt;
    this.#answer += took.answer;
    this.#keep();
    this.#correct(this.#amountOf(took));
  }

  /** {@link admitWeb}, also by the limits of the tenant's day; emits once. Errors: as {@link reserve} */
  reserveWeb(what: 'search' | 'page' = 'search'): Observable<void> {
    return defer(() => {
      const day = this.#day;
      this.admitWeb(what);
      const stored = this.#journal?.stored?.();
      if (day === undefined && stored === undefined) return of(undefined);
      return fromAbortable(async () => {
        try {
          await Promise.all([day?.take({ tokens: 0, calls: 0, webRequests: 1, money: 0 }), stored]);
        } catch (error) {
          this.#web -= 1;
          if (what === 'page') this.#pages -= 1;
          this.#keep();
          throw this.#noted(error);
        }
      });
    });
  }

  #amountOf({ prompt, answer }: CallTokens): DayAmount {
    return { tokens: prompt + answer, calls: 1, webRequests: 0, money: this.#costOf(prompt, answer) };
  }

  /** What cannot be corrected stays counted as the most that it could have been. */
  #correct(difference: DayAmount): void {
    this.#day?.correct(difference).catch(() => {});
  }

  /** Remembers which limit refused first. */
  #noted(error: unknown): unknown {
    if (this.#exhausted === undefined && EngineError.is(error) && error.code === 'BUDGET_EXHAUSTED') {
      const { limit, per } = error.details as unknown as ExhaustedLimit;
      this.#exhausted = { limit, per };
      this.#keep();
    }
    return error;
  }

  /** Counts a request to the web; pages leave a third of them to searches. @throws EngineError BUDGET_EXHAUSTED */
  admitWeb(what: 'search' | 'page' = 'search'): void {
    const { webRequests } = this.limits;
    this.#require('webRequests', this.#web + 1, 'report');
    if (what === 'page' && webRequests !== undefined && this.#pages + 1 > webRequests * PAGE_SHARE) {
      throw exhausted('webRequests', webRequests, 'research');
    }
    this.#web += 1;
    if (what === 'page') this.#pages += 1;
    this.#keep();
  }

  /** Milliseconds that the work may take; undefined: as long as it likes. */
  get workMs(): number | undefined {
    const { ms } = this.limits;
    return ms === undefined ? undefined : Math.floor(ms * (1 - REPORT_SHARE));
  }

  #require(name: LimitName, wanted: number, purpose: Purpose): void {
    const limit = this.limits[name];
    if (limit === undefined) return;
    if (wanted <= (purpose === 'report' ? limit : limit - reservedOf(name, limit))) return;
    throw this.#noted(exhausted(name, limit, 'research'));
  }

  #costOf(prompt: number, answer: number): number | undefined {
    if (this.#price === undefined) return undefined;
    return costOf(this.#price, { prompt, answer });
  }
}

const NO_ROOM = { calls: 0, tokens: 0 };

/** What of a limit is left to the report. */
function reservedOf(name: LimitName, limit: number): number {
  return name === 'calls' ? Math.max(1, Math.floor(limit * REPORT_SHARE)) : limit * REPORT_SHARE;
}

function exhausted(limit: ExhaustedLimit['limit'], most: number, per: ExhaustedLimit['per']): EngineError {
  const whose = per === 'day' ? 'What this tenant may spend on researches today' : 'The budget of the research';
  return new EngineError(
    'BUDGET_EXHAUSTED',
    `${whose} is used up: its limit of ${most} for "${limit}" leaves no room for another step.`,
    { details: { limit, of: most, per } },
  );
}

/** What must be added to `counted` to make it `used`. */
function differenceOf(used: DayAmount, counted: DayAmount): DayAmount {
  const isPriced = used.money !== undefined && counted.money !== undefined;
  return {
    tokens: used.tokens - counted.tokens,
    calls: used.calls - counted.calls,
    webRequests: used.webRequests - counted.webRequests,
    money: isPriced ? (used.money ?? 0) - (counted.money ?? 0) : 0,
  };
}
