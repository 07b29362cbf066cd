import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Owned, type PageRequest, type Repository, resource } from './repository.js';

const tokenSchema = z.object({
  /** Opens the whole API. */
  token: z.string(),
  /** Opens chat pages alone, so that it may stand in them. */
  beta: z.string(),
  /** The one agent that `beta` opens; absent: all of the tenant's. */
  agentId: z.string().exactOptional(),
  createdAt: z.number(),
});

/** A pair of keys that a tenant made for itself. Times are milliseconds since 1970. */
export type TokenRecord = Readonly<z.infer<typeof tokenSchema>>;

/** A token and its tenant. */
export type OwnedToken = Owned<TokenRecord>;

/** Keys that tenants made. */
export interface TokenStore {
  /** @throws EngineError QUOTA_EXCEEDED when the tenant has as many as it may, LIMIT_REACHED when the store is full. */
  insert(tenant: string, record: TokenRecord): Promise<void>;
  /** Newest first. */
  list(tenant: string): Promise<readonly TokenRecord[]>;
  /** Whether there was one. */
  delete(tenant: string, token: string): Promise<boolean>;
  findByToken(token: string): Promise<OwnedToken | undefined>;
  findByBeta(beta: string): Promise<OwnedToken | undefined>;
}

/** More than a tenant is allowed by default; a list has a bound in any case. */
const MAX_LISTED = 10_000;

/** Tokens are found by digests, so that how long a look-up takes reveals nothing about keys that exist. */
export const tokens = resource<TokenRecord, PageRequest>({
  name: 'tokens',
  singular: 'Token',
  schema: tokenSchema,
  id: ({ token }) => digestOf(token),
  columns: {
    token_digest: { type: 'text', of: ({ token }) => digestOf(token) },
    beta_digest: { type: 'text', of: ({ beta }) => digestOf(beta) },
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
  return {
    insert: (tenant, record) => repository.insert(tenant, record),
    list: async (tenant) => (await repository.list(tenant, { offset: 0, limit: MAX_LISTED })).items,
    delete: (tenant, token) => repository.delete(tenant, digestOf(token)),
    findByToken: (token) => repository.findByKey('token_digest', digestOf(token)),
    findByBeta: (beta) => repository.findByKey('beta_digest', digestOf(beta)),
  };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
