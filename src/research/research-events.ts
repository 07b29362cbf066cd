/** What a research tells while it works, as its clients read it. */
import type { BudgetStanding } from './calls/budget.js';
import type { Action } from './deep/ladder.js';
import type { CitedEvidence } from './evidence/check-report.js';
import type { Contradiction } from './evidence/contradictions.js';
import type { Place, ResearchEvidence } from './evidence/evidence-table.js';
import type { TaskEvent } from './plan/execute-plan.js';
import type { TaskPlan } from './plan/task-plan.js';
import type { Steer } from './steer.js';

/**
 * Whether evidence bears a statement out. `quoted`: the statement is a sentence of the evidence. `given`: a person said it. `calculated`: it follows from other
 * answers.
 */
export type Verdict = 'supported' | 'refuted' | 'unsupported' | 'quoted' | 'given' | 'calculated';

/** A question that has no answer, and why. */
export interface Unanswered {
  readonly question: string;
  readonly why: string;
}

/** A question to the user. */
export interface ClarifyQuestion {
  readonly id: string;
  readonly question: string;
  /** What counts where it is not answered; empty: nothing, so that the question is taken as it is. */
  readonly default: string;
  /** Answers to choose from; others may be given, too. */
  readonly options?: readonly string[];
}

/** Questions to the user, before the research is planned; each may be left out. */
export interface ClarifyForm {
  readonly questions: readonly ClarifyQuestion[];
}

/** An event of a research, in the order in which they come: one `session`, what happens, and at the end one `final` or one `error`. */
export type ResearchEvent =
  | { readonly type: 'session'; readonly session_id: string; readonly run_id: string; readonly trace_id: string }
  | { readonly type: 'clarify'; readonly form: ClarifyForm }
  | {
      readonly type: 'plan';
      readonly plan: TaskPlan;
      /** Names of the tools that its tasks may use. */
      readonly tools: readonly string[];
      /** Whether nothing begins before it is approved. */
      readonly waits: boolean;
    }
  | { readonly type: 'plan_changed'; readonly plan: TaskPlan; readonly by: 'user' | 'planner' }
  | TaskEvent
  | {
      readonly type: 'question';
      readonly id: string;
      readonly text: string;
      /** Id of the question that it follows from; absent for parts of the question itself. */
      readonly parent?: string;
      readonly depends_on: readonly string[];
      /** From 1. */
      readonly round: number;
    }
  | {
      readonly type: 'searched';
      readonly question: string;
      readonly where: Place;
      readonly found: number;
      readonly ms: number;
      /** Pages of the web of which only what the search said of them is read, and why. */
      readonly unread?: readonly { readonly url: string; readonly why: string }[];
    }
  | { readonly type: 'evidence'; readonly question: string; readonly items: readonly ResearchEvidence[] }
  | {
      readonly type: 'finding';
      /** Id of the sub-question. */
      readonly question: string;
      /** The sub-question with earlier answers in it. */
      readonly text: string;
      /** Empty: it has none. */
      readonly answer: string;
      readonly supported_by: readonly string[];
      readonly confidence: number;
      readonly verdict: Verdict;
    }
  | { readonly type: 'gap'; readonly missing: readonly string[]; readonly action: Action }
  | ({ readonly type: 'contradiction' } & Contradiction)
  | ({ readonly type: 'budget' } & BudgetStanding)
  | ({ readonly type: 'steered' } & Steer)
  | {
      readonly type: 'report_outline';
      readonly sections: readonly { readonly title: string; readonly findings: readonly string[] }[];
    }
  | {
      readonly type: 'token';
      readonly content: string;
      /** Number of the section of `report_outline`, from 1; 0: in front of them, or of a report without any; one more than there are: behind them. */
      readonly section: number;
    }
  /** All tokens so far, or those of one section, are void. */
  | { readonly type: 'retract'; readonly reason: string; readonly section?: number }
  | { readonly type: 'error'; readonly code: string; readonly message: string }
  | ResearchFinal;

/** The last event of a research. */
export interface ResearchFinal {
  readonly type: 'final';
  /** Markdown. */
  readonly report: string;
  readonly title: string;
  /** What the report cites, numbered as it does, in the order of first use. */
  readonly sources: readonly CitedEvidence[];
  readonly unanswered: readonly Unanswered[];
  readonly contradictions: readonly Contradiction[];
  readonly budget: BudgetStanding;
  /** What the ladder came to. */
  readonly outcome: Action;
  /** Statements with the mark that sources do not support them. */
  readonly unsupported: number;
  readonly trace_id?: string;
}
