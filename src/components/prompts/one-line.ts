/** A text on one line, so that it cannot pass for another entry of a list. */
export function oneLine(text: string): string {
  // Looked for only where blanks begin: from each of many in a row it would take quadratic time.
  return text.replace(/(?<!\s)\s*[\r\n]+\s*/g, ' ').trim();
}
