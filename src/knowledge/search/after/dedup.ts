import { map } from 'rxjs';
import { definePostProcessor, type FoundPassage, type PostProcessor } from './post-processor.js';

/** Letters of a group; texts are compared by their groups. */
const GROUP = 5;
/** Share of common groups at which two texts are the same. */
const SAME = 0.9;
/** UTF-16 units of a text that are compared. */
const MAX_COMPARED = 20_000;

/**
 * Leaves out hits whose id or text an earlier one has; texts are the same when nine of ten groups of five letters are common.
 *
 * ```text
 * hits     ---(a b a' c)---|        a' says what a says
 * result   ---(a b c)------|
 * ```
 */
export const dedup: PostProcessor = definePostProcessor('dedup', (hits$) => hits$.pipe(map(withoutDoubles)));

function withoutDoubles(hits: readonly FoundPassage[]): FoundPassage[] {
  const ids = new Set<string>();
  const texts = new Set<string>();
  const kept: { readonly hit: FoundPassage; readonly groups: ReadonlySet<string> }[] = [];
  for (const hit of hits) {
    const text = hit.text.slice(0, MAX_COMPARED).toLowerCase().replace(/\s+/g, ' ').trim();
    if (ids.has(hit.id) || texts.has(text)) continue;
    const groups = groupsOf(text);
    if (kept.some((one) => areAlike(one.groups, groups))) continue;
    ids.add(hit.id);
    texts.add(text);
    kept.push({ hit, groups });
  }
  return kept.map(({ hit }) => hit);
}

function groupsOf(text: string): ReadonlySet<string> {
  const groups = new Set<string>();
  for (let at = 0; at + GROUP <= text.length; at += 1) groups.add(text.slice(at, at + GROUP));
  return groups;
}

/** By the share of all groups of both that are common (Jaccard). */
function areAlike(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  const [few, many] = left.size < right.size ? [left, right] : [right, left];
  // Sets of sizes that differ much cannot be alike.
  if (few.size === 0 || few.size < many.size * SAME) return false;
  let common = 0;
  for (const group of few) if (many.has(group)) common += 1;
  return common / (left.size + right.size - common) >= SAME;
}
