import type { QuotaName, Quotas, UsageStore } from '../../records/quotas.js';
import type { Database } from './database.js';

/** A row of the table of what tenants store, which its triggers move. */
interface UsageRow {
  readonly name: QuotaName;
  readonly count: number;
  readonly bytes: number;
}

/** What tenants store, counted by the database. */
export function createPostgresUsage(database: Database, quotas: Quotas): UsageStore {
  return {
    quotas,
    async of(tenant) {
      const rows = await database.repeat(
        (sql) => sql<UsageRow[]>`
          select name, count::float8 as count, bytes::float8 as bytes from runnel.usage
          where tenant = ${tenant} and owner = ''`,
      );
      return usageOf(rows);
    },
    async sessions(tenant) {
      const [row] = await database.repeat(
        (sql) => sql<{ count: number }[]>`
          select count(*)::float8 as count from runnel.sessions where tenant = ${tenant}`,
      );
      return row?.count ?? 0;
    },
    async most() {
      const rows = await database.repeat(
        (sql) => sql<UsageRow[]>`
          select name, max(count)::float8 as count, max(bytes)::float8 as bytes from runnel.usage
          where owner = '' group by name`,
      );
      return usageOf(rows);
    },
  };
}

function usageOf(rows: readonly UsageRow[]) {
  const [files, pageFiles] = [find(rows, 'files'), find(rows, 'pageFiles')];
  return {
    agents: find(rows, 'agents').count,
    tokens: find(rows, 'tokens').count,
    files: files.count,
    fileBytes: files.bytes,
    pageFiles: pageFiles.count,
    pageFileBytes: pageFiles.bytes,
  };
}

function find(rows: readonly UsageRow[], name: QuotaName): Pick<UsageRow, 'count' | 'bytes'> {
  return rows.find((row) => row.name === name) ?? { count: 0, bytes: 0 };
}
