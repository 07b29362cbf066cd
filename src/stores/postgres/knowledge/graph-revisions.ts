/** How statements say what of a graph has changed, in the transaction of the change. */
import type { Fragment, Statements } from '../database.js';

/** Notes that something of the graph has changed. The dataset is held before the graph, as those do that change a dataset. */
export async function raiseGraph(sql: Statements, tenant: string, datasetId: string): Promise<void> {
  await sql`
    insert into runnel.graphs (tenant, dataset, revision)
    select s.tenant, s.id, 1 from runnel.knowledge_datasets s where s.tenant = ${tenant} and s.id = ${datasetId}
    for key share of s
    on conflict (tenant, dataset) do update set revision = runnel.graphs.revision + 1`;
}

/**
 * The part of a statement that raises the shards of documents: `with changed as (…), raised as (${raisingShards(sql, tenant, datasetId)})`, where `changed` has a
 * column `document`. Ascending, so that two statements never wait for each other.
 */
export function raisingShards(sql: Statements, tenant: string, datasetId: string): Fragment {
  return sql`
    insert into runnel.graph_shards as h (tenant, dataset, shard, revision)
    select ${tenant}, ${datasetId}, s.shard, 1 from (select distinct runnel.graph_shard(document) as shard from changed) s
    order by s.shard
    on conflict (tenant, dataset, shard) do update set revision = h.revision + 1`;
}
