import { createHash, timingSafeEqual } from 'node:crypto';
import type { TokenStore } from '../../records/tokens.js';
import type { ApiKey } from '../../settings/access.js';

/** Finds the tenant of a key, in the same time for every key. */
export type FindTenant = (token: string) => string | undefined;

export function createFindTenant(keys: readonly ApiKey[]): FindTenant {
  const known = keys.map(({ tenant, key }) => ({ tenant, digest: digestOf(key) }));
  return (token) => {
    const digest = digestOf(token);
    let found: string | undefined;
    for (const candidate of known) {
      if (timingSafeEqual(candidate.digest, digest)) found = candidate.tenant;
    }
    return found;
  };
}

/** Finds the tenant of a key, among the keys of the settings and those that tenants created. */
export async function findOwner(
  findTenant: FindTenant,
  tokens: Pick<TokenStore, 'findByToken'>,
  key: string,
): Promise<string | undefined> {
  return findTenant(key) ?? (await tokens.findByToken(key))?.tenant;
}

/** The token of an `Authorization` header: `Bearer <token>`, or the bare token. */
export function tokenOf(header: string | undefined): string | undefined {
  const text = header?.trim() ?? '';
  if (text === '' || /^bearer$/i.test(text)) return undefined;
  return /^bearer\s+(.*)$/is.exec(text)?.[1] ?? text;
}

/** Whether two secrets are the same; in constant time. */
export function sameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected));
}

/** A short name that does not reveal the secret, for counters and logs. */
export function nameOfSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url').slice(0, 22);
}

/** Of equal length, as `timingSafeEqual` needs. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
