const ESCAPED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text for HTML and its attributes, without control characters and those that turn the direction of what follows. */
export function escaped(text: string): string {
  return text.replace(/(?!\n)[\p{Cc}\p{Cf}]/gu, '').replace(/[&<>"']/g, (character) => ESCAPED[character] ?? '');
}
