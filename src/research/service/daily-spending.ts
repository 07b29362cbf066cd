/** What tenants spend on researches in a day, in states that all processes share. */
import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import { NO_STATE, type SharedState, type SharedStates } from '../../records/shared-states.js';
import type { DailySpending, DayAmount, DayLimits, DayStanding } from '../../records/spending.js';

/** What spending is counted with. */
export interface DailySpendingOptions {
  readonly states: Pick<SharedStates, 'read' | 'replace'>;
  /** Of each tenant. */
  readonly limits: DayLimits;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const NAMES = ['tokens', 'calls', 'webRequests', 'money'] as const;
/** Those of them without which a research can do nothing but list what it finds. */
const NEEDED = ['tokens', 'calls', 'money'] as const;
const WORDS = {
  tokens: 'tokens',
  calls: 'calls of models',
  webRequests: 'requests to the web',
  money: 'money',
} as const;
/** Times that a count is tried which other processes change meanwhile. */
const MAX_TRIES = 100;
const DAY_MS = 86_400_000;

/**
 * Counts what tenants spend; one is chosen by `forTenant`. Each amount is counted before it is spent, by a change of a shared state that holds only where no other process
 * has changed it, so that all processes together keep the limits. What comes at the same time in one process is one change.
 */
export function createDailySpending(options: DailySpendingOptions, tenant = ''): DailySpending {
  const { limits, now } = options;
  const ledger = new Ledger(options, `research-day:${tenant}`);
  return {
    forTenant: (other) => createDailySpending(options, other),
    get last() {
      return ledger.last;
    },
    today: () => ledger.read(),
    async requireLeft() {
      const standing = await ledger.read();
      const used = NEEDED.find((name) => (limits[name] ?? Number.POSITIVE_INFINITY) <= numberOf(standing[name]));
      if (used !== undefined) throw usedUp(used, limits[used] ?? 0, now());
    },
    take: (amount) =>
      ledger.change((standing) => {
        const after = added(standing, amount);
        // What is counted but not used by this amount may be beyond its limit, for corrections may.
        const over = NAMES.find((name) => isMore(amount[name]) && numberOf(after[name]) > limitOf(limits, name));
        if (over !== undefined) throw usedUp(over, limits[over] ?? 0, now());
        return after;
      }),
    correct: (difference) => ledger.owe((standing) => added(standing, difference)),
  };
}

function isMore(amount: number | undefined): boolean {
  return amount !== undefined && amount > 0;
}

function limitOf(limits: DayLimits, name: (typeof NAMES)[number]): number {
  return limits[name] ?? Number.POSITIVE_INFINITY;
}

function numberOf(money: number | 'unknown'): number {
  // Where prices are unknown, a limit of money cannot be kept otherwise than by the other limits.
  return money === 'unknown' ? 0 : money;
}

function added(standing: DayStanding, { tokens, calls, webRequests, money }: DayAmount): DayStanding {
  const isUnknown = standing.money === 'unknown' || (money === undefined && tokens !== 0);
  return {
    ...standing,
    tokens: Math.max(0, standing.tokens + tokens),
    calls: Math.max(0, standing.calls + calls),
    webRequests: Math.max(0, standing.webRequests + webRequests),
    money: isUnknown ? 'unknown' : Math.max(0, numberOf(standing.money) + (money ?? 0)),
  };
}

/** A change of a standing, which may refuse. */
interface Change {
  readonly apply: (standing: DayStanding) => DayStanding;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/** The count of one tenant as this process changes it: one write at a time. A class, for it knows what it wrote last. */
class Ledger {
  readonly #options: DailySpendingOptions;
  readonly #name: string;
  #known: SharedState = NO_STATE;
  #waiting: Change[] = [];
  #isWriting = false;
  /** Changes that cannot be refused and are not stored yet. */
  readonly #owed = new Set<Change['apply']>();
  #last: DayStanding | undefined;

  constructor(options: DailySpendingOptions, name: string) {
    this.#options = options;
    this.#name = name;
  }

  get last(): DayStanding | undefined {
    return this.#last === undefined ? undefined : [...this.#owed].reduce((last, apply) => apply(last), this.#last);
  }

  async read(): Promise<DayStanding> {
    this.#known = (await this.#options.states.read([this.#name])).get(this.#name) ?? NO_STATE;
    this.#last = this.#standingOf(this.#known);
    return this.#last;
  }

  /** A change that is never refused. */
  async owe(apply: Change['apply']): Promise<void> {
    this.#owed.add(apply);
    try {
      await this.change(apply);
    } finally {
      this.#owed.delete(apply);
    }
  }

  change(apply: Change['apply']): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ apply, done, failed });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(batch);
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    this.#isWriting = false;
  }

  async #write(batch: readonly Change[]): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      let standing = this.#standingOf(this.#known);
      let changes = 0;
      const ends = batch.map(({ apply, done, failed }) => {
        try {
          standing = apply(standing);
          changes += 1;
          return done;
        } catch (error) {
          return () => failed(error);
        }
      });
      const before = this.#known;
      // What refuses may have seen what is out of date.
      const { isMine, stored } =
        changes > 0
          ? await this.#options.states.replace(this.#name, before.version, stateOf(standing))
          : await this.#again(before);
      this.#known = stored;
      if (!isMine) continue;
      this.#last = this.#standingOf(stored);
      for (const { apply } of batch) this.#owed.delete(apply);
      for (const end of ends) end();
      return;
    }
    const message = `What the tenant spends today is changed by too many processes at once: ${MAX_TRIES} tries failed.`;
    throw new EngineError('STORE_UNAVAILABLE', message, { retryable: true });
  }

  async #again({ version }: SharedState) {
    const stored = (await this.#options.states.read([this.#name])).get(this.#name) ?? NO_STATE;
    return { isMine: stored.version === version, stored };
  }

  /** Yesterday's count is none. */
  #standingOf({ state }: SharedState): DayStanding {
    const { limits, now } = this.#options;
    const day = dayOf(now());
    const isToday = state.day === day;
    const count = (name: string): number => (isToday && typeof state[name] === 'number' ? state[name] : 0);
    return {
      day,
      tokens: count('tokens'),
      calls: count('calls'),
      webRequests: count('webRequests'),
      money: isToday && state.money === 'unknown' ? 'unknown' : count('money'),
      of: limits,
    };
  }
}

function stateOf({ of: _, ...counted }: DayStanding): JsonObject {
  return counted;
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** The error of a limit that leaves no room. */
function usedUp(name: (typeof NAMES)[number], limit: number, now: number): EngineError {
  const until = `${dayOf(now + DAY_MS)}T00:00:00Z`;
  return new EngineError(
    'BUDGET_EXHAUSTED',
    `What this tenant may spend on researches today is used up: its limit of ${limit} ${WORDS[name]} leaves no room for another step. It begins anew at ${until}.`,
    { details: { limit: name, of: limit, per: 'day', until } },
  );
}
