/** Which files of a script come back. */

/** Most files of one script. */
export const MAX_ARTIFACTS = 10;
/** Bytes that one file may have. */
const MAX_ARTIFACT_BYTES = 10 * 1024 * 1024;

const MIME_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  svg: 'image/svg+xml',
  pdf: 'application/pdf',
  csv: 'text/csv',
  json: 'application/json',
  html: 'text/html',
};

/** Names become parts of Markdown and of URLs; nothing in them may mean anything there. */
const PLAIN = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N} _.()+,@-]{0,200}$/u;

/** Ending of a name, in lower case without the dot; empty without one. */
export function artifactEnding(name: string): string {
  return /\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
}

/** The media type of a file that may come back, by its name; undefined when it may not. */
export function artifactType(name: string): string | undefined {
  const ending = artifactEnding(name);
  const isPlain = PLAIN.test(name) && !name.includes('..');
  return isPlain && Object.hasOwn(MIME_TYPES, ending) ? MIME_TYPES[ending] : undefined;
}

/** Whether a file with that name and size comes back. */
export function isArtifact(name: string, bytes: number): boolean {
  return bytes > 0 && bytes <= MAX_ARTIFACT_BYTES && artifactType(name) !== undefined;
}

/** Levels that a value from outside may be nested; what walks values calls itself. */
export const MAX_DEPTH = 200;

/** Whether a JSON text is nested deeper than that; works without parsing it. */
export function isTooDeep(json: string): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const unit = json.charCodeAt(at);
    if (isText) {
      if (unit === 0x5c) at += 1;
      else if (unit === 0x22) isText = false;
    } else if (unit === 0x22) isText = true;
    else if (unit === 0x5b || unit === 0x7b) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (unit === 0x5d || unit === 0x7d) depth -= 1;
  }
  return false;
}
