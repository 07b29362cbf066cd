import { map } from 'rxjs';
import { requireWhole } from '../../../operators/invalid-option.js';
import { definePostProcessor, type FoundPassage, type PostProcessor } from './post-processor.js';

/** How much is kept. */
export interface TruncateOptions {
  /** Hits at most. @default 5 */
  readonly most?: number;
  /** Tokens of all texts together at most. @default not counted */
  readonly maxTokens?: number | undefined;
  /** Counts the tokens of a text; needed for `maxTokens`. @default a token for each four units, and for each letter of Chinese */
  readonly countTokens?: ((text: string) => number) | undefined;
}

/**
 * Keeps the first hits, as many as there is room for; the first one always. A hit that is too long does not keep shorter ones behind it out.
 *
 * ```text
 * hits     ---(a b c d e f g)---|
 * result   ---(a b c d e)-------|       most 5
 * ```
 *
 * @throws EngineError OPTION_INVALID
 */
export function truncateTo({ most = 5, maxTokens, countTokens = estimate }: TruncateOptions = {}): PostProcessor {
  requireWhole('truncateTo', 'most', most, 1);
  if (maxTokens !== undefined) requireWhole('truncateTo', 'maxTokens', maxTokens, 1);
  return definePostProcessor('truncate', (hits$) =>
    hits$.pipe(
      map((hits) => (maxTokens === undefined ? hits.slice(0, most) : withRoom(hits, most, maxTokens, countTokens))),
    ),
  );
}

function withRoom(
  hits: readonly FoundPassage[],
  most: number,
  maxTokens: number,
  countTokens: (text: string) => number,
): FoundPassage[] {
  const kept: FoundPassage[] = [];
  let used = 0;
  for (const hit of hits) {
    if (kept.length >= most) break;
    const tokens = countTokens(hit.text);
    if (kept.length > 0 && used + tokens > maxTokens) continue;
    kept.push(hit);
    used += tokens;
  }
  return kept;
}

function estimate(text: string): number {
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  return han + Math.ceil((text.length - han) / 4);
}
