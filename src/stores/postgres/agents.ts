import { EngineError } from '../../errors.js';
import type { AgentQuery, AgentRecord, AgentStore } from '../../records/stores.js';
import type { Database, Statements } from './database.js';
import { brokenConstraint } from './failures.js';
import { foldCase, joinTexts, recordsOf, texts } from './queries.js';

/** Agents in Postgres. Deleting one deletes its versions, sessions, runs, logs and journals. */
export function createPostgresAgents(database: Database): AgentStore {
  return {
    async insert(tenant, agent) {
      try {
        await database.once((sql) => sql`insert into runnel.agents ${sql(columnsOf(tenant, agent))}`);
      } catch (error) {
        throw refusal(error, agent);
      }
    },
    async find(tenant, id) {
      const [row] = await database.repeat(
        (sql) => sql<Row[]>`select record from runnel.agents where tenant = ${tenant} and id = ${id}`,
      );
      return row?.record;
    },
    async update(tenant, id, change) {
      let after: AgentRecord | undefined;
      try {
        await database.repeat((sql) =>
          sql.begin(async (transaction) => {
            const [row] = await transaction<Row[]>`
              select record from runnel.agents where tenant = ${tenant} and id = ${id} for update`;
            after = row === undefined ? undefined : { ...row.record, ...change };
            if (after === undefined) return;
            await transaction`
              update runnel.agents set ${transaction(columnsOf(tenant, after))}
              where tenant = ${tenant} and id = ${id}`;
          }),
        );
      } catch (error) {
        throw refusal(error, change);
      }
      return after;
    },
    async delete(tenant, id) {
      const { count } = await database.once(
        (sql) => sql`delete from runnel.agents where tenant = ${tenant} and id = ${id}`,
      );
      return count > 0;
    },
    async list(tenant, query) {
      return database.repeat((sql) => {
        const { orderBy, descending } = query;
        return recordsOf<AgentRecord>(sql, query, {
          from: sql`from runnel.agents where tenant = ${tenant} ${conditions(sql, query)}`,
          order: sql`${sql(COLUMN[orderBy])} ${descending ? sql`desc` : sql`asc`}, id`,
        });
      });
    },
  };
}

interface Row {
  readonly record: AgentRecord;
}

const COLUMN = { createdAt: 'created_at', updatedAt: 'updated_at', title: 'title' } as const;

function columnsOf(tenant: string, agent: AgentRecord) {
  // Postgres takes no character 0 out of JSON.
  const tags = agent.tags
    .replaceAll('\0', '')
    .split(',')
    .map((tag) => tag.trim());
  return {
    tenant,
    id: agent.id,
    title: agent.title,
    title_key: foldCase(agent.title),
    category: agent.canvasCategory,
    canvas_type: agent.canvasType,
    tags: JSON.stringify(tags),
    search: joinTexts([agent.title, ...tags]),
    created_at: agent.createdAt,
    updated_at: agent.updatedAt,
    record: JSON.stringify(agent),
  };
}

function conditions(sql: Statements, { id, title, keywords, categories, canvasType, tags }: AgentQuery) {
  return sql`
    ${id === undefined ? sql`` : sql`and id = ${id}`}
    ${title === undefined ? sql`` : sql`and title = ${title}`}
    ${keywords === undefined ? sql`` : sql`and strpos(search, ${foldCase(keywords)}) > 0`}
    ${categories === undefined ? sql`` : sql`and category in ${texts(sql, categories)}`}
    ${canvasType === undefined ? sql`` : sql`and canvas_type = ${canvasType}`}
    ${tags === undefined ? sql`` : sql`and exists (select from json_array_elements_text(tags) as t(tag) where tag in ${texts(sql, tags)})`}`;
}

function refusal(error: unknown, { title, id }: { readonly title?: string; readonly id?: string }): unknown {
  const broken = brokenConstraint(error);
  if (broken === 'agents_title_key') return new EngineError('CONFLICT', `${title} already exists.`, { cause: error });
  if (broken === 'agents_pkey') return new EngineError('CONFLICT', `Agent "${id}" already exists.`, { cause: error });
  return error;
}
