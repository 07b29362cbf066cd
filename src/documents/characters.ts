/** Characters of texts in documents: their widths, and those that formats cannot hold. */

/** Characters that take two columns, by the East Asian widths of Unicode, emoji included. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;

/** Characters that take no column: they change or join the ones beside them. */
const ZERO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML 1.0 has no way to write
const UNWRITABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff]/g;

/** Whether a character is as wide as two letters. */
export function isWide(character: string): boolean {
  return WIDE.test(character);
}

/** Columns that a text takes in a fixed-width font. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (!ZERO_WIDTH.test(character)) columns += isWide(character) ? 2 : 1;
  }
  return columns;
}

/** Removes control characters and replaces lone surrogates, so that any format can hold the text. */
export function writable(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(UNWRITABLE, '')
    .replace(/\p{Surrogate}/gu, '\ufffd');
}

/** The first `maxLength` UTF-16 units of a text, one less where that would split a surrogate pair. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const cut = text.slice(0, maxLength);
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}

/** One line of {@link writable} text, cut at `maxLength` UTF-16 units. */
export function writableLine(text: string, maxLength: number): string {
  return writable(cutText(text, maxLength)).replace(/\s+/g, ' ').trim();
}
