import type { Remains, RemainsStore } from '../../../records/knowledge-store.js';
import { anyOf } from '../any-of.js';
import type { Database } from '../database.js';
import { DOCUMENT_COLUMNS, type DocumentRow, readDocument } from './rows.js';

/** What was discarded of knowledge bases, in Postgres. Documents of a discarded dataset are discarded, too. */
export function createPostgresRemains(database: Database): RemainsStore {
  return {
    async remains(limit) {
      const [documents, datasets] = await database.repeat((sql) =>
        Promise.all([
          sql<(DocumentRow & { tenant: string })[]>`
            (select ${sql.unsafe(DOCUMENT_COLUMNS)}, d.tenant from runnel.knowledge_documents d
              where d.is_discarded limit ${limit})
            union all
            (select ${sql.unsafe(DOCUMENT_COLUMNS)}, d.tenant from runnel.knowledge_datasets s
              join runnel.knowledge_documents d on d.tenant = s.tenant and d.dataset = s.id and not d.is_discarded
              where s.is_discarded limit ${limit})
            limit ${limit}`,
          sql<{ tenant: string; datasetId: string }[]>`
            select s.tenant, s.id as "datasetId" from runnel.knowledge_datasets s where s.is_discarded and not exists (
              select from runnel.knowledge_documents d where d.tenant = s.tenant and d.dataset = s.id
            ) limit ${limit}`,
        ]),
      );
      const found = documents.map(({ tenant, ...row }): Remains => {
        const document = readDocument(row);
        return { tenant, datasetId: document.datasetId, document };
      });
      return [...found, ...datasets.map((row) => ({ ...row }))].slice(0, limit);
    },
    async chunksOfRemains(tenant, documentId, limit) {
      const rows = await database.repeat(
        (sql) => sql<{ id: string }[]>`
          select c.id from runnel.knowledge_chunks c
          where c.tenant = ${tenant} and c.document = ${documentId} and exists (
            select from runnel.knowledge_documents d where d.tenant = c.tenant and d.id = c.document
              and ${sql.unsafe(IS_REMAINS)}
          ) order by c.index, c.id limit ${limit}`,
      );
      return rows.map(({ id }) => id);
    },
    async eraseChunks(tenant, documentId, ids) {
      await database.repeat(
        (sql) => sql`
          delete from runnel.knowledge_chunks c using runnel.knowledge_documents d
          where c.tenant = ${tenant} and c.document = ${documentId} and c.id = ${anyOf(sql, ids)}
            and d.tenant = c.tenant and d.id = c.document and ${sql.unsafe(IS_REMAINS)}`,
      );
    },
    async erase(tenant, datasetId, documentId) {
      await database.repeat((sql) =>
        documentId === undefined
          ? // What is left of its index is a number, which is in the way of no other dataset, as ids do not come again.
            sql`
              with gone as (
                delete from runnel.knowledge_datasets s
                where s.tenant = ${tenant} and s.id = ${datasetId} and s.is_discarded returning s.tenant, s.id)
              delete from runnel.search_indexes i using gone g where i.tenant = g.tenant and i.dataset = g.id
                and not exists (
                  select from runnel.search_segments t where t.tenant = i.tenant and t.dataset = i.dataset)`
          : sql`
              delete from runnel.knowledge_documents d where d.tenant = ${tenant} and d.id = ${documentId}
                and ${sql.unsafe(IS_REMAINS)}`,
      );
    },
  };
}

/** Document `d` was discarded, itself or with its dataset. */
const IS_REMAINS = `(d.is_discarded or exists (
  select from runnel.knowledge_datasets s where s.tenant = d.tenant and s.id = d.dataset and s.is_discarded))`;
