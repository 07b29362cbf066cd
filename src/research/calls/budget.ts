/** What a research may spend, and what it has spent. */
import { EngineError } from '../../errors.js';
import { invalidOption } from '../../operators/invalid-option.js';

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

/** Share of each limit that is left to the report. */
const REPORT_SHARE = 0.1;
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
 * Counts what calls take. A call is admitted when the most that it can take still fits, so that calls side by side never exceed a limit together by more
 * than one of them has misjudged.
 */
export class Budget {
  readonly limits: BudgetLimits;
  readonly #price: CallPrice | undefined;
  #prompt = 0;
  #answer = 0;
  /** Of calls at work, the most that they can take. */
  #heldPrompt = 0;
  #heldAnswer = 0;
  #calls = 0;
  #web = 0;
  #pages = 0;

  constructor(limits: BudgetLimits, price?: CallPrice) {
    this.limits = checkLimits(limits);
    this.#price = price;
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
    let isSettled = false;
    return {
      settle: (took) => {
        if (isSettled) return;
        isSettled = true;
        this.#heldPrompt -= prompt;
        this.#heldAnswer -= answer;
        this.#prompt += took?.prompt ?? prompt;
        this.#answer += took?.answer ?? 0;
      },
    };
  }

  /** Asks for room for a call that is not known before, such as that of a tool's own model. @throws EngineError BUDGET_EXHAUSTED */
  requireRoom(): void {
    this.#require('calls', this.#calls + 1, 'work');
    this.#require('tokens', this.#prompt + this.#heldPrompt + this.#answer + this.#heldAnswer + 1, 'work');
  }

  /** Counts a call that was not admitted before. */
  count({ prompt, answer }: CallTokens): void {
    this.#calls += 1;
    this.#prompt += prompt;
    this.#answer += answer;
  }

  /** Counts a request to the web; pages leave a third of them to searches. @throws EngineError BUDGET_EXHAUSTED */
  admitWeb(what: 'search' | 'page' = 'search'): void {
    const { webRequests } = this.limits;
    this.#require('webRequests', this.#web + 1, 'report');
    if (what === 'page' && webRequests !== undefined && this.#pages + 1 > webRequests * PAGE_SHARE) {
      throw exhausted('webRequests', webRequests);
    }
    this.#web += 1;
    if (what === 'page') this.#pages += 1;
  }

  /** Milliseconds that the work may take; undefined: as long as it likes. */
  get workMs(): number | undefined {
    const { ms } = this.limits;
    return ms === undefined ? undefined : Math.floor(ms * (1 - REPORT_SHARE));
  }

  #require(name: Exclude<keyof BudgetLimits, 'ms'>, wanted: number, purpose: Purpose): void {
    const limit = this.limits[name];
    if (limit === undefined) return;
    const reserved = name === 'calls' ? Math.max(1, Math.floor(limit * REPORT_SHARE)) : limit * REPORT_SHARE;
    if (wanted <= (purpose === 'report' ? limit : limit - reserved)) return;
    throw exhausted(name, limit);
  }

  #costOf(prompt: number, answer: number): number | undefined {
    if (this.#price === undefined) return undefined;
    return (prompt * this.#price.input + answer * this.#price.output) / 1_000_000;
  }
}

function exhausted(name: string, limit: number): EngineError {
  return new EngineError(
    'BUDGET_EXHAUSTED',
    `The budget of the research is used up: its limit of ${limit} for "${name}" leaves no room for another step.`,
  );
}
