import { EngineError } from '../../../errors.js';
import type { ChunkPlace, ChunkQuery, ChunkStore, VectorGap, VectorStore } from '../../../records/knowledge-store.js';
import { anyOf } from '../any-of.js';
import type { Database, Fragment, Sql, Statements } from '../database.js';
import { CHUNK_COLUMNS, type ChunkRow, type Count, chunkRow, IS_THERE, readChunk, totalOf } from './rows.js';

/** What is replaced of a chunk with a known id. What users set stays, unless a user writes it. */
const FOUND_AGAIN = `index = excluded.index, text = excluded.text, tokens = excluded.tokens, place = excluded.place,
  about = excluded.about, attempt = excluded.attempt, updated_at = excluded.updated_at,
  is_indexed = knowledge_chunks.is_indexed and knowledge_chunks.text = excluded.text and knowledge_chunks.about = excluded.about`;
const WRITTEN = `index = excluded.index, text = excluded.text, tokens = excluded.tokens, place = excluded.place,
  about = excluded.about, attempt = excluded.attempt, updated_at = excluded.updated_at, is_indexed = false,
  given = excluded.given, is_available = excluded.is_available`;

/** The columns of a chunk and their types. */
const TYPES: Readonly<Record<keyof ReturnType<typeof chunkRow>, string>> = {
  ...{ tenant: 'text', id: 'text', document: 'text', index: 'int', text: 'text', tokens: 'int', place: 'json' },
  ...{
    given: 'json',
    about: 'text',
    is_available: 'boolean',
    attempt: 'int',
    is_indexed: 'boolean',
    updated_at: 'bigint',
  },
};
const COLUMNS = Object.keys(TYPES) as (keyof typeof TYPES)[];

/** Sent by its name from the second time on. */
const PREPARED = { prepare: true };

/**
 * Writes so many chunks of document `$2` as long as it is at attempt `$3`, and tells whether it was. One statement: the embedded database serves no other
 * connection while a transaction waits for its next one.
 */
function putStatement(count: number, isWritten: boolean): string {
  const rows = Array.from({ length: count }, (_, row) => {
    const places = COLUMNS.map(
      (column, at) => `$${4 + row * COLUMNS.length + at}${row === 0 ? `::${TYPES[column]}` : ''}`,
    );
    return `(${places.join(', ')})`;
  });
  return `
    with ours as materialized (
      select d.id from runnel.knowledge_documents d
      where d.tenant = $1 and d.id = $2 and d.attempt = $3::int and ${IS_THERE} for update of d
    ), found as materialized (
      select n.* from (values ${rows.join(', ')}) as n (${COLUMNS.join(', ')}) cross join ours
    ), forgotten as (
      delete from runnel.knowledge_vectors v where v.tenant = $1 and v.chunk = any (array (
        select n.id from found n
        where n.text <> (select c.text from runnel.knowledge_chunks c where c.tenant = n.tenant and c.id = n.id)
      ))
    ), written as (
      insert into runnel.knowledge_chunks (${COLUMNS.join(', ')}) select * from found
      on conflict (tenant, id) do update set ${isWritten ? WRITTEN : FOUND_AGAIN}
    )
    select exists (select from ours) as "isOurs"`;
}

/** Chunk `c` belongs to a document that is there. */
const OF_DOCUMENT = `exists (select from runnel.knowledge_documents d where d.tenant = c.tenant and d.id = c.document and ${IS_THERE})`;

