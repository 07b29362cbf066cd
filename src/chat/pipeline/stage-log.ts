/** What has happened in one chat: which stages run, how they ended, what the answer is so far. */
import type { JsonObject } from '../../json.js';
import type { ChatEvent, StageStatus, StageSummary } from './chat-events.js';
import { type ShortcutKind, SKIPPED, STAGES, type StageNumber } from './stage-table.js';

/** Tells of stages; one for each chat. */
export class StageLog {
  readonly #now: () => number;
  readonly #begun = new Map<StageNumber, number>();
  readonly #ended: StageSummary[] = [];
  readonly #startedAt: number;
  #shortcut: ShortcutKind | null = null;

  /** `now` gives milliseconds, of which only differences matter. */
  constructor(now: () => number) {
    this.#now = now;
    this.#startedAt = now();
  }

  /** Milliseconds since the chat began. */
  get elapsedMs(): number {
    return this.#now() - this.#startedAt;
  }

  /** The stages that have ended, by their numbers. */
  get stages(): readonly StageSummary[] {
    return this.#ended.toSorted((left, right) => left.stage - right.stage);
  }

  /** Names of the stages whose fallback counted. */
  get degraded(): readonly string[] {
    return this.stages.filter(({ status }) => status === 'degraded').map(({ name }) => name);
  }

  get shortcut(): ShortcutKind | null {
    return this.#shortcut;
  }

  begin(stage: StageNumber): ChatEvent {
    this.#begun.set(stage, this.#now());
    const { name, budgetMs } = STAGES[stage];
    return { type: 'stage_start', stage, name, budget_ms: budgetMs };
  }

  /** `spentMs` is what counts against the budget. @default the time from its beginning */
  end(stage: StageNumber, status: StageStatus, detail: JsonObject, spentMs?: number): ChatEvent {
    const { name, budgetMs } = STAGES[stage];
    const begun = this.#begun.get(stage);
    // What comes from a cache took no time.
    const ms = begun === undefined || status === 'cache_hit' ? 0 : this.#now() - begun;
    this.#begun.delete(stage);
    this.#ended.push({ stage, name, ms, status });
    const isOver = budgetMs > 0 && (spentMs ?? ms) > budgetMs;
    return { type: 'stage_end', stage, name, ms, status, ...(isOver && { over_budget: true }), detail };
  }

  /** Ends what is at work and leaves out what the short circuit skips. */
  cutShort(kind: ShortcutKind, reason: string): ChatEvent[] {
    this.#shortcut = kind;
    const cancelled = [...this.#begun.keys()];
    const skipped = SKIPPED[kind];
    return [
      { type: 'shortcut', kind, reason, skipped, cancelled },
      ...cancelled.map((stage) => this.end(stage, 'cancelled', {})),
      ...this.#skip([2, 3, ...skipped]),
    ];
  }

  /** Ends what is at work as failed, and skips what has not begun. */
  fail(): ChatEvent[] {
    const failed = [...this.#begun.keys()].map((stage) => this.end(stage, 'failed', {}));
    return [...failed, ...this.#skip([1, 2, 3, 4, 5, 6, 7, 8])];
  }

  /** The stages of these that have not ended, as skipped. */
  #skip(stages: readonly StageNumber[]): ChatEvent[] {
    const ended = new Set(this.#ended.map(({ stage }) => stage));
    return stages.filter((stage) => !ended.has(stage)).map((stage) => this.end(stage, 'skipped', {}));
  }
}
