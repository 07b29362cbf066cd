import { EngineError } from '../../../errors.js';
import type { DocumentChange, DocumentRecord } from '../../../records/knowledge.js';
import type { DocumentQuery, DocumentStore } from '../../../records/knowledge-store.js';
import { foldCase, type Tally } from '../../../records/repository.js';
import { anyOf } from '../any-of.js';
import type { Database, Fragment, Statements } from '../database.js';
import { raisingShards } from './graph-revisions.js';
import {
  type Count,
  DOCUMENT_COLUMNS,
  type DocumentRow,
  documentRow,
  IS_THERE,
  readDocument,
  refusal,
  totalOf,
} from './rows.js';

const ORDERS = { createdAt: 'created_at', updatedAt: 'updated_at', name: 'name', size: 'size' } as const;

/** Documents of one statement: each has about twenty parameters, of 65,535. */
const MAX_ROWS = 500;

/** Documents of datasets in Postgres. */
export function createPostgresKnowledgeDocuments(database: Database): DocumentStore {
  return {
    async insertDocuments(tenant, documents) {
      if (documents.length === 0) return;
      try {
        await database.once((sql) =>
          sql.begin(async (transaction) => {
            await requireDatasets(transaction, tenant, [...new Set(documents.map(({ datasetId }) => datasetId))]);
            for (let at = 0; at < documents.length; at += MAX_ROWS) {
              const rows = documents.slice(at, at + MAX_ROWS).map((document) => documentRow(tenant, document));
              await transaction`insert into runnel.knowledge_documents ${transaction(rows)}`;
            }
          }),
        );
      } catch (error) {
        throw refusal(
          error,
          documents
            .map(({ name }) => name)
            .slice(0, 3)
            .join('", "'),
        );
      }
    },
    async findDocument(tenant, id) {
      const [row] = await database.repeat(
        (sql) => sql<DocumentRow[]>`
          select ${sql.unsafe(DOCUMENT_COLUMNS)} from runnel.knowledge_documents d
          where d.tenant = ${tenant} and d.id = ${id} and ${sql.unsafe(IS_THERE)}`,
      );
      return row && readDocument(row);
    },
    async listDocuments(tenant, query) {
      const { orderBy, descending, offset, limit } = query;
      return database.repeat(async (sql) => {
        const where = matching(sql, tenant, query);
        const direction = descending ? 'desc' : 'asc';
        // Few have an id, a name or some content: they are found first, not by reading all in the order that is asked for.
        const isFew = [query.ids, query.name, query.sha256].some((given) => given !== undefined);
        const found = isFew ? sql`(select * from runnel.knowledge_documents d ${where} offset 0) d` : undefined;
        const rows = await sql<DocumentRow[]>`
            select ${sql.unsafe(DOCUMENT_COLUMNS)} from ${found ?? sql`runnel.knowledge_documents d ${where}`}
            order by ${sql.unsafe(`d.${ORDERS[orderBy]} ${direction}, d.position ${direction}`)}
            offset ${offset} limit ${limit}`;
        const count = () => sql<Count[]>`select count(*)::int as count from runnel.knowledge_documents d ${where}`;
        return { items: rows.map(readDocument), total: await totalOf(rows.length, query, count) };
      });
    },
    async tallyDocuments(tenant, datasetIds, by) {
      const rows = await database.repeat(
        (sql) => sql<(Tally & { datasetId: string })[]>`
          select d.dataset as "datasetId", ${sql.unsafe(`d.${by}`)} as value, count(*)::int as count
          from runnel.knowledge_documents d
          where d.tenant = ${tenant} and d.dataset = ${anyOf(sql, datasetIds)} and ${sql.unsafe(IS_THERE)}
          group by 1, 2 order by 3 desc, 2, 1`,
      );
      return rows.map((row) => ({ ...row }));
    },
    async updateDocument(tenant, id, change, attempt) {
      const progress = progressOf(change);
      if (progress !== undefined) {
        const [row] = await database.repeatBehind(
          (sql) => sql<DocumentRow[]>`
            update runnel.knowledge_documents d set ${sql(progress)}
            where d.tenant = ${tenant} and d.id = ${id} and ${sql.unsafe(IS_THERE)}
              ${attempt === undefined ? sql`` : sql`and d.attempt = ${attempt}`}
            returning ${sql.unsafe(DOCUMENT_COLUMNS)}`,
        );
        return row && readDocument(row);
      }
      try {
        return await database.repeat((sql) =>
          sql.begin(async (transaction) => {
            const [row] = await transaction<DocumentRow[]>`
              select ${transaction.unsafe(DOCUMENT_COLUMNS)} from runnel.knowledge_documents d
              where d.tenant = ${tenant} and d.id = ${id} and ${transaction.unsafe(IS_THERE)} for update of d`;
            if (row === undefined || (attempt !== undefined && row.attempt !== attempt)) return undefined;
            return await changed(transaction, tenant, readDocument(row), change);
          }),
        );
      } catch (error) {
        throw refusal(error, change.name ?? id);
      }
    },
    async discardDocuments(tenant, datasetId, ids) {
      const rows = await database.once(
        (sql) => sql<{ id: string }[]>`
          with changed as (
            update runnel.knowledge_documents d set is_discarded = true, name_key = null
            where d.tenant = ${tenant} and d.dataset = ${datasetId} and d.id = ${anyOf(sql, ids)}
              and ${sql.unsafe(IS_THERE)} returning d.id as document
          ), raised as (${raisingShards(sql, tenant, datasetId)})
          select document as id from changed`,
      );
      const discarded = new Set(rows.map(({ id }) => id));
      return ids.filter((id) => discarded.delete(id));
    },
  };
}

