import { EngineError } from '../../errors.js';
import type { VersionRecord, VersionStore } from '../../records/durable-stores.js';
import type { Database } from './database.js';
import { brokenConstraint } from './failures.js';
import { recordsOf } from './queries.js';

/** Published documents in Postgres. */
export function createPostgresVersions(database: Database): VersionStore {
  return {
    async insert(tenant, version) {
      const { id, agentId, createdAt } = version;
      try {
        await database.once(
          (sql) => sql`
            insert into runnel.versions (tenant, agent, id, created_at, record)
            values (${tenant}, ${agentId}, ${id}, ${createdAt}, ${JSON.stringify(version)})`,
        );
      } catch (error) {
        throw refusal(error, version);
      }
    },
    async find(tenant, agentId, id) {
      const [row] = await database.repeat(
        (sql) => sql<Row[]>`
          select record from runnel.versions where tenant = ${tenant} and agent = ${agentId} and id = ${id}`,
      );
      return row?.record;
    },
    async latest(tenant, agentId) {
      const [row] = await database.repeat(
        (sql) => sql<Row[]>`
          select record from runnel.versions where tenant = ${tenant} and agent = ${agentId}
          order by created_at desc, position desc limit 1`,
      );
      return row?.record;
    },
    async list(tenant, agentId, page) {
      return database.repeat((sql) =>
        recordsOf<VersionRecord>(sql, page, {
          from: sql`from runnel.versions where tenant = ${tenant} and agent = ${agentId}`,
          order: sql`created_at desc, position desc`,
        }),
      );
    },
    async delete(tenant, agentId, id) {
      const { count } = await database.once(
        (sql) => sql`delete from runnel.versions where tenant = ${tenant} and agent = ${agentId} and id = ${id}`,
      );
      return count > 0;
    },
    async deleteOfAgent(tenant, agentId) {
      await database.repeat((sql) => sql`delete from runnel.versions where tenant = ${tenant} and agent = ${agentId}`);
    },
  };
}

interface Row {
  readonly record: VersionRecord;
}

function refusal(error: unknown, { id, agentId }: VersionRecord): unknown {
  const broken = brokenConstraint(error);
  if (broken === 'versions_agent_fkey') return new EngineError('NOT_FOUND', `There is no agent "${agentId}".`);
  if (broken === 'versions_pkey') return new EngineError('CONFLICT', `Version "${id}" already exists.`);
  return error;
}
