import { isArtifact } from '../artifact-rules.js';
import type { CodeArtifact } from '../code-runner.js';

/** Characters of one file that are shown. */
const MAX_TEXT = 20_000;

/** A file of a script and where it can be fetched; the URL is empty when it was not kept. */
export interface LinkedArtifact {
  readonly file: CodeArtifact;
  readonly url: string;
}

const TYPES: readonly (readonly [RegExp, string])[] = [
  [/^image\//, 'image'],
  [/pdf/, 'pdf'],
  [/csv/, 'csv'],
  [/json/, 'json'],
  [/html/, 'html'],
];
const TEXTS = new Set(['csv', 'json', 'html']);

/**
 * Files as text for a model: their number, then each with its type and, where it is text, what is in it.
 *
 * Only text is read: a parser of anything else, fed with what a script chose, would be a way out of the sandbox.
 */
export function attachmentText(artifacts: readonly LinkedArtifact[]): string {
  if (artifacts.length === 0) return '';
  const blocks = artifacts.map(({ file, url }, at) => {
    const type = attachmentType(file);
    return `attachment${at + 1} (${type}): ${file.name}\n${textOf(file, type, url)}`;
  });
  return [`attachment_count: ${artifacts.length}`, ...blocks].join('\n\n');
}

/** The type in one word: by the media type, else by the ending of the name. */
function attachmentType({ name, mimeType }: Pick<CodeArtifact, 'name' | 'mimeType'>): string {
  const known = TYPES.find(([pattern]) => pattern.test(mimeType))?.[1];
  return known ?? /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? 'file';
}

function textOf({ name, bytes }: CodeArtifact, type: string, url: string): string {
  const unreadable = `Artifact generated but parse failed. Download: ${url || name}`;
  if (!TEXTS.has(type) || !isArtifact(name, bytes.byteLength)) return unreadable;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}\n…` : text;
  } catch {
    return unreadable;
  }
}
