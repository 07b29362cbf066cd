/** The eight stages of a chat: their numbers, names and times. */

/** A stage, by its number. */
export type StageNumber = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** What is fixed about a stage. */
export interface StageInfo {
  readonly name: string;
  /** Milliseconds that it should take at most; more is told as `over_budget`. 0 for a stage that only decides. */
  readonly budgetMs: number;
  /** Milliseconds after which it is ended and its fallback counts. @default none */
  readonly limitMs?: number;
}

/** Budgets and limits as the design of the chat has them. */
export const STAGES: Readonly<Record<StageNumber, StageInfo>> = {
  1: { name: 'Memory Load', budgetMs: 50, limitMs: 500 },
  2: { name: 'Query Rewrite', budgetMs: 500, limitMs: 3_000 },
  3: { name: 'Intent Parse', budgetMs: 350, limitMs: 2_000 },
  4: { name: 'Ambiguity Guide', budgetMs: 0 },
  5: { name: 'System Direct', budgetMs: 0 },
  6: { name: 'Multi-Channel', budgetMs: 2_000, limitMs: 2_000 },
  7: { name: 'Prompt Assembly', budgetMs: 50 },
  8: { name: 'Streaming Output', budgetMs: 800 },
};

/** Why a chat leaves stages out: it asks back (`A`), answers from a template (`B`), or has found nothing (`C`). */
export type ShortcutKind = 'A' | 'B' | 'C';

/** The stages that each short circuit leaves out. */
export const SKIPPED: Readonly<Record<ShortcutKind, readonly StageNumber[]>> = { A: [5, 6, 7], B: [6, 7], C: [7] };
