import type { IngestionStep } from '../../../records/knowledge.js';
import type { IngestionStore, WaitingDataset } from '../../../records/knowledge-store.js';
import { anyOf } from '../any-of.js';
import type { Database } from '../database.js';
import { DOCUMENT_COLUMNS, type DocumentRow, IS_THERE, readDocument } from './rows.js';

/** No process is at work on document `d`. Times are those of the database, so clocks of processes do not matter. */
const IS_FREE = '(d.claimed_by is null or d.claimed_until <= clock_timestamp())';

/** Which document is parsed by which process, in Postgres. */
export function createPostgresIngestion(database: Database): IngestionStore {
  return {
    async enqueue(tenant, ids) {
      const rows = await database.once((sql) =>
        sql.begin(async (transaction) => {
          const queued = await transaction<DocumentRow[]>`
            update runnel.knowledge_documents d set run = 'RUNNING', progress = 0, progress_msg = '', began_at = null,
              duration_ms = 0, attempt = d.attempt + 1, queued_at = clock_timestamp(), claimed_by = null,
              claimed_until = null, begun = 0
            where d.tenant = ${tenant} and d.id = ${anyOf(transaction, ids)} and d.run <> 'RUNNING'
              and ${transaction.unsafe(IS_THERE)} returning ${transaction.unsafe(DOCUMENT_COLUMNS)}`;
          await transaction`
            delete from runnel.knowledge_steps s using runnel.knowledge_documents d
            where s.tenant = ${tenant} and s.document = ${anyOf(transaction, ids)}
              and d.tenant = s.tenant and d.id = s.document and s.attempt < d.attempt`;
          return queued;
        }),
      );
      return inOrder(rows, ids);
    },
    async cancel(tenant, ids) {
      const rows = await database.once(
        (sql) => sql<DocumentRow[]>`
          update runnel.knowledge_documents d set run = 'CANCEL', progress = 0, attempt = d.attempt + 1,
            claimed_by = null, claimed_until = null
          where d.tenant = ${tenant} and d.id = ${anyOf(sql, ids)} and d.run = 'RUNNING'
            and ${sql.unsafe(IS_THERE)} returning ${sql.unsafe(DOCUMENT_COLUMNS)}`,
      );
      return inOrder(rows, ids);
    },
    async waiting(limit) {
      const rows = await database.repeat(
        (sql) => sql<WaitingDataset[]>`
          select d.tenant, d.dataset as "datasetId", count(*) filter (where ${sql.unsafe(IS_FREE)})::int as waiting,
            count(*) filter (where not ${sql.unsafe(IS_FREE)})::int as active
          from runnel.knowledge_documents d where d.run = 'RUNNING' and ${sql.unsafe(IS_THERE)}
          group by 1, 2 having count(*) filter (where ${sql.unsafe(IS_FREE)}) > 0
          order by min(d.queued_at) filter (where ${sql.unsafe(IS_FREE)}) limit ${limit}`,
      );
      return rows.map((row) => ({ ...row }));
    },
    async claim(owner, tenant, datasetId, ttlMs) {
      const [row] = await database.repeat(
        (sql) => sql<(DocumentRow & { begun: number })[]>`
          update runnel.knowledge_documents d set claimed_by = ${owner}, begun = d.begun + 1,
            claimed_until = clock_timestamp() + ${ttlMs}::float8 * interval '1 millisecond'
          where d.tenant = ${tenant} and d.id = (
            select d.id from runnel.knowledge_documents d
            where d.tenant = ${tenant} and d.dataset = ${datasetId} and d.run = 'RUNNING'
              and ${sql.unsafe(IS_FREE)} and ${sql.unsafe(IS_THERE)}
            order by d.queued_at, d.position limit 1 for update of d skip locked
          ) and ${sql.unsafe(IS_FREE)} returning ${sql.unsafe(DOCUMENT_COLUMNS)}, d.begun`,
      );
      if (row === undefined) return undefined;
      const { begun, ...document } = row;
      return { document: readDocument(document), begun };
    },
    async renew(owner, tenant, id, attempt, ttlMs) {
      const { count } = await database.repeat(
        (sql) => sql`
          update runnel.knowledge_documents d
          set claimed_until = clock_timestamp() + ${ttlMs}::float8 * interval '1 millisecond'
          where d.tenant = ${tenant} and d.id = ${id} and d.claimed_by = ${owner} and d.attempt = ${attempt}
            and ${sql.unsafe(IS_THERE)}`,
      );
      return count > 0;
    },
    async release(owner, tenant, id) {
      await database.repeat(
        (sql) => sql`
          update runnel.knowledge_documents set claimed_by = null, claimed_until = null, begun = greatest(begun - 1, 0)
          where tenant = ${tenant} and id = ${id} and claimed_by = ${owner}`,
      );
    },
    async expireClaims() {
      await database.repeat(
        (sql) => sql`
          update runnel.knowledge_documents set claimed_by = null, claimed_until = null
          where run = 'RUNNING' and claimed_by is not null`,
      );
    },
    async saveStep(tenant, id, attempt, step) {
      const { count } = await database.repeatBehind(
        (sql) => sql`
          with document as (
            update runnel.knowledge_documents d set begun = 1
            where d.tenant = ${tenant} and d.id = ${id} and d.attempt = ${attempt} and ${sql.unsafe(IS_THERE)} returning d.id
          )
          insert into runnel.knowledge_steps as s (tenant, document, name, attempt, step)
          select ${tenant}, id, ${step.name}, ${attempt}::int, ${JSON.stringify(step)}::json from document
          on conflict (tenant, document, name) do update set attempt = excluded.attempt, step = excluded.step`,
      );
      return count > 0;
    },
    async steps(tenant, id, attempt) {
      const rows = await database.repeat(
        (sql) => sql<{ step: IngestionStep }[]>`
          select s.step from runnel.knowledge_steps s join runnel.knowledge_documents d
            on d.tenant = s.tenant and d.id = s.document
          where s.tenant = ${tenant} and s.document = ${id} and s.attempt = ${attempt} and ${sql.unsafe(IS_THERE)}
          order by s.position`,
      );
      return rows.map(({ step }) => step);
    },
  };
}

/** Documents in the order in which they were named. */
function inOrder(rows: readonly DocumentRow[], ids: readonly string[]) {
  const places = new Map(ids.map((id, at) => [id, at]));
  const documents = rows.map(readDocument);
  return documents.sort((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
}
