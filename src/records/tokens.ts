import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Owned, type PageRequest, type Repository, resource } from './repository.js';

/** A pair of keys that a tenant makes for itself, as it is given to the tenant once. Times are milliseconds since 1970. */
export interface KeyPair {
  /** Opens the whole API. */
  readonly token: string;
  /** Opens chat pages alone, so that it may stand in them. */
  readonly beta: string;
  /** The one agent that `beta` opens; absent: all of the tenant's. */
  readonly agentId?: string;
  readonly createdAt: number;
}

const tokenSchema = z.object({
  /** Digests of both keys: the keys themselves are not stored. */
  digest: z.string(),
  betaDigest: z.string(),
  /** The keys as lists show them, without their middle. */
  shown: z.string(),
  betaShown: z.string(),
  /** The one agent that `beta` opens; absent: all of the tenant's. */
  agentId: z.string().exactOptional(),
  createdAt: z.number(),
});

/** What is stored of a pair of keys. */
export type TokenRecord = Readonly<z.infer<typeof tokenSchema>>;

/** A token and its tenant. */
export type OwnedToken = Owned<TokenRecord>;

/** Keys that tenants made. */
export interface TokenStore {
  /** Stores what recognises the keys. @throws EngineError QUOTA_EXCEEDED when the tenant has as many as it may, LIMIT_REACHED when the store is full. */
  insert(tenant: string, keys: KeyPair): Promise<void>;
  /** Newest first. */
  list(tenant: string): Promise<readonly TokenRecord[]>;
  /** Whether there was one. @param token the key of the API, or what a list shows of it */
  delete(tenant: string, token: string): Promise<boolean>;
  findByToken(token: string): Promise<OwnedToken | undefined>;
  findByBeta(beta: string): Promise<OwnedToken | undefined>;
}

/** More than a tenant is allowed by default; a list has a bound in any case. */
const MAX_LISTED = 10_000;

/** Characters of a key that are shown, at its beginning (behind the `ragflow-` of all keys of the API, where it is one) and at its end. */
const SHOWN = { token: [14, 6], beta: [4, 4] } as const;

/** Tokens are found by digests, so that how long a look-up takes reveals nothing about keys that exist. */
export const tokens = resource<TokenRecord, PageRequest>({
  name: 'tokens',
  singular: 'Token',
  schema: tokenSchema,
  id: ({ digest }) => digest,
  columns: {
    token_digest: { type: 'text', of: ({ digest }) => digest },
    beta_digest: { type: 'text', of: ({ betaDigest }) => betaDigest },
  },
  unique: ['token_digest', 'beta_digest'].map((column) => ({
    columns: [column],
    acrossTenants: true,
    conflict: () => 'This token already exists.',
  })),
  filters: {},
  orders: { inserted: 'position' },
  indexes: [['tenant', 'position']],
  quota: { name: 'tokens', per: 'tenant' },
  memory: { maxCount: 100_000 },
});

/** Tokens over their repository. */
export function createTokenStore(repository: Repository<TokenRecord, PageRequest>): TokenStore {
  const list = async (tenant: string): Promise<readonly TokenRecord[]> =>
    (await repository.list(tenant, { offset: 0, limit: MAX_LISTED })).items;
  return {
    insert: (tenant, keys) => repository.insert(tenant, recordOf(keys)),
    list,
    async delete(tenant, token) {
      if (await repository.delete(tenant, digestOf(token))) return true;
      const [meant, ...others] = (await list(tenant)).filter(({ shown }) => shown === token);
      return meant !== undefined && others.length === 0 && repository.delete(tenant, meant.digest);
    },
    findByToken: (token) => repository.findByKey('token_digest', digestOf(token)),
    findByBeta: (beta) => repository.findByKey('beta_digest', digestOf(beta)),
  };
}

function recordOf({ token, beta, agentId, createdAt }: KeyPair): TokenRecord {
  return {
    digest: digestOf(token),
    betaDigest: digestOf(beta),
    shown: withoutMiddle(token, SHOWN.token),
    betaShown: withoutMiddle(beta, SHOWN.beta),
    ...(agentId === undefined ? {} : { agentId }),
    createdAt,
  };
}

/** What is left is too long to be guessed: 31 and 24 characters of 6 random bits. Migration 0004 does the same. */
function withoutMiddle(key: string, [first, last]: readonly [number, number]): string {
  if (key.length <= 2 * (first + last)) return '*'.repeat(key.length);
  return key.slice(0, first) + '*'.repeat(key.length - first - last) + key.slice(-last);
}

/** A random text of many bits needs no salt. */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