/** The columns of a change that is of progress alone, as ingestion reports it; undefined for any other. */
function progressOf(change: DocumentChange): Record<string, string | number | null> | undefined {
  const columns: Record<string, string | number | null> = {};
  for (const [name, value] of Object.entries(change) as [keyof DocumentChange, unknown][]) {
    const column = PROGRESS_COLUMNS[name];
    if (column === undefined) return undefined;
    columns[column] = name === 'durationMs' ? Math.round(value as number) : (value as string | number | null);
  }
  const isOver = change.run !== undefined && change.run !== 'RUNNING';
  if (isOver) Object.assign(columns, { claimed_by: null, claimed_until: null });
  return Object.keys(columns).length === 0 ? undefined : columns;
}

const PROGRESS_COLUMNS: Readonly<Partial<Record<keyof DocumentChange, string>>> = {
  ...{ run: 'run', progress: 'progress', progressMsg: 'progress_msg', beganAt: 'began_at' },
  ...{ durationMs: 'duration_ms', characters: 'characters' },
};

async function changed(
  sql: Statements,
  tenant: string,
  before: DocumentRecord,
  change: DocumentChange,
): Promise<DocumentRecord> {
  const after: DocumentRecord = { ...before, ...change };
  const isOver = change.run !== undefined && change.run !== 'RUNNING';
  const row = { ...documentRow(tenant, after), ...(isOver && { claimed_by: null, claimed_until: null }) };
  await sql`update runnel.knowledge_documents set ${sql(row)} where tenant = ${tenant} and id = ${after.id}`;
  return after;
}

/** Keeps datasets from being discarded until the transaction ends. */
async function requireDatasets(sql: Statements, tenant: string, ids: readonly string[]): Promise<void> {
  const rows = await sql<{ id: string }[]>`
    select id from runnel.knowledge_datasets
    where tenant = ${tenant} and id = ${anyOf(sql, ids)} and not is_discarded for share`;
  const found = new Set(rows.map(({ id }) => id));
  const missing = ids.find((id) => !found.has(id));
  if (missing !== undefined) throw new EngineError('NOT_FOUND', `There is no dataset "${missing}".`);
}

function matching(sql: Statements, tenant: string, query: DocumentQuery): Fragment {
  const { datasetIds, ids, name, keywords, runs, suffixes, types, sha256, isEnabled, createdFrom, createdTo } = query;
  const isIn = (column: string, values: readonly string[] | undefined): Fragment =>
    values === undefined ? sql`` : sql`and ${sql.unsafe(`d.${column}`)} = ${anyOf(sql, values)}`;
  const conditions = [
    sql`where d.tenant = ${tenant} and ${sql.unsafe(IS_THERE)}`,
    isIn('dataset', datasetIds),
    isIn('id', ids),
    isIn('run', runs),
    isIn('suffix', suffixes),
    isIn('type', types),
    sha256 === undefined ? sql`` : sql`and d.sha256 = ${sha256}`,
    name === undefined ? sql`` : sql`and d.name_key = ${foldCase(name)}`,
    keywords === undefined ? sql`` : sql`and strpos(d.name_key, ${foldCase(keywords)}) > 0`,
    isEnabled === undefined ? sql`` : sql`and d.is_enabled = ${isEnabled}`,
    createdFrom === undefined ? sql`` : sql`and d.created_at >= ${createdFrom}`,
    createdTo === undefined ? sql`` : sql`and d.created_at <= ${createdTo}`,
  ];
  return sql`${conditions}`;
}
