import { z } from 'zod';

const MAX_TAG = 64;
const MAX_ALL = 512;

/** Tags as clients send them: one text, or a list of tags. */
export const tagsSchema = z.union([z.string(), z.array(z.string())], { error: 'expected a text or a list of texts' });

/**
 * Tags as they are kept: comma-separated, each once without regard to case, 64 characters at most, 512 together. What does not
 * fit is left out. A comma within an entry of a list is a blank.
 */
export function readTags(given: z.output<typeof tagsSchema>): string {
  const parts = typeof given === 'string' ? given.split(',') : given.map((tag) => tag.replace(/(?<!\s)\s*,\s*/g, ' '));
  const kept = new Map<string, string>();
  let length = 0;
  for (const part of parts) {
    const tag = part.trim().slice(0, MAX_TAG).trim();
    const needed = tag.length + (kept.size === 0 ? 0 : 1);
    if (tag === '' || kept.has(tag.toLowerCase()) || length + needed > MAX_ALL) continue;
    kept.set(tag.toLowerCase(), tag);
    length += needed;
  }
  return [...kept.values()].join(',');
}
