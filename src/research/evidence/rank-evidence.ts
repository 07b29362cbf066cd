/** The evidence of a research as one list, as a test collection judges it. */

import type { ResearchPicture } from '../deep/fold-research.js';
import type { CitedEvidence } from './check-report.js';

/** Places that are filled question by question before scores alone decide. */
const FRONT = 8;

/**
 * Ids of evidence: first what the report cites, in that order; then what other findings stand on; then, for each question without an answer and each in
 * turn, the best of what was found for it; at last all by score.
 */
export function rankEvidence(
  picture: ResearchPicture,
  sources: readonly Pick<CitedEvidence, 'id'>[],
): readonly string[] {
  const ranked = new Set(sources.map(({ id }) => id));
  for (const { finding } of picture.questions) for (const id of finding?.supported_by ?? []) ranked.add(id);
  const open = picture.questions.filter(
    ({ status, finding }) => status !== 'answered' || finding?.supported_by.length === 0,
  );
  for (let at = 0; ranked.size < FRONT && at < FRONT; at += 1) {
    for (const { id } of open) {
      const next = picture.read.get(id)?.[at];
      if (next !== undefined && ranked.size < FRONT) ranked.add(next);
    }
  }
  const rest = [...picture.evidence].sort((a, b) => b.score - a.score);
  for (const { id } of rest) ranked.add(id);
  return [...ranked];
}
