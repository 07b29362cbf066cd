import type { JsonObject } from '../../../json.js';
import type {
  BuildState,
  ContributionHead,
  ContributionRecord,
  GraphNote,
  GraphStore,
} from '../../../records/graph-store.js';
import { anyOf } from '../any-of.js';
import type { Database } from '../database.js';
import { wellFormed } from '../well-formed.js';
import { raiseGraph, raisingShards } from './graph-revisions.js';
import { CHUNK_COLUMNS, type ChunkRow, type Count, IS_THERE, readChunk } from './rows.js';

/** Chunk `c` of document `d` is searched. */
const IS_SEARCHED = `c.is_available and d.is_enabled and ${IS_THERE}`;
/** Contribution `g` is of the text that its chunk has. */
const IS_OF_TEXT = 'g.text_hash = md5(c.text)';

/** Graphs of datasets in Postgres, in the tables of migrations 16 and 19. */
export function createPostgresGraphs(database: Database): GraphStore {
  return { ...contributionStore(database), ...noteStore(database), ...buildStore(database) };
}

type Contributions = Pick<
  GraphStore,
  | 'putContributions'
  | 'deleteContributions'
  | 'contributionHeads'
  | 'shardRevisions'
  | 'shardHeads'
  | 'readContributions'
  | 'chunksWithoutContribution'
>;

