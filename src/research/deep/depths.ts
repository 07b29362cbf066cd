import type { BudgetLimits } from '../calls/budget.js';

/** How far a research goes. */
export interface Depth {
  /** Rounds of questions. */
  readonly rounds: number;
  /** Sub-questions in all. */
  readonly questions: number;
  /** Times that what was found for one sub-question is read. */
  readonly looks: number;
  readonly budget: BudgetLimits;
}

/** Names of {@link DEPTHS}. */
export const DEPTH_NAMES = ['quick', 'normal', 'deep'] as const;

/** One of {@link DEPTH_NAMES}. */
export type DepthName = (typeof DEPTH_NAMES)[number];

/** The depths, with what each may spend unless a request says otherwise. */
export const DEPTHS: Readonly<Record<DepthName, Depth>> = {
  quick: { rounds: 1, questions: 4, looks: 1, budget: { tokens: 20_000, calls: 16, webRequests: 12, ms: 120_000 } },
  normal: { rounds: 3, questions: 8, looks: 2, budget: { tokens: 60_000, calls: 48, webRequests: 40, ms: 600_000 } },
  deep: {
    rounds: 5,
    questions: 24,
    looks: 3,
    budget: { tokens: 300_000, calls: 200, webRequests: 200, ms: 2_400_000 },
  },
};
