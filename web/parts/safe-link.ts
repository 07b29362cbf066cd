/** Where a link of a document or a model may lead. */

const SCHEMES: readonly string[] = ['http:', 'https:', 'mailto:'];

/** The address of a link that may be followed; undefined for any other scheme, and for what is no whole address. */
export function safeLink(href: string): URL | undefined {
  // What browsers pass over in an address may hide its scheme.
  if (/[\p{Cc}\s]/u.test(href.trim())) return undefined;
  try {
    const url = new URL(href);
    return SCHEMES.includes(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/** What of an address is shown beside a link. */
export function shownHost(url: URL): string {
  return url.protocol === 'mailto:' ? url.pathname : url.host;
}
