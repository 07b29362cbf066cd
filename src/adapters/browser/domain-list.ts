import { EngineError } from '../../errors.js';
import { invalidOption } from '../../operators/invalid-option.js';
import { hostOf } from '../egress/url-policy.js';

/** Domains that pages may be loaded from, with everything below them; an empty list lets all through. */
export type DomainList = readonly string[];

/** The domains of a text (commas or spaces between them) or a list, in lower case and as URLs write them; undefined for what is none. */
export function readDomains(given: string | readonly string[]): DomainList | undefined {
  const parts = (typeof given === 'string' ? given.split(/[\s,]+/) : given).map((part) => part.trim()).filter(Boolean);
  const domains = parts.map(domainOf);
  return domains.includes(undefined) ? undefined : (domains as string[]);
}

/** As {@link readDomains}. @throws EngineError OPTION_INVALID for what is no domain. */
export function requireDomains(owner: string, name: string, given: string | readonly string[]): DomainList {
  const domains = readDomains(given);
  if (domains !== undefined) return domains;
  throw invalidOption(owner, name, 'a list of domains such as "example.org"', given);
}

/** @throws EngineError URL_BLOCKED for a host that one of the lists leaves out. */
export function checkDomain(url: URL, lists: readonly DomainList[]): void {
  const host = hostOf(url);
  const isListed = (list: DomainList): boolean =>
    list.length === 0 || list.some((domain) => host === domain || host.endsWith(`.${domain}`));
  if (lists.every(isListed)) return;
  throw new EngineError(
    'URL_BLOCKED',
    `URL "${url.protocol}//${host.slice(0, 100)}" is not allowed: its domain is not one of those that this browser may open.`,
  );
}

/** `*.example.org` is `example.org`, which stands for everything below it as well. */
function domainOf(text: string): string | undefined {
  const bare = text.replace(/^\*?\./, '');
  const isPlain = /^[\p{L}\p{N}_.-]{1,253}$|^\[[\da-f:.]{2,45}\]$/iu.test(bare);
  return isPlain && URL.canParse(`http://${bare}/`) ? hostOf(new URL(`http://${bare}/`)) : undefined;
}