function contributionStore(database: Database): Contributions {
  return {
    async putContributions(tenant, datasetId, contributions) {
      if (contributions.length === 0) return;
      const rows = contributions.map(({ chunkId, layer, version, textHash, body }) => ({
        ...{ chunk: chunkId, layer, version, text_hash: textHash },
        body: wellFormed(JSON.stringify(body)),
      }));
      await database.repeatBehind((sql) =>
        sql.begin(async (transaction) => {
          // One chunk after the other, by keys: joined, all chunks of the tenant are read where tables were planned while they were small.
          await transaction`
            with given as materialized (
              select r.*, (
                select c.document from runnel.knowledge_chunks c where c.tenant = ${tenant} and c.id = r.chunk and (
                  select d.dataset from runnel.knowledge_documents d where d.tenant = c.tenant and d.id = c.document
                ) = ${datasetId}
              ) as document
              from json_to_recordset(${JSON.stringify(rows)}::json)
                as r (chunk text, layer text, version text, text_hash text, body text)
            ), changed as materialized (
              select * from given where document is not null
            ), put as (
              insert into runnel.graph_contributions (tenant, chunk, layer, version, text_hash, body)
              select ${tenant}, r.chunk, r.layer, r.version, r.text_hash, r.body::json from changed r
              on conflict (tenant, chunk, layer) do update
                set version = excluded.version, text_hash = excluded.text_hash, body = excluded.body
            ) ${raisingShards(transaction, tenant, datasetId)}`;
          await raiseGraph(transaction, tenant, datasetId);
        }),
      );
    },
    async deleteContributions(tenant, datasetId, layer) {
      return database.repeat((sql) =>
        sql.begin(async (transaction) => {
          const [{ count = 0 } = {}] = await transaction<Count[]>`
            with changed as (
              delete from runnel.graph_contributions g using runnel.knowledge_chunks c, runnel.knowledge_documents d
              where g.tenant = ${tenant} and g.layer = ${layer} and c.tenant = g.tenant and c.id = g.chunk
                and d.tenant = c.tenant and d.id = c.document and d.dataset = ${datasetId} returning c.document
            ), raised as (${raisingShards(transaction, tenant, datasetId)})
            select count(*)::int as count from changed`;
          if (count > 0) await raiseGraph(transaction, tenant, datasetId);
          return count;
        }),
      );
    },
    async contributionHeads(tenant, datasetId, after, limit) {
      const rows = await database.repeat(
        (sql) => sql<ContributionHead[]>`
          select g.chunk as "chunkId", c.document as "documentId", g.layer, g.version, g.text_hash as "textHash"
          from runnel.graph_contributions g
          join runnel.knowledge_chunks c on c.tenant = g.tenant and c.id = g.chunk
          join runnel.knowledge_documents d on d.tenant = c.tenant and d.id = c.document
          where g.tenant = ${tenant} and d.dataset = ${datasetId}
            and ${sql.unsafe(IS_SEARCHED)} and ${sql.unsafe(IS_OF_TEXT)}
            ${after === undefined ? sql`` : sql`and (g.chunk, g.layer) > (${after.chunkId}, ${after.layer})`}
          order by g.chunk, g.layer limit ${limit}`,
      );
      return rows.map((row) => ({ ...row }));
    },
    async shardRevisions(tenant, datasetId) {
      const rows = await database.repeat(
        (sql) => sql<{ shard: number | null; revision: number }[]>`
          select h.shard, h.revision::float8 as revision from runnel.knowledge_datasets s
          left join runnel.graph_shards h on h.tenant = s.tenant and h.dataset = s.id
          where s.tenant = ${tenant} and s.id = ${datasetId} and not s.is_discarded`,
      );
      if (rows.length === 0) return undefined;
      return new Map(rows.flatMap(({ shard, revision }) => (shard === null ? [] : [[shard, revision] as const])));
    },
    async shardHeads(tenant, datasetId, shard, after, limit) {
      const rows = await database.repeat(
        (sql) => sql<ContributionHead[]>`
          select g.chunk as "chunkId", c.document as "documentId", g.layer, g.version, g.text_hash as "textHash"
          from runnel.knowledge_documents d
          join runnel.knowledge_chunks c on c.tenant = d.tenant and c.document = d.id
          join runnel.graph_contributions g on g.tenant = c.tenant and g.chunk = c.id
          where d.tenant = ${tenant} and d.dataset = ${datasetId} and runnel.graph_shard(d.id) = ${shard}::int
            and ${sql.unsafe(IS_SEARCHED)} and ${sql.unsafe(IS_OF_TEXT)}
            ${
              after === undefined
                ? sql``
                : sql`and d.id >= ${after.documentId}
                  and (d.id, g.chunk, g.layer) > (${after.documentId}, ${after.chunkId}, ${after.layer})`
            }
          order by d.id, g.chunk, g.layer limit ${limit}`,
      );
      return rows.map((row) => ({ ...row }));
    },
    async readContributions(tenant, datasetId, chunkIds) {
      const rows = await database.repeat(
        (sql) => sql<ContributionRecord[]>`
          select g.chunk as "chunkId", c.document as "documentId", g.layer, g.version, g.text_hash as "textHash", g.body
          from runnel.graph_contributions g
          join runnel.knowledge_chunks c on c.tenant = g.tenant and c.id = g.chunk
          join runnel.knowledge_documents d on d.tenant = c.tenant and d.id = c.document
          where g.tenant = ${tenant} and g.chunk = ${anyOf(sql, chunkIds)} and d.dataset = ${datasetId}
            and ${sql.unsafe(IS_SEARCHED)} and ${sql.unsafe(IS_OF_TEXT)}`,
      );
      return rows.map((row) => ({ ...row }));
    },
    async chunksWithoutContribution(tenant, datasetId, { layer, version }, after, looks) {
      // One chunk after the other, by keys alone, so that a statement takes as long in a dataset of any size.
      const rows = await database.repeatBehind(
        (sql) => sql<(ChunkRow & { last: string | null; looked: number })[]>`
          with looked as materialized (
            select * from runnel.knowledge_chunks c
            where c.tenant = ${tenant} ${after === undefined ? sql`` : sql`and c.id > ${after}`}
            order by c.id limit ${looks}
          ), missing as materialized (
            select * from looked c
            where (
              select d.dataset = ${datasetId} and ${sql.unsafe(IS_SEARCHED)} from runnel.knowledge_documents d
              where d.tenant = c.tenant and d.id = c.document
            ) and (
              select g.version = ${version} and ${sql.unsafe(IS_OF_TEXT)} from runnel.graph_contributions g
              where g.tenant = c.tenant and g.chunk = c.id and g.layer = ${layer}
            ) is not true
          )
          select ${sql.unsafe(CHUNK_COLUMNS)}, l.last, l.looked
          from (select max(id) as last, count(*)::int as looked from looked) l left join missing c on true
          order by c.id`,
      );
      const [{ last = null, looked = 0 } = {}] = rows;
      const chunks = rows.flatMap(({ last: _, looked: __, ...row }) => (row.id === null ? [] : [readChunk(row)]));
      return { chunks, next: looked < looks ? undefined : (last ?? undefined) };
    },
  };
}

