import { parseJson } from '../../json.js';
import { type ChatStore, chatMessageText, readChatMessage, readChatSummary } from '../../records/chats.js';
import type { Database } from './database.js';

interface MessageRow {
  readonly position: number;
  readonly record: string;
}

/** Messages as stored are smaller; their JSON has no more values than that. */
const MAX_VALUES = 10_000_000;

/** Chats in a database. */
export function createPostgresChats(database: Database): ChatStore {
  return {
    async append(tenant, session, messages) {
      if (messages.length === 0) return 0;
      // Records as texts within the JSON: Postgres cannot take an object apart that has a character 0 in it.
      const given = messages.map((message, at) => ({ at, id: message.id, record: chatMessageText(message) }));
      const { count } = await database.repeat(
        (sql) => sql`
          with thread as (
            insert into runnel.chat_threads as t (tenant, session, last_position)
            values (${tenant}, ${session}, ${messages.length})
            on conflict (tenant, session) do update set last_position = t.last_position + excluded.last_position
            returning last_position
          )
          insert into runnel.chat_messages (tenant, session, position, id, record)
          select ${tenant}, ${session}, thread.last_position - ${messages.length} + 1 + given.at, given.id, given.record::json
          from thread, json_to_recordset(${JSON.stringify(given)}::json) as given (at int, id text, record text)
          on conflict (tenant, session, id) do nothing`,
      );
      return count;
    },
    async messages(tenant, session, { after = 0, limit, newest = false }) {
      const rows = await database.repeat((sql) => {
        const order = newest ? sql`order by position desc` : sql`order by position`;
        return sql<MessageRow[]>`
          select position::float8 as position, record::text as record from runnel.chat_messages
          where tenant = ${tenant} and session = ${session} and position > ${after} ${order} limit ${limit}`;
      });
      const read = rows.map(({ position, record }) => readChatMessage(parsed(record), position));
      return newest ? read.reverse() : read;
    },
    async setDetails(tenant, session, id, details) {
      return database.repeat((sql) =>
        sql.begin(async (transaction) => {
          const [row] = await transaction<MessageRow[]>`
            select position::float8 as position, record::text as record from runnel.chat_messages
            where tenant = ${tenant} and session = ${session} and id = ${id} for update`;
          if (row === undefined) return false;
          const { details: _, position, ...message } = readChatMessage(parsed(row.record), row.position);
          const text = chatMessageText({ ...message, ...(details !== undefined && { details }) });
          await transaction`
            update runnel.chat_messages set record = ${text}
            where tenant = ${tenant} and session = ${session} and position = ${position}`;
          return true;
        }),
      );
    },
    async remove(tenant, session, ids) {
      const rows = await database.repeat(
        (sql) => sql<{ id: string }[]>`
          delete from runnel.chat_messages where tenant = ${tenant} and session = ${session}
          and id in (select json_array_elements_text(${JSON.stringify(ids)}::json)) returning id`,
      );
      return rows.map(({ id }) => id);
    },
    async summary(tenant, session) {
      const [row] = await database.repeat(
        (sql) => sql<{ summary: string | null }[]>`
          select summary::text as summary from runnel.chat_threads where tenant = ${tenant} and session = ${session}`,
      );
      return typeof row?.summary === 'string' ? readChatSummary(parsed(row.summary)) : undefined;
    },
    async replaceSummary(tenant, session, before, summary) {
      const { count } = await database.repeat(
        (sql) => sql`
          update runnel.chat_threads set summary = ${JSON.stringify(summary)}, through = ${summary.through}
          where tenant = ${tenant} and session = ${session} and through is not distinct from ${before ?? null}`,
      );
      return count > 0;
    },
    async delete(tenant, session) {
      await database.repeat(
        (sql) => sql`delete from runnel.chat_threads where tenant = ${tenant} and session = ${session}`,
      );
    },
  };
}

const parsed = (text: string): unknown => parseJson(text, { maxValues: MAX_VALUES });
