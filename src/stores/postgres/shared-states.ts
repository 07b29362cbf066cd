import { isJsonObject, parseJson } from '../../json.js';
import { NO_STATE, SHARED_STATE_KEPT_MS, type SharedState, type SharedStates } from '../../records/shared-states.js';
import type { Database } from './database.js';

interface StateRow {
  readonly name: string;
  readonly version: number;
  readonly state: string;
}

/** Shared states in a database. A name that is new is the occasion to delete those that were not written for long. */
export function createPostgresSharedStates(database: Database): SharedStates {
  const read: SharedStates['read'] = async (names) => {
    const rows = await database.repeat(
      (sql) => sql<StateRow[]>`
        select name, version::float8 as version, state::text as state from runnel.shared_states
        where name in (select json_array_elements_text(${JSON.stringify(names)}::json))`,
    );
    return new Map(rows.map((row) => [row.name, stateOf(row)]));
  };
  return {
    read,
    async replace(name, before, state) {
      const text = JSON.stringify(state);
      const { count } = await database.repeat((sql) =>
        before === 0
          ? sql`
              insert into runnel.shared_states (name, version, state) values (${name}, 1, ${text})
              on conflict (name) do nothing`
          : sql`
              update runnel.shared_states set version = version + 1, state = ${text}, written_at = clock_timestamp()
              where name = ${name} and version = ${before}`,
      );
      if (count === 0) return { isMine: false, stored: (await read([name])).get(name) ?? NO_STATE };
      if (before === 0) await forgetOld(database);
      return { isMine: true, stored: { version: before + 1, state } };
    },
  };
}

async function forgetOld(database: Database): Promise<void> {
  await database.repeat(
    (sql) => sql`
      delete from runnel.shared_states
      where written_at < clock_timestamp() - ${SHARED_STATE_KEPT_MS}::float8 * interval '1 millisecond'`,
  );
}

function stateOf({ version, state }: StateRow): SharedState {
  const read = parseJson(state);
  return { version, state: isJsonObject(read) ? read : {} };
}
