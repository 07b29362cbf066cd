/** Bounds of reading files, and the errors of files that cannot be read. */
import { EngineError } from '../../errors.js';
import { cutText } from '../characters.js';

/** Bounds of reading one file. */
export interface ReadLimits {
  /** Most UTF-16 units of text; a longer text is cut, which its last line states. */
  readonly maxCharacters: number;
  /** Ends the reading of a large file early. */
  readonly signal?: AbortSignal | undefined;
}

/** Largest file, in bytes. */
export const MAX_FILE_BYTES = 64 * 1_048_576;
/** Largest image, in bytes; models take no larger ones. */
export const MAX_IMAGE_BYTES = 20 * 1_048_576;
/** Largest web page, in bytes. */
export const MAX_HTML_BYTES = 8 * 1_048_576;
/** Longest text of a document, in UTF-16 units: about a million tokens. */
export const MAX_TEXT_CHARACTERS = 4 * 1_048_576;

/** The last line of a text that was cut. */
const CUT = /\[The rest of "[^\n]*" is left out after [\d,]+ characters\.\]$/;

/**
 * Cuts a text at `maxCharacters` UTF-16 units and states it in the last line: a model that reads half a document should know,
 * and so should the person who reads the answer.
 */
export function limitText(text: string, maxCharacters: number, name: string): string {
  if (text.length <= maxCharacters) return text;
  const kept = cutText(text, maxCharacters);
  return `${kept}\n\n[The rest of "${name}" is left out after ${kept.length.toLocaleString('en-US')} characters.]`;
}

/** Whether a text was cut by {@link limitText}. */
export function isCut(text: string): boolean {
  return CUT.test(text.slice(-1000));
}

/** The error for a file that is not what it claims to be, or not of a kind that can be read; `reason` is a sentence. */
export function unreadable(name: string, reason: string, cause?: unknown): EngineError {
  return new EngineError('FILE_UNREADABLE', `File "${name}" cannot be read: ${reason}`, {
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Gives a failure of a parser as that error, its first line as the reason; aborts and own errors stay as they are. */
export function toUnreadable(name: string, thrown: unknown, what: string): unknown {
  if (EngineError.is(thrown) || (thrown instanceof Error && thrown.name === 'AbortError')) return thrown;
  const [reason = ''] = (thrown instanceof Error ? thrown.message : String(thrown)).split('\n', 1);
  return unreadable(name, `it is no usable ${what} (${reason}).`, thrown);
}

/** @throws EngineError FILE_UNREADABLE for what has more bytes than it may; `what` names it in the sentence. */
export function requireSize(name: string, what: string, bytes: number, maxBytes: number): void {
  if (bytes <= maxBytes) return;
  throw unreadable(name, `${what} ${sizeText(bytes)}; at most ${sizeText(maxBytes)} are read.`);
}

/** A size as text: `1.5 MiB`. */
function sizeText(bytes: number): string {
  return `${Math.ceil((bytes / 1_048_576) * 10) / 10} MiB`;
}
