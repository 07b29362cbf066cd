import { EngineError } from '../../errors.js';

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

/** A size in words: `1.5 MiB`. */
export function sizeText(bytes: number): string {
  return `${Math.ceil((bytes / 1_048_576) * 10) / 10} MiB`;
}