type Notes = Pick<GraphStore, 'putNotes' | 'listNotes' | 'deleteNotes' | 'graphRevision' | 'clearGraph'>;

function noteStore(database: Database): Notes {
  return {
    async putNotes(tenant, datasetId, kind, notes) {
      if (notes.length === 0) return;
      const rows = notes.map(({ key, value }) => ({ key, value: wellFormed(JSON.stringify(value)) }));
      await database.repeat((sql) =>
        sql.begin(async (transaction) => {
          await raiseGraph(transaction, tenant, datasetId);
          await transaction`
            insert into runnel.graph_notes (tenant, dataset, kind, key, value)
            select s.tenant, s.id, ${kind}, r.key, r.value::json
            from json_to_recordset(${JSON.stringify(rows)}::json) as r (key text, value text)
            join runnel.knowledge_datasets s on s.tenant = ${tenant} and s.id = ${datasetId}
            on conflict (tenant, dataset, kind, key) do update set value = excluded.value`;
        }),
      );
    },
    async listNotes(tenant, datasetId, kind, after, limit) {
      const rows = await database.repeat(
        (sql) => sql<GraphNote[]>`
          select key, value from runnel.graph_notes
          where tenant = ${tenant} and dataset = ${datasetId} and kind = ${kind}
            ${after === undefined ? sql`` : sql`and key > ${after}`}
          order by key limit ${limit}`,
      );
      return rows.map((row) => ({ ...row }));
    },
    async deleteNotes(tenant, datasetId, kind, keys) {
      return database.repeat((sql) =>
        sql.begin(async (transaction) => {
          const { count } = await transaction`
            delete from runnel.graph_notes
            where tenant = ${tenant} and dataset = ${datasetId} and kind = ${kind}
              ${keys === undefined ? transaction`` : transaction`and key = ${anyOf(transaction, keys)}`}`;
          if (count > 0) await raiseGraph(transaction, tenant, datasetId);
          return count;
        }),
      );
    },
    async graphRevision(tenant, datasetId) {
      const [row] = await database.repeat(
        (sql) => sql<{ revision: number }[]>`
          select revision::float8 as revision from runnel.graphs where tenant = ${tenant} and dataset = ${datasetId}`,
      );
      return row?.revision ?? 0;
    },
    async clearGraph(tenant, datasetId) {
      return database.repeat((sql) =>
        sql.begin(async (transaction) => {
          const gone = await Promise.all([
            transaction`
              with changed as (
                delete from runnel.graph_contributions g using runnel.knowledge_chunks c, runnel.knowledge_documents d
                where g.tenant = ${tenant} and c.tenant = g.tenant and c.id = g.chunk
                  and d.tenant = c.tenant and d.id = c.document and d.dataset = ${datasetId} returning c.document
              ), raised as (${raisingShards(transaction, tenant, datasetId)})
              select from changed limit 1`,
            transaction`delete from runnel.graph_notes where tenant = ${tenant} and dataset = ${datasetId}`,
            transaction`
              update runnel.graphs set build_id = null, build_state = null, build = null, claimed_by = null
              where tenant = ${tenant} and dataset = ${datasetId} and build_id is not null`,
          ]);
          const had = gone.some(({ count }) => count > 0);
          if (had) await raiseGraph(transaction, tenant, datasetId);
          return had;
        }),
      );
    },
  };
}

