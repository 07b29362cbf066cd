import type { CountedDataset, DatasetCounts } from '../../../records/knowledge.js';
import type { DatasetQuery, DatasetStore } from '../../../records/knowledge-store.js';
import { foldCase } from '../../../records/repository.js';
import { anyOf } from '../any-of.js';
import type { Database, Fragment, Statements } from '../database.js';
import { raiseGraph } from './graph-revisions.js';
import { type Count, datasetRow, readDataset, refusal, totalOf } from './rows.js';

interface DatasetRow extends DatasetCounts {
  readonly record: object;
}

/** A dataset of the table `s` with what its documents add up to. */
const COUNTED = `s.record, t.documents, t.chunks, t.tokens`;
const TOTALS = `cross join lateral (
  select count(*)::float8 as documents, coalesce(sum(chunk_count), 0)::float8 as chunks,
    coalesce(sum(token_count), 0)::float8 as tokens
  from runnel.knowledge_documents d where d.tenant = s.tenant and d.dataset = s.id and not d.is_discarded
) t`;

const ORDERS = { createdAt: 'created_at', updatedAt: 'updated_at', name: 'name' } as const;

/** Datasets in Postgres. */
export function createPostgresDatasets(database: Database): DatasetStore {
  return {
    async insertDataset(tenant, dataset) {
      try {
        await database.once((sql) => sql`insert into runnel.knowledge_datasets ${sql(datasetRow(tenant, dataset))}`);
      } catch (error) {
        throw refusal(error, dataset.name);
      }
    },
    async findDataset(tenant, id) {
      const [row] = await database.repeat(
        (sql) => sql<{ record: object }[]>`
          select record from runnel.knowledge_datasets where tenant = ${tenant} and id = ${id} and not is_discarded`,
      );
      return row && readDataset(row.record);
    },
    async findCountedDataset(tenant, id) {
      const [row] = await database.repeat(
        (sql) => sql<DatasetRow[]>`
          select ${sql.unsafe(COUNTED)} from runnel.knowledge_datasets s ${sql.unsafe(TOTALS)}
          where s.tenant = ${tenant} and s.id = ${id} and not s.is_discarded`,
      );
      return row && countedOf(row);
    },
    async updateDataset(tenant, id, change) {
      try {
        return await database.repeat((sql) =>
          sql.begin(async (transaction) => {
            const [row] = await transaction<{ record: object }[]>`
              select record from runnel.knowledge_datasets
              where tenant = ${tenant} and id = ${id} and not is_discarded for update`;
            if (row === undefined) return undefined;
            const after = { ...readDataset(row.record), ...change };
            await transaction`
              update runnel.knowledge_datasets set ${transaction(datasetRow(tenant, after))}
              where tenant = ${tenant} and id = ${id}`;
            // Names of its terms are names in its graph.
            if (change.graphRules !== undefined) await raiseGraph(transaction, tenant, id);
            return after;
          }),
        );
      } catch (error) {
        throw refusal(error, change.name ?? id);
      }
    },
    async listDatasets(tenant, query) {
      const { orderBy, descending, offset, limit } = query;
      return database.repeat(async (sql) => {
        const where = matching(sql, tenant, query);
        const order = sql.unsafe(
          `s.${ORDERS[orderBy]} ${descending ? 'desc' : 'asc'}, s.position ${descending ? 'desc' : 'asc'}`,
        );
        const rows = await sql<DatasetRow[]>`
            select ${sql.unsafe(COUNTED)} from (
              select * from runnel.knowledge_datasets s ${where} order by ${order} offset ${offset} limit ${limit}
            ) s ${sql.unsafe(TOTALS)} order by ${order}`;
        const count = () => sql<Count[]>`select count(*)::int as count from runnel.knowledge_datasets s ${where}`;
        return { items: rows.map(countedOf), total: await totalOf(rows.length, query, count) };
      });
    },
    async discardDataset(tenant, id) {
      const { count } = await database.once(
        (sql) => sql`
          update runnel.knowledge_datasets set is_discarded = true, name_key = null
          where tenant = ${tenant} and id = ${id} and not is_discarded`,
      );
      return count > 0;
    },
  };
}

function matching(sql: Statements, tenant: string, { ids, name, keywords, source }: DatasetQuery): Fragment {
  const conditions = [
    sql`where s.tenant = ${tenant} and not s.is_discarded`,
    ids === undefined ? sql`` : sql`and s.id = ${anyOf(sql, ids)}`,
    name === undefined ? sql`` : sql`and s.name_key = ${foldCase(name)}`,
    keywords === undefined ? sql`` : sql`and strpos(s.name_key, ${foldCase(keywords)}) > 0`,
    source === undefined ? sql`` : sql`and s.source = ${source}`,
  ];
  return sql`${conditions}`;
}

function countedOf({ record, ...counts }: DatasetRow): CountedDataset {
  return { dataset: readDataset(record), counts };
}
