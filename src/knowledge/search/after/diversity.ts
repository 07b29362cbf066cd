import { map } from 'rxjs';
import { requireWhole } from '../../../operators/invalid-option.js';
import { definePostProcessor, type PostProcessor } from './post-processor.js';

/**
 * Keeps the best hits of each document, 3 unless said otherwise.
 *
 * ```text
 * hits     ---(a1 a2 a3 a4 b1)---|
 * result   ---(a1 a2 a3 b1)------|       most 3
 * ```
 *
 * @throws EngineError OPTION_INVALID
 */
export function diversityOf(most = 3): PostProcessor {
  requireWhole('diversityOf', 'most', most, 1);
  return definePostProcessor('diversity', (hits$) =>
    hits$.pipe(
      map((hits) => {
        const counts = new Map<string, number>();
        return hits.filter(({ documentId }) => {
          const count = (counts.get(documentId) ?? 0) + 1;
          counts.set(documentId, count);
          return count <= most;
        });
      }),
    ),
  );
}
