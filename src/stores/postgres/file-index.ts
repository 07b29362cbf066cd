import { type FileUsage, type Quotas, requireFileRoom, type UsageStore, usageOfFiles } from '../../records/quotas.js';
import type { FileEntry, FileIndex } from '../files-on-disk.js';
import type { Database } from './database.js';

/** What a statement that stores files says about it. */
interface PutRow extends FileUsage {
  /** Without the files that were to be replaced. */
  readonly isDone: boolean;
  readonly replaced: readonly string[];
}

/** What is known about files, in Postgres. */
export function createPostgresFileIndex(database: Database, usage: UsageStore): FileIndex {
  const { quotas } = usage;
  return {
    async put(tenant, entries) {
      const added = usageOfFiles(entries);
      const [row] = await database.repeat((sql) =>
        sql.unsafe<PutRow[]>(putStatement(entries.length), [tenant, ...limitsOf(quotas, added), ...valuesOf(entries)], {
          prepare: true,
        }),
      );
      if (row?.isDone !== true) {
        requireFileRoom(quotas, row as FileUsage, added);
        throw new Error('The database refused files for which there is room.');
      }
      const own = new Set(entries.map((entry) => entry.path));
      // Done a second time after a lost connection, files would replace themselves.
      return row.replaced.filter((name) => !own.has(name));
    },
    async requireRoom(tenant, added) {
      requireFileRoom(quotas, await usage.of(tenant), added);
    },
    async find(tenant, id) {
      const [row] = await database.repeat(
        (sql) => sql<{ record: FileEntry }[]>`
          select record from runnel.files where tenant = ${tenant} and id = ${id}`,
      );
      return row?.record;
    },
    async delete(tenant, id) {
      const [row] = await database.once(
        (sql) => sql<{ record: FileEntry }[]>`
          delete from runnel.files where tenant = ${tenant} and id = ${id} returning record`,
      );
      return row?.record;
    },
    async deleteExpired(tenant, now, limit) {
      const rows = await database.repeat(
        (sql) => sql<{ path: string }[]>`
          delete from runnel.files where tenant = ${tenant} and id in (
            select id from runnel.files
            where tenant = ${tenant} and expires_at <= ${now} limit ${limit}
          ) returning path`,
      );
      return rows.map(({ path }) => path);
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

/** How many parameters precede those of the files. */
const FIRST = 5;

/** Columns of a file in the statement, with their types. */
const COLUMNS = ['text', 'text', 'bigint', 'bigint', 'bigint', 'boolean', 'boolean', 'json'];

/**
 * Stores files when there is room for all of them: the rows of what the tenant has are locked and read before, and moved by triggers after
 * the files are stored. `$1` is the tenant; `$2` to `$5` are what it may have beside these files, see {@link limitsOf}.
 */
function putStatement(files: number): string {
  const rows = Array.from({ length: files }, (_, row) => {
    const values = COLUMNS.map((type, column) => `$${FIRST + row * COLUMNS.length + column + 1}::${type}`);
    return `(${values.join(', ')})`;
  });
  return `
    with given(id, path, created_at, expires_at, size, from_page, is_kept, record) as materialized (values ${rows.join(', ')}),
    counted as materialized (
      insert into runnel.usage as u (tenant, name, count) values ($1, 'files', 0), ($1, 'pageFiles', 0)
      on conflict (tenant, name, owner) do update set count = u.count
      returning u.name, u.count, u.bytes
    ), before as materialized (
      select f.path, f.size, f.from_page from runnel.files f
      where f.tenant = $1 and f.id = any (array (select id from given)) and exists (select from counted)
      for update
    ), used as materialized (
      select
        (select count from counted where name = 'files') - (select count(*) from before) as files,
        (select bytes from counted where name = 'files') - (select coalesce(sum(size), 0) from before) as file_bytes,
        (select count from counted where name = 'pageFiles') - (select count(*) from before where from_page) as page_files,
        (select bytes from counted where name = 'pageFiles')
          - (select coalesce(sum(size), 0) from before where from_page) as page_file_bytes
    ), room as materialized (
      select files <= $2::bigint and file_bytes <= $3::bigint and page_files <= $4::bigint and page_file_bytes <= $5::bigint
        as is_there from used
    ), done as (
      insert into runnel.files (tenant, id, path, created_at, expires_at, size, from_page, is_kept, record)
      select $1, id, path, created_at, expires_at, size, from_page, is_kept, record from given, room where is_there
      on conflict (tenant, id) do update set
        path = excluded.path, created_at = excluded.created_at, expires_at = excluded.expires_at, size = excluded.size,
        from_page = excluded.from_page, is_kept = excluded.is_kept, record = excluded.record
    )
    select is_there as "isDone", (select coalesce(json_agg(path), '[]') from before) as replaced,
      files::float8 as files, file_bytes::float8 as "fileBytes",
      page_files::float8 as "pageFiles", page_file_bytes::float8 as "pageFileBytes"
    from used, room`;
}

/** The most that a tenant may have before these files are added, so that there is room for them. */
function limitsOf(quotas: Quotas, added: FileUsage): readonly number[] {
  const most = (name: keyof FileUsage): number =>
    quotas[name] === 0 || added[name] === 0 ? Number.MAX_SAFE_INTEGER : quotas[name] - added[name];
  return [most('files'), most('fileBytes'), most('pageFiles'), most('pageFileBytes')];
}

function valuesOf(entries: readonly FileEntry[]): (string | number | boolean | null)[] {
  return entries.flatMap((entry) => {
    const { id, path, createdAt, expiresAt = null, size, isFromPage = false, isKept = false } = entry;
    return [id, path, createdAt, expiresAt, size, isFromPage, isKept, JSON.stringify(entry)];
  });
}
