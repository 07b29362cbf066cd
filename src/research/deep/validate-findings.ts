/** Whether findings suffice, and which of them contradict each other. */
import { map, type Observable } from 'rxjs';
import { type Asking, askCall } from '../calls/ask-call.js';
import { type Contradiction, contradictionsOf } from '../evidence/contradictions.js';
import type { ResearchEvidence } from '../evidence/evidence-table.js';
import type { Finding } from './fold-research.js';

/** What a model says of findings. */
export interface Validation {
  readonly isSufficient: boolean;
  /** What else must be found; empty where they suffice. */
  readonly missing: readonly string[];
  /** Pairs of findings. */
  readonly contradictions: readonly Contradiction[];
}

/** Asks a model; emits once. Ids that it makes up do not count. Errors: as `askCall`. */
export function validateFindings(asking: Asking, question: string, facts: readonly Finding[]): Observable<Validation> {
  const findings = facts.map(({ id, question: text, answer, supported_by }) => ({
    id,
    question: text,
    answer,
    supported_by,
  }));
  const known = new Set(facts.map(({ id }) => id));
  return askCall(asking, 'research_validate', { question, findings }).pipe(
    map(({ sufficient, missing, contradictions }) => ({
      isSufficient: sufficient,
      missing: sufficient ? [] : missing,
      contradictions: contradictions.filter(({ a, b }) => known.has(a) && known.has(b) && a !== b),
    })),
  );
}

/** Contradictions of texts that concern an answer, by rules: sources may differ in much that was not asked. */
export function contradictionsOfFacts(
  facts: readonly Finding[],
  looked: readonly ResearchEvidence[],
): readonly Contradiction[] {
  return contradictionsOf(looked).filter((one) =>
    facts.some(
      ({ supported_by, answer }) => supported_by.some((id) => id === one.a || id === one.b) && one.why.includes(answer),
    ),
  );
}