interface BuildRow {
  readonly id: string;
  readonly state: BuildState;
  readonly value: JsonObject;
}

type Builds = Pick<GraphStore, 'startBuild' | 'findBuild' | 'claimBuild' | 'saveBuild' | 'releaseBuild' | 'stopBuild'>;

function buildStore(database: Database): Builds {
  return {
    async startBuild(tenant, datasetId, { id, state, value }) {
      const { count } = await database.once(
        (sql) => sql`
          insert into runnel.graphs (tenant, dataset, build_id, build_state, build, queued_at)
          select s.tenant, s.id, ${id}, ${state}, ${wellFormed(JSON.stringify(value))}::json, clock_timestamp()
          from runnel.knowledge_datasets s where s.tenant = ${tenant} and s.id = ${datasetId} and not s.is_discarded
          for key share of s
          on conflict (tenant, dataset) do update set build_id = excluded.build_id, build_state = excluded.build_state,
            build = excluded.build, queued_at = excluded.queued_at, claimed_by = null, claimed_until = null, begun = 0
          where runnel.graphs.build_state is distinct from 'RUNNING'`,
      );
      return count > 0;
    },
    async findBuild(tenant, datasetId) {
      const [row] = await database.repeat(
        (sql) => sql<BuildRow[]>`
          select build_id as id, build_state as state, build as value from runnel.graphs
          where tenant = ${tenant} and dataset = ${datasetId} and build_id is not null`,
      );
      return row && { ...row };
    },
    async claimBuild(owner, ttlMs) {
      const [row] = await database.repeat(
        (sql) => sql<(BuildRow & { tenant: string; datasetId: string; begun: number })[]>`
          update runnel.graphs g set claimed_by = ${owner}, begun = g.begun + 1,
            claimed_until = clock_timestamp() + ${ttlMs}::float8 * interval '1 millisecond'
          where (g.tenant, g.dataset) = (
            select f.tenant, f.dataset from runnel.graphs f
            join runnel.knowledge_datasets s on s.tenant = f.tenant and s.id = f.dataset and not s.is_discarded
            where f.build_state = 'RUNNING' and (f.claimed_by is null or f.claimed_until <= clock_timestamp())
            order by f.queued_at limit 1 for update of f skip locked)
          returning g.tenant, g.dataset as "datasetId", g.build_id as id, g.build_state as state, g.build as value, g.begun`,
      );
      if (row === undefined) return undefined;
      const { tenant, datasetId, begun, ...build } = row;
      return { tenant, datasetId, build: { ...build }, begun };
    },
    async saveBuild(owner, tenant, datasetId, { id, state, value }, ttlMs) {
      const { count } = await database.repeat(
        (sql) => sql`
          update runnel.graphs set build_state = ${state}, build = ${wellFormed(JSON.stringify(value))}::json,
            claimed_until = clock_timestamp() + ${ttlMs}::float8 * interval '1 millisecond'
          where tenant = ${tenant} and dataset = ${datasetId} and build_id = ${id} and claimed_by = ${owner}
            and build_state = 'RUNNING'`,
      );
      return count > 0;
    },
    async releaseBuild(owner, tenant, datasetId) {
      await database.repeat(
        (sql) => sql`
          update runnel.graphs set claimed_by = null, claimed_until = null, begun = greatest(0, begun - 1)
          where tenant = ${tenant} and dataset = ${datasetId} and claimed_by = ${owner}`,
      );
    },
    async stopBuild(tenant, datasetId) {
      const { count } = await database.repeat(
        (sql) => sql`
          update runnel.graphs set build_state = 'CANCEL', claimed_by = null, claimed_until = null
          where tenant = ${tenant} and dataset = ${datasetId} and build_state = 'RUNNING'`,
      );
      return count > 0;
    },
  };
}
