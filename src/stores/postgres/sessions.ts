import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import type { SessionQuery, SessionRecord, SessionStore } from '../../records/stores.js';
import type { Database, Statements } from './database.js';
import { createDocuments } from './documents.js';
import { brokenConstraint } from './failures.js';
import { foldCase, joinTexts, pageOf } from './queries.js';

export interface PostgresSessionOptions {
  /** Bytes of one session without its document. @default 64 MiB */
  readonly maxSessionBytes?: number;
}

/** Sessions in Postgres; their documents are kept apart, each once. */
export function createPostgresSessions(database: Database, options: PostgresSessionOptions = {}): SessionStore {
  const { maxSessionBytes = 64 * 1024 ** 2 } = options;
  const documents = createDocuments(database);

  const write = async (tenant: string, session: SessionRecord): Promise<void> => {
    const { dsl, ...own } = session;
    await documents.keep(tenant, dsl);
    const record = JSON.stringify(own);
    if (record.length > maxSessionBytes) throw tooLarge(session.id, record.length, maxSessionBytes);
    const columns = columnsOf(tenant, session, documents.hashOf(dsl), record);
    await database.repeat(
      (sql) => sql`
        insert into runnel.sessions ${sql(columns)}
        on conflict (tenant, id) do update set
          agent = excluded.agent, document = excluded.document, name = excluded.name, user_id = excluded.user_id,
          search = excluded.search, created_at = excluded.created_at, updated_at = excluded.updated_at,
          record = excluded.record`,
    );
  };
  const complete = async (tenant: string, { record, document }: Row): Promise<SessionRecord> => {
    const dsl = await documents.find(tenant, document);
    return { ...record, dsl: dsl as JsonObject };
  };

  return {
    async save(tenant, session) {
      try {
        await write(tenant, session).catch((error: unknown) => {
          if (brokenConstraint(error) !== 'sessions_document_fkey') throw error;
          // No session had it any more, so it was pruned.
          documents.forget(tenant, session.dsl);
          return write(tenant, session);
        });
      } catch (error) {
        if (brokenConstraint(error) !== 'sessions_agent_fkey') throw error;
        throw new EngineError('NOT_FOUND', `There is no agent "${session.agentId}".`);
      }
    },
    async find(tenant, id) {
      const [row] = await database.repeat(
        (sql) => sql<Row[]>`select record, document from runnel.sessions where tenant = ${tenant} and id = ${id}`,
      );
      return row === undefined ? undefined : complete(tenant, row);
    },
    async delete(tenant, id) {
      const { count } = await database.once(
        (sql) => sql`delete from runnel.sessions where tenant = ${tenant} and id = ${id}`,
      );
      return count > 0;
    },
    async deleteOfAgent(tenant, agentId) {
      await database.repeat((sql) => sql`delete from runnel.sessions where tenant = ${tenant} and agent = ${agentId}`);
    },
    async list(tenant, agentId, query) {
      const { orderBy, descending } = query;
      const { items, total } = await database.repeat((sql) =>
        pageOf<Row>(sql, query, {
          select: sql`record, document`,
          from: sql`from runnel.sessions where tenant = ${tenant} and agent = ${agentId} ${conditions(sql, query)}`,
          order: sql`${sql(COLUMN[orderBy])} ${descending ? sql`desc` : sql`asc`}, id`,
        }),
      );
      return { items: await Promise.all(items.map((row) => complete(tenant, row))), total };
    },
  };
}

interface Row {
  readonly record: Omit<SessionRecord, 'dsl'>;
  readonly document: string;
}

const COLUMN = { createdAt: 'created_at', updatedAt: 'updated_at', name: 'name' } as const;

function columnsOf(tenant: string, session: SessionRecord, document: string, record: string) {
  const { id, agentId, name, userId, messages, createdAt, updatedAt } = session;
  return {
    tenant,
    id,
    agent: agentId,
    document,
    name,
    user_id: userId,
    search: joinTexts([id, name, ...messages.map(({ content }) => content)]),
    created_at: createdAt,
    updated_at: updatedAt,
    record,
  };
}

function conditions(sql: Statements, { id, userId, from, to, keywords }: SessionQuery) {
  return sql`
    ${id === undefined ? sql`` : sql`and id = ${id}`}
    ${userId === undefined ? sql`` : sql`and user_id = ${userId}`}
    ${from === undefined ? sql`` : sql`and created_at >= ${from}`}
    ${to === undefined ? sql`` : sql`and created_at <= ${to}`}
    ${keywords === undefined ? sql`` : sql`and strpos(search, ${foldCase(keywords)}) > 0`}`;
}

function tooLarge(id: string, bytes: number, most: number): EngineError {
  return new EngineError(
    'LIMIT_REACHED',
    `Session "${id}" takes ${bytes} bytes, of at most ${most}: begin another one.`,
  );
}
