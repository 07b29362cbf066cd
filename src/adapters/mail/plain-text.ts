/** What readers see who show no HTML. */

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** Elements whose content nobody reads. */
const UNSEEN = new Set(['script', 'style', 'head', 'title', 'template']);

/** Elements that begin a line. */
const LINES = /^(?:br|p|div|li|tr|h[1-6]|ul|ol|table|blockquote|pre|hr|section|article)$/;

/** Whether a text has a tag in it. */
export function isHtml(text: string): boolean {
  return /<\/?[a-z][a-z0-9]*(?:\s|\/?>)/i.test(text);
}

/** The text of HTML: tags left out, lines where blocks begin. Takes time in proportion to the length, whatever is written. */
export function plainText(html: string): string {
  const lower = html.toLowerCase();
  const pieces: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    const end = open < 0 ? -1 : html.indexOf('>', open);
    if (end < 0) break;
    pieces.push(html.slice(at, open));
    const name = /^\/?([a-z][a-z0-9]*)/.exec(lower.slice(open + 1, open + 20))?.[1] ?? '';
    if (LINES.test(name)) pieces.push('\n');
    at = end + 1;
    if (lower[open + 1] === '/' || !UNSEEN.has(name)) continue;
    const close = lower.indexOf(`</${name}`, at);
    at = close < 0 ? html.length : close;
  }
  const text = pieces.join('') + html.slice(at);
  return text
    .replace(/&(?:#(\d{1,7})|([a-z]{2,5}));/gi, (entity, code, name) => decoded(entity, code, name))
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function decoded(entity: string, code: string | undefined, name: string | undefined): string {
  if (code !== undefined) return Number(code) > 0x10ffff ? entity : String.fromCodePoint(Number(code));
  const key = (name ?? '').toLowerCase();
  return Object.hasOwn(ENTITIES, key) ? (ENTITIES[key] ?? entity) : entity;
}
