/** Vectors of texts that need no model: words and their trigrams, hashed. */
import { isFiller } from './names.mjs';

/** A vector of length 1; texts with the same words have the same one, without regard to case and marks. */
export function embed(text, dimensions) {
  const vector = new Float64Array(dimensions);
  for (const word of text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]+/gu) ?? []) {
    if (isFiller(word)) continue;
    const padded = ` ${word} `;
    const parts = [padded];
    for (let at = 0; at + 3 <= padded.length; at += 1) parts.push(padded.slice(at, at + 3));
    for (const part of parts) {
      const hash = hashOf(part);
      // The sign keeps parts that share a place from adding up.
      vector[(hash >>> 1) % dimensions] += (hash & 1 ? 1 : -1) / Math.sqrt(parts.length);
    }
  }
  const length = Math.hypot(...vector) || 1;
  return Array.from(vector, (value) => value / length);
}

/** FNV-1a, then mixed so that low bits differ, too. */
function hashOf(text) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
