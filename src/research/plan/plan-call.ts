/** Tools that the tasks of plans call beside the searches: those of the package, of MCP servers, and canvases. */
import type { Observable } from 'rxjs';
import type { JsonObject } from '../../json.js';
import type { FoundEvidence } from '../evidence/evidence-table.js';

/** What a call gave. */
export interface CallGave {
  readonly text: string;
  /** What of it can be cited, as it was read; the best first. */
  readonly found: readonly FoundEvidence[];
}

/** A tool that a task may call. */
export interface PlanCall {
  /** What it does, and its arguments, for those who plan. */
  readonly does: string;
  /** Whether a planner may choose it; people may in any case. */
  readonly isOffered: boolean;
  /** Its result follows from its arguments alone, so it is an answer without a source. */
  readonly isCalculation: boolean;
  /** Whether a call that failed may be repeated. */
  readonly isRepeatable: boolean;
  /** Arguments for a task that has none, from what it asks. */
  argumentsOf(question: string): JsonObject;
  /** Emits what it gave once. Cold: unsubscribing closes its sockets. Errors: those of the tool */
  call(args: JsonObject, question: string): Observable<CallGave>;
}

/** Tokens that reading a result with its verification takes about; a calculation takes none. */
const READING_TOKENS = 3_000;

/** Tokens that a task of a tool takes about. */
export function costOfCall({ isCalculation }: PlanCall): number {
  return isCalculation ? 0 : READING_TOKENS;
}
