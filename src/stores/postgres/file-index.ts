import type { FileEntry, FileIndex } from '../files-on-disk.js';
import type { Database } from './database.js';

/** What is known about files, in Postgres. */
export function createPostgresFileIndex(database: Database): FileIndex {
  return {
    async put(tenant, entry) {
      const columns = {
        tenant,
        id: entry.id,
        path: entry.path,
        created_at: entry.createdAt,
        size: entry.size,
        record: JSON.stringify(entry),
      };
      const [row] = await database.repeat(
        (sql) => sql<{ replaced: string | null }[]>`
          with before as (select path from runnel.files where tenant = ${tenant} and id = ${entry.id} for update)
          insert into runnel.files ${sql(columns)}
          on conflict (tenant, id) do update set
            path = excluded.path, created_at = excluded.created_at, size = excluded.size, record = excluded.record
          returning (select path from before) as replaced`,
      );
      const replaced = row?.replaced ?? undefined;
      // Done a second time after a lost connection, it would replace itself.
      return replaced === entry.path ? undefined : replaced;
    },
    async find(tenant, id) {
      const [row] = await database.repeat(
        (sql) => sql<{ record: FileEntry }[]>`
          select record from runnel.files where tenant = ${tenant} and id = ${id}`,
      );
      return row?.record;
    },
    async unknownPaths(paths) {
      const rows = await database.repeat(
        (sql) => sql<{ path: string }[]>`
          select path from json_array_elements_text(${JSON.stringify(paths)}::json) as given(path)
          where not exists (select from runnel.files f where f.path = given.path)`,
      );
      return rows.map(({ path }) => path);
    },
  };
}