/** Chunks and their vectors in Postgres. */
export function createPostgresChunks(database: Database): ChunkStore & VectorStore {
  return {
    async putChunks(tenant, documentId, attempt, chunks, { isWritten = false } = {}) {
      const rows = chunks.map((chunk) => chunkRow(tenant, attempt, chunk));
      const put = async (sql: Sql): Promise<void> => {
        if (rows.length > 0) {
          const values = [tenant, documentId, attempt, ...rows.flatMap((row) => COLUMNS.map((column) => row[column]))];
          const [done] = await sql.unsafe<{ isOurs: boolean }[]>(
            putStatement(rows.length, isWritten),
            values,
            PREPARED,
          );
          if (done?.isOurs === true) return;
        }
        await requireAttempt(sql, tenant, documentId, attempt);
      };
      await (isWritten ? database.repeat(put) : database.repeatBehind(put));
    },
    async findChunks(tenant, ids) {
      if (ids.length === 0) return [];
      const rows = await database.repeat(
        (sql) => sql<ChunkRow[]>`
          select ${sql.unsafe(CHUNK_COLUMNS)} from runnel.knowledge_chunks c
          where c.tenant = ${tenant} and c.id = ${anyOf(sql, ids)} and ${sql.unsafe(OF_DOCUMENT)}`,
      );
      return rows.map(readChunk);
    },
    async listChunks(tenant, query) {
      const { offset, limit, maxBytes } = query;
      return database.repeat(async (sql) => {
        const where = matching(sql, tenant, query);
        const within = (columns: string) => sql`
            select ${sql.unsafe(columns)} from runnel.knowledge_chunks c ${where}
            order by c.index, c.id offset ${offset} limit ${limit}`;
        const rows = await (maxBytes === undefined
          ? sql<ChunkRow[]>`${within(CHUNK_COLUMNS)}`
          : sql<ChunkRow[]>`
            select ${sql.unsafe(CHUNK_COLUMNS)} from (
              select *, sum(octet_length(page.text)) over (order by page.index, page.id) as used from (${within('c.*')}) as page
            ) as c where c.used <= ${maxBytes} order by c.index, c.id`);
        const count = () => sql<Count[]>`select count(*)::int as count from runnel.knowledge_chunks c ${where}`;
        if (maxBytes !== undefined) return { items: rows.map(readChunk), total: (await count())[0]?.count ?? 0 };
        return { items: rows.map(readChunk), total: await totalOf(rows.length, query, count) };
      });
    },
    async chunksAfter(tenant, documentId, after, limit, isIndexed) {
      const ask = (sql: Sql) => sql<ChunkRow[]>`
          select ${sql.unsafe(CHUNK_COLUMNS)} from runnel.knowledge_chunks c
          where c.tenant = ${tenant} and c.document = ${documentId} and ${sql.unsafe(OF_DOCUMENT)} ${behind(sql, after)}
            ${isIndexed === undefined ? sql`` : sql`and c.is_indexed = ${isIndexed}`}
          order by c.index, c.id limit ${limit}`;
      // Searches ask for what is indexed, or for any.
      const rows = await (isIndexed === false ? database.repeatBehind(ask) : database.repeat(ask));
      return rows.map(readChunk);
    },
    async updateChunk(tenant, documentId, id, change) {
      const { isAvailable: _, updatedAt: __, ...searched } = change;
      return database.repeat((sql) =>
        sql.begin(async (transaction) => {
          const [row] = await transaction<(ChunkRow & { attempt: number; isIndexed: boolean })[]>`
            select ${transaction.unsafe(CHUNK_COLUMNS)}, c.attempt, c.is_indexed as "isIndexed"
            from runnel.knowledge_chunks c where c.tenant = ${tenant} and c.document = ${documentId} and c.id = ${id}
              and ${transaction.unsafe(OF_DOCUMENT)} for update of c`;
          if (row === undefined) return undefined;
          const { attempt, isIndexed, ...chunk } = row;
          const before = readChunk(chunk);
          const after = { ...before, ...change };
          const isSame = isIndexed && Object.keys(searched).length === 0;
          await transaction`
            update runnel.knowledge_chunks set ${transaction({ ...chunkRow(tenant, attempt, after), is_indexed: isSame })}
            where tenant = ${tenant} and id = ${id}`;
          if (after.text !== before.text) {
            await transaction`delete from runnel.knowledge_vectors where tenant = ${tenant} and chunk = ${id}`;
          }
          return after;
        }),
      );
    },
    async markIndexed(tenant, documentId, chunks) {
      const given = JSON.stringify(chunks.map(({ id, updatedAt }) => ({ id, at: updatedAt })));
      await database.repeatBehind(
        (sql) => sql`
          with given as materialized (select * from json_to_recordset(${given}::json) as given(id text, at bigint))
          update runnel.knowledge_chunks c set is_indexed = true
          where c.tenant = ${tenant} and c.document = ${documentId} and c.id = any (array (select id from given))
            and c.updated_at <= (select at from given where given.id = c.id) and not c.is_indexed`,
      );
    },
    async staleChunks(tenant, documentId, attempt, limit) {
      const rows = await database.repeatBehind(
        (sql) => sql<{ id: string }[]>`
          select id from runnel.knowledge_chunks where tenant = ${tenant} and document = ${documentId} and attempt <> ${attempt}
          order by index, id limit ${limit}`,
      );
      return rows.map(({ id }) => id);
    },
    async deleteChunks(tenant, documentId, ids) {
      const rows = await database.once(
        (sql) => sql<{ id: string }[]>`
          delete from runnel.knowledge_chunks c
          where c.tenant = ${tenant} and c.document = ${documentId} and c.id = ${anyOf(sql, ids)}
            and ${sql.unsafe(OF_DOCUMENT)} returning id`,
      );
      const deleted = new Set(rows.map(({ id }) => id));
      return ids.filter((id) => deleted.delete(id));
    },
    async putVectors(tenant, documentId, model, vectors) {
      if (vectors.length === 0) return;
      await database.repeatBehind((sql) =>
        sql.begin(async (transaction) => {
          const ids = vectors.map(({ chunkId }) => chunkId);
          const rows = await transaction<{ id: string }[]>`
            select id from runnel.knowledge_chunks c where c.tenant = ${tenant} and c.document = ${documentId}
              and c.id = ${anyOf(transaction, ids)} for share`;
          const there = new Set(rows.map(({ id }) => id));
          const values = vectors.flatMap(({ chunkId, vector }) =>
            there.has(chunkId) ? [{ tenant, chunk: chunkId, model, vector: bytesOf(vector) }] : [],
          );
          if (values.length === 0) return;
          await transaction`
            insert into runnel.knowledge_vectors ${transaction(values)}
            on conflict (tenant, chunk, model) do update set vector = excluded.vector`;
        }),
      );
    },
    async findVectors(tenant, model, chunkIds) {
      if (chunkIds.length === 0) return [];
      const rows = await database.repeat(
        (sql) => sql<{ chunkId: string; vector: Uint8Array }[]>`
          select chunk as "chunkId", vector from runnel.knowledge_vectors
          where tenant = ${tenant} and model = ${model} and chunk = ${anyOf(sql, chunkIds)}`,
      );
      return rows.map(({ chunkId, vector }) => ({ chunkId, vector: numbersOf(vector) }));
    },
    async chunksWithoutVector(tenant, documentId, model, after, limit) {
      const rows = await database.repeatBehind(
        (sql) => sql<ChunkRow[]>`
          select ${sql.unsafe(CHUNK_COLUMNS)} from runnel.knowledge_chunks c
          where c.tenant = ${tenant} and c.document = ${documentId} and ${sql.unsafe(OF_DOCUMENT)} ${behind(sql, after)}
            and not exists (
              select from runnel.knowledge_vectors v where v.tenant = c.tenant and v.chunk = c.id and v.model = ${model})
          order by c.index, c.id limit ${limit}`,
      );
      return rows.map(readChunk);
    },
    async vectorGaps(model, after, limit) {
      return database.repeat(
        (sql) => sql<VectorGap[]>`
          select d.tenant, d.dataset as "datasetId", d.id as "documentId", exists (
            select from runnel.knowledge_chunks c where c.tenant = d.tenant and c.document = d.id and not exists (
              select from runnel.knowledge_vectors v where v.tenant = c.tenant and v.chunk = c.id and v.model = ${model})
          ) as "isOpen"
          from runnel.knowledge_documents d join runnel.knowledge_datasets s on s.tenant = d.tenant and s.id = d.dataset
          where d.run = 'DONE' and s.record ->> 'embeddingModel' = '' and ${sql.unsafe(IS_THERE)}
            ${after === undefined ? sql`` : sql`and (d.tenant, d.id) > (${after.tenant}, ${after.documentId})`}
          order by d.tenant, d.id limit ${limit}`,
      );
    },
  };
}

