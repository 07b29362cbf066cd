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
  const kept: { readonly hit: FoundPassage; readonly groups: ReadonlySet<number> }[] = [];
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

/** The groups as numbers: two of them have one number in a thousand million cases once, and comparing takes a fifth of the time. */
function groupsOf(text: string): ReadonlySet<number> {
  const groups = new Set<number>();
  let number = 0;
  for (let at = 0; at < text.length; at += 1) {
    number = (Math.imul(number, BASE) + text.charCodeAt(at)) | 0;
    if (at >= GROUP) number = (number - Math.imul(text.charCodeAt(at - GROUP), BASE_OF_GROUP)) | 0;
    if (at >= GROUP - 1) groups.add(number);
  }
  return groups;
}

/** Odd, and without a pattern in its bits. */
const BASE = 0x2c1b_3c6d;
/** What the first letter of a group has been multiplied by once a letter behind it comes. */
const BASE_OF_GROUP = Array.from({ length: GROUP }).reduce<number>((power) => Math.imul(power, BASE), 1);

/** By the share of all groups of both that are common (Jaccard). */
function areAlike(left: ReadonlySet<number>, right: ReadonlySet<number>): boolean {
  const [few, many] = left.size < right.size ? [left, right] : [right, left];
  // Sets of sizes that differ much cannot be alike.
  if (few.size === 0 || few.size < many.size * SAME) return false;
  const needed = (SAME * (left.size + right.size)) / (1 + SAME);
  let missable = few.size - needed;
  for (const group of few) {
    if (many.has(group)) continue;
    missable -= 1;
    // Most texts have little in common, which shows early.
    if (missable < 0) return false;
  }
  return true;
}
