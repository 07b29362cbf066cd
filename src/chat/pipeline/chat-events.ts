/** What a chat tells while it answers, as its clients read it. */
import type { JsonObject } from '../../json.js';
import type { ResearchSuggestion } from '../stages/suggest-research.js';
import type { ShortcutKind, StageNumber } from './stage-table.js';

/** How a stage ended. `skipped` had nothing to do or was left out; `cancelled` was at work when a short circuit made it needless. */
export type StageStatus = 'ok' | 'cache_hit' | 'skipped' | 'degraded' | 'cancelled' | 'failed';

/** A source of an answer, numbered from 1 as the answer cites it. */
export interface Evidence {
  readonly n: number;
  readonly id: string;
  readonly type: 'kb' | 'mcp' | 'graph' | 'web';
  /** Name of the document or tool. */
  readonly source: string;
  readonly text: string;
  readonly document_id?: string;
  readonly dataset_id?: string;
  readonly chunk_ids?: readonly string[];
  /** Where the text stands in its document, in UTF-16 units. */
  readonly start?: number;
  readonly end?: number;
  /** The page, from 1, whose part of the text fits the question best; the first when none holds a word of it. */
  readonly page?: number;
  /** All pages that it stands on. */
  readonly pages?: readonly number[];
  /** Each of several pages, and where its text begins in `text`, in UTF-16 units. */
  readonly page_starts?: readonly (readonly [page: number, start: number])[];
  /** Parts of the text by which it was found, the best first; places in its document. */
  readonly matches?: readonly { readonly start: number; readonly end: number }[];
  readonly score?: number;
  readonly scores?: JsonObject;
  /** Of a passage that a graph led to: entities of the question, and the steps from there. */
  readonly why?: JsonObject;
  readonly url?: string;
  readonly tool?: string;
  readonly args?: JsonObject;
}

/** A place where an answer cites a source. */
export interface Citation {
  /** Number of the evidence. */
  readonly n: number;
  /** Where its mark begins in the answer, in UTF-16 units. */
  readonly at: number;
  /** Whether the evidence holds the numbers and at least half of the words of the statement. */
  readonly supported: boolean;
  /** Page from 1 that fits the statement best, of evidence that has pages. */
  readonly page?: number;
}

/** A stage as the last event of a chat sums it up. */
export interface StageSummary {
  readonly stage: StageNumber;
  readonly name: string;
  readonly ms: number;
  readonly status: StageStatus;
}

/** An event of a chat, in the order in which they come: one `session`, what happens, and at the end one `final` or one `error`. */
export type ChatEvent =
  | {
      readonly type: 'session';
      readonly session_id: string;
      readonly run_id: string;
      readonly chat_id?: string;
      readonly trace_id: string;
    }
  | { readonly type: 'stage_start'; readonly stage: StageNumber; readonly name: string; readonly budget_ms: number }
  | {
      readonly type: 'stage_end';
      readonly stage: StageNumber;
      readonly name: string;
      readonly ms: number;
      readonly status: StageStatus;
      readonly over_budget?: true;
      readonly detail: JsonObject;
    }
  | {
      readonly type: 'shortcut';
      readonly kind: ShortcutKind;
      readonly reason: string;
      /** Stages that are left out. */
      readonly skipped: readonly StageNumber[];
      /** Stages that were at work and are ended. */
      readonly cancelled: readonly StageNumber[];
    }
  /** A research may answer better. The chat starts none; its client may. */
  | ({ readonly type: 'research_suggested' } & ResearchSuggestion)
  | { readonly type: 'evidence'; readonly items: readonly Evidence[] }
  | { readonly type: 'thinking'; readonly content: string }
  | { readonly type: 'first_token'; readonly ms: number }
  | { readonly type: 'token'; readonly content: string }
  /** All tokens so far are void. */
  | { readonly type: 'retract'; readonly reason: string }
  | { readonly type: 'error'; readonly code: string; readonly message: string }
  | {
      readonly type: 'final';
      readonly trace_id: string;
      readonly total_ms: number;
      /** Absent when the answer is empty. */
      readonly first_token_ms?: number;
      /** The tokens behind the last `retract`, joined. */
      readonly response: string;
      readonly evidence: readonly Evidence[];
      readonly citations: readonly Citation[];
      /** Marks of citations that were removed, since there is no evidence of that number. */
      readonly removed_citations: number;
      readonly shortcut: ShortcutKind | null;
      readonly mode: string;
      readonly model: string | null;
      readonly usage: JsonObject;
      readonly stages: readonly StageSummary[];
      /** Names of the stages whose fallback counted. */
      readonly degraded: readonly string[];
    };
