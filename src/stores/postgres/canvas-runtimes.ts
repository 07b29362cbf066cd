import type { CanvasRuntimeStore } from '../../records/durable-stores.js';
import type { Database } from './database.js';

/** The tenants' choices of an engine, in Postgres. */
export function createPostgresCanvasRuntimes(database: Database): CanvasRuntimeStore {
  return {
    async save(tenant, runtime) {
      await database.repeat(
        (sql) => sql`
          insert into runnel.canvas_runtimes (tenant, runtime) values (${tenant}, ${runtime})
          on conflict (tenant) do update set runtime = excluded.runtime`,
      );
    },
    async find(tenant) {
      const [row] = await database.repeat(
        (sql) => sql<{ runtime: string }[]>`select runtime from runnel.canvas_runtimes where tenant = ${tenant}`,
      );
      return row?.runtime;
    },
    async delete(tenant) {
      await database.repeat((sql) => sql`delete from runnel.canvas_runtimes where tenant = ${tenant}`);
    },
  };
}