/** @throws EngineError NOT_FOUND without the document, CONFLICT when it is at another attempt */
async function requireAttempt(sql: Statements, tenant: string, id: string, attempt: number): Promise<void> {
  const [row] = await sql<{ attempt: number }[]>`
    select d.attempt from runnel.knowledge_documents d
    where d.tenant = ${tenant} and d.id = ${id} and ${sql.unsafe(IS_THERE)}`;
  if (row === undefined) throw new EngineError('NOT_FOUND', `There is no document "${id}".`);
  if (row.attempt === attempt) return;
  throw new EngineError(
    'CONFLICT',
    `Document "${id}" is at attempt ${row.attempt}, and this work belongs to ${attempt}.`,
  );
}

function behind(sql: Statements, after: ChunkPlace | undefined): Fragment {
  return after === undefined ? sql`` : sql`and (c.index, c.id) > (${after.index}::int, ${after.id})`;
}

function matching(sql: Statements, tenant: string, { documentId, ids, keywords, isAvailable }: ChunkQuery): Fragment {
  const conditions = [
    sql`where c.tenant = ${tenant} and c.document = ${documentId} and ${sql.unsafe(OF_DOCUMENT)}`,
    ids === undefined ? sql`` : sql`and c.id = ${anyOf(sql, ids)}`,
    // Of all letters only those have a case in every database.
    keywords === undefined
      ? sql``
      : sql`and strpos(lower(c.text collate "C"), lower(${keywords}::text collate "C")) > 0`,
    isAvailable === undefined ? sql`` : sql`and c.is_available = ${isAvailable}`,
  ];
  return sql`${conditions}`;
}

/** Little-endian, whatever the machine, as databases move. */
function bytesOf(vector: Float32Array): Buffer {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [at, value] of vector.entries()) bytes.writeFloatLE(value, at * 4);
  return bytes;
}

function numbersOf(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length: bytes.byteLength / 4 }, (_, at) => view.getFloat32(at * 4, true));
}
