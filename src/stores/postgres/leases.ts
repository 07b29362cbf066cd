import type { Lease, LeaseStore } from '../../records/coordination.js';
import type { Database, Fragment, Statements } from './database.js';

/**
 * Leases in Postgres, by its clock, so that it does not matter when those of the processes differ.
 *
 * A lease that expired stays until another owner takes it; until then its owner may still prolong it, so that an outage of the database
 * alone does not cost a run.
 */
export function createPostgresLeases(database: Database): LeaseStore {
  return {
    async acquire(tenant, { name, owner, data }, ttlMs) {
      for (;;) {
        const [taken] = await database.repeat(
          (sql) => sql<Lease[]>`
            insert into runnel.leases as l (tenant, name, owner, data, expires_at)
            values (
              ${tenant}, ${name}, ${owner}, ${JSON.stringify(data)},
              clock_timestamp() + ${ttlMs}::float8 * interval '1 millisecond'
            )
            on conflict (tenant, name) do update set
              owner = excluded.owner, data = excluded.data, expires_at = excluded.expires_at
            where l.owner = excluded.owner or l.expires_at <= clock_timestamp()
            returning name, owner, data, ${expiresAt(sql)}`,
        );
        if (taken !== undefined) return { holder: { ...taken }, isMine: true };
        const [holder] = await database.repeat(
          (sql) => sql<Lease[]>`
            select name, owner, data, ${expiresAt(sql)} from runnel.leases where tenant = ${tenant} and name = ${name}`,
        );
        if (holder !== undefined) return { holder: { ...holder }, isMine: false };
        // It was given back in between.
      }
    },
    async renew(tenant, name, owner, ttlMs) {
      const { count } = await database.repeat(
        (sql) => sql`
          update runnel.leases set expires_at = clock_timestamp() + ${ttlMs}::float8 * interval '1 millisecond'
          where tenant = ${tenant} and name = ${name} and owner = ${owner}`,
      );
      return count > 0;
    },
    async release(tenant, name, owner) {
      await database.repeat(
        (sql) => sql`delete from runnel.leases where tenant = ${tenant} and name = ${name} and owner = ${owner}`,
      );
    },
    async expired(prefix, limit) {
      const rows = await database.repeat(
        (sql) => sql<(Lease & { tenant: string })[]>`
          select tenant, name, owner, data, ${expiresAt(sql)} from runnel.leases
          where starts_with(name, ${prefix}) and expires_at <= clock_timestamp()
          order by runnel.leases.expires_at limit ${limit}`,
      );
      return rows.map((row) => ({ ...row }));
    },
  };
}

/** Ends all leases: their owners are gone. For a database that only one process can use, when that process starts. */
export async function expireLeases(database: Database): Promise<void> {
  await database.repeat((sql) => sql`update runnel.leases set expires_at = clock_timestamp()`);
}

/** Rounded down, so that no holder thinks it has longer than it has. */
function expiresAt(sql: Statements): Fragment {
  return sql`floor(extract(epoch from expires_at) * 1000)::float8 as "expiresAt"`;
}
