import { createHash } from 'node:crypto';
import { EngineError } from '../../errors.js';
import type { OwnedToken, TokenRecord, TokenStore } from '../../records/durable-stores.js';
import type { Database } from './database.js';

/** Tokens of one tenant; of two that come at once one more may pass. */
const MAX_PER_TENANT = 1_000;

/** Keys that tenants made, in Postgres. */
export function createPostgresTokens(database: Database): TokenStore {
  return {
    async insert(tenant, record) {
      const { token, beta } = record;
      const [row] = await database.repeat(
        (sql) => sql<{ count: number }[]>`select count(*)::int as count from runnel.tokens where tenant = ${tenant}`,
      );
      if ((row?.count ?? 0) >= MAX_PER_TENANT) throw full();
      await database.repeat(
        (sql) => sql`
          insert into runnel.tokens (tenant, token_digest, beta_digest, record)
          values (${tenant}, ${digestOf(token)}, ${digestOf(beta)}, ${JSON.stringify(record)})
          on conflict (token_digest) do nothing`,
      );
    },
    async list(tenant) {
      const rows = await database.repeat(
        (sql) => sql<{ record: TokenRecord }[]>`
          select record from runnel.tokens where tenant = ${tenant} order by position desc`,
      );
      return rows.map(({ record }) => record);
    },
    async delete(tenant, token) {
      const { count } = await database.once(
        (sql) => sql`delete from runnel.tokens where tenant = ${tenant} and token_digest = ${digestOf(token)}`,
      );
      return count > 0;
    },
    async findByToken(token) {
      const [row] = await database.repeat(
        (sql) => sql<OwnedToken[]>`select tenant, record from runnel.tokens where token_digest = ${digestOf(token)}`,
      );
      return row === undefined ? undefined : { ...row };
    },
    async findByBeta(beta) {
      const [row] = await database.repeat(
        (sql) => sql<OwnedToken[]>`select tenant, record from runnel.tokens where beta_digest = ${digestOf(beta)}`,
      );
      return row === undefined ? undefined : { ...row };
    },
  };
}

function full(): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `This server keeps at most ${MAX_PER_TENANT} tokens of a tenant. Delete some.`,
  );
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
