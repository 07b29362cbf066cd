/** One address for a page that is reachable under many. */

/** Parameters that say where a reader came from, never which page it is. */
const TRACKING = /^(?:utm_\w+|gclid|fbclid|msclkid|mc_[ce]id|ref|ref_src|source|spm|from|share|igshid)$/i;

/** Ports that their schemes have by themselves are left out by `URL`. */
const INDEX = /\/(?:index|default)\.(?:html?|php|aspx?)$/i;

/** The address without what does not tell pages apart: scheme, `www.`, fragment, tracking, order of parameters, a slash at the end. The text itself when it is no address. */
export function canonicalAddress(given: string): string {
  if (!URL.canParse(given)) return given.trim();
  const url = new URL(given);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return url.href;
  const host = url.host.replace(/^(?:www|m|amp)\./, '');
  const path = url.pathname
    .replace(INDEX, '/')
    .replace(/\/amp\/?$/, '/')
    .replace(/\/+$/, '');
  const kept = [...url.searchParams].filter(([name]) => !TRACKING.test(name)).sort(byName);
  const query = new URLSearchParams(kept).toString();
  return `${host}${path}${query === '' ? '' : `?${query}`}`;
}

function byName([a, one]: readonly [string, string], [b, other]: readonly [string, string]): number {
  return a < b ? -1 : a > b ? 1 : one < other ? -1 : one > other ? 1 : 0;
}
