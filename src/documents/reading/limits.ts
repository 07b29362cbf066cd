/** Bounds of reading one file. */
export interface ReadLimits {
  /** Most UTF-16 units of text; a longer text is cut and says so in its last line. */
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
