/** What the settings of access are made of: keys with their tenants, ranges of addresses. */
import ipaddr from 'ipaddr.js';
import type { Parsed } from './setting.js';

/** A key and its tenant. */
export interface ApiKey {
  readonly tenant: string;
  readonly key: string;
}

/** The tenant of a server without keys, and of a key without a tenant. */
export const LOCAL_TENANT = 'local';

const TENANT = /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}$/;

/** Characters that a key has at least: one that is shorter can be guessed. */
const LEAST_KEY = 16;

/** Reads `key` or `tenant=key`, comma-separated; padding at the end of a key is no tenant (`a2V5==`). No problem contains a key. */
export function parseApiKeys(text: string): Parsed<readonly ApiKey[]> {
  const keys: ApiKey[] = [];
  const invalid = (index: number, why: string) => ({ problem: `is not valid: entry ${index + 1} ${why}` });
  for (const [index, part] of text.split(',').entries()) {
    const entry = part.trim();
    const [, tenant = LOCAL_TENANT, key = entry] = /^([^=]*)=([^=].*)$/s.exec(entry) ?? [];
    if (key === '') return invalid(index, 'is empty');
    if (!TENANT.test(tenant)) return invalid(index, 'has a tenant that is not made of letters, digits and _.@-');
    if (!/^[\x21-\x7e]+$/.test(key)) return invalid(index, 'has a key with blanks or special characters');
    if (key.length < LEAST_KEY)
      return invalid(index, `has a key of ${key.length} characters; keys have at least ${LEAST_KEY}`);
    if (keys.some((other) => other.key === key)) return invalid(index, 'repeats a key');
    keys.push({ tenant, key });
  }
  return { value: keys };
}

/** A range of addresses. */
export type AddressRange = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Reads an address or a range in CIDR form; undefined when it is neither. */
export function parseRange(text: string): AddressRange | undefined {
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.process(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  } catch {
    return undefined;
  }
}
