/** Which files of a script come back. */
import { MEDIA_TYPES } from '../../records/files.js';

/** Most files of one script. */
export const MAX_ARTIFACTS = 10;
/** Bytes that one file may have. */
const MAX_ARTIFACT_BYTES = 10 * 1024 * 1024;

/** Endings of files that come back. */
const ENDINGS = ['png', 'jpg', 'jpeg', 'svg', 'pdf', 'csv', 'json', 'html'] as const;

/** Names become parts of Markdown and of URLs; nothing in them may mean anything there. */
const PLAIN = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N} _.()+,@-]{0,200}$/u;

/** Ending of a name, in lower case without the dot; empty without one. */
export function artifactEnding(name: string): string {
  return /\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
}

/** The media type of a file that may come back, by its name; undefined when it may not. */
export function artifactType(name: string): string | undefined {
  const ending = ENDINGS.find((one) => one === artifactEnding(name));
  return ending === undefined || !PLAIN.test(name) || name.includes('..') ? undefined : MEDIA_TYPES[ending];
}

/** Whether a file with that name and size comes back. */
export function isArtifact(name: string, bytes: number): boolean {
  return bytes > 0 && bytes <= MAX_ARTIFACT_BYTES && artifactType(name) !== undefined;
}
