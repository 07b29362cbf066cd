import { EngineError } from '../../errors.js';
import type { RunRecord, RunStore } from '../../records/stores.js';
import type { Database } from './database.js';
import { brokenConstraint } from './failures.js';
import { recordsOf } from './queries.js';

/** Records of runs in Postgres. A run belongs to an agent that is there, and is what its log and its journal belong to. */
export function createPostgresRuns(database: Database): RunStore {
  return {
    async save(tenant, run) {
      const columns = columnsOf(tenant, run);
      try {
        await database.repeat(
          (sql) => sql`
            insert into runnel.runs ${sql(columns)}
            on conflict (tenant, id) do update set
              agent = excluded.agent, session = excluded.session, status = excluded.status,
              started_at = excluded.started_at, finished_at = excluded.finished_at, record = excluded.record`,
        );
      } catch (error) {
        if (brokenConstraint(error) !== 'runs_agent_fkey') throw error;
        throw new EngineError('NOT_FOUND', `There is no agent "${run.agentId}" for run "${run.id}".`);
      }
    },
    async find(tenant, id) {
      const [row] = await database.repeat(
        (sql) => sql<Row[]>`select record from runnel.runs where tenant = ${tenant} and id = ${id}`,
      );
      return row?.record;
    },
    async list(tenant, agentId, query) {
      const { sessionId, status, from, to } = query;
      return database.repeat((sql) =>
        recordsOf<RunRecord>(sql, query, {
          from: sql`
            from runnel.runs where tenant = ${tenant} and agent = ${agentId}
            ${sessionId === undefined ? sql`` : sql`and session = ${sessionId}`}
            ${status === undefined ? sql`` : sql`and status = ${status}`}
            ${from === undefined ? sql`` : sql`and started_at >= ${from}`}
            ${to === undefined ? sql`` : sql`and started_at <= ${to}`}`,
          order: sql`started_at desc, id`,
        }),
      );
    },
    async deleteOfAgent(tenant, agentId) {
      const rows = await database.once(
        (sql) => sql<{ id: string }[]>`
          delete from runnel.runs where tenant = ${tenant} and agent = ${agentId} returning id`,
      );
      return rows.map(({ id }) => id);
    },
  };
}

interface Row {
  readonly record: RunRecord;
}

function columnsOf(tenant: string, run: RunRecord) {
  return {
    tenant,
    id: run.id,
    agent: run.agentId,
    session: run.sessionId,
    status: run.status,
    started_at: run.startedAt,
    finished_at: run.finishedAt ?? null,
    record: JSON.stringify(run),
  };
}
