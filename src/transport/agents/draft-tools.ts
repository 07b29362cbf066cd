/** What editors of drafts need beside saving: testing a database, running a part of a pipeline again. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { badArgument } from '../../hosting/refusals.js';
import { isJsonObject } from '../../json.js';
import { type Envelope, outside, success } from '../envelope.js';
import { takePlace } from '../http/guards.js';
import { type RouteGroup, route } from '../http/route.js';

const text = z.union([z.string(), z.number()]).nullish();

/** All of it is required. */
const databaseSchema = z.looseObject({
  db_type: text.describe('Kind of database, such as "mysql".'),
  database: text.describe('Name of the database.'),
  username: text,
  host: text.describe('Name or address; private ones are refused unless the server allows them.'),
  port: text,
  password: text,
});

/** All of it is required. */
const rerunSchema = z.looseObject({
  id: z.string().nullish().describe('Id of a pipeline log.'),
  dsl: z.unknown().optional().describe('The pipeline.'),
  component_id: z.string().nullish().describe('Where to begin.'),
});

const REQUIRED = ['db_type', 'database', 'username', 'host', 'port', 'password'] as const;

/** RAGFlow's code for failures that are none of the caller's. */
const EXCEPTION = 100;

export const draftToolRoutes: RouteGroup = {
  name: 'draft tools',
  description: 'What editors of drafts need beside saving.',
  routes: [
    route('POST /agents/test_db_connection', {
      summary: 'Asks a database whether it answers',
      takes: databaseSchema,
      data: z.string(),
      handle: async ({ tenant, body }, { databaseProbe, logger, shares }) => {
        const given = requireAll(body, REQUIRED);
        const kind = given.db_type.toLowerCase();
        if (!databaseProbe?.kinds.includes(kind)) {
          const known = databaseProbe?.kinds.join(', ') ?? 'none';
          return exception(`Unsupported database type: ${kind}. This server can test: ${known}.`);
        }
        const port = Number(given.port);
        if (!Number.isInteger(port) || port < 1 || port > 65_535) throw badArgument('`port` must be from 1 to 65535.');
        const { database, username, host, password } = given;
        const giveBack = takePlace(shares.trials, tenant, 'trials');
        try {
          await databaseProbe.probe({ kind, database, username, host, port, password });
          return success('Database Connection Successful!');
        } catch (error) {
          if (EngineError.is(error) && (error.code === 'URL_BLOCKED' || error.code === 'URL_INVALID')) {
            return { code: 102, message: outside(error).message };
          }
          // A driver's message may contain a password, or the address of a server of another tenant.
          logger.warn({ err: error, kind }, 'a database could not be tested');
          return exception(`The ${kind} database did not answer; check host, port, name and credentials.`);
        } finally {
          giveBack();
        }
      },
    }),
    route('POST /agents/rerun', {
      summary: 'Runs a part of a pipeline again',
      takes: rerunSchema,
      handle: ({ body }) => {
        requireAll(body, ['id', 'dsl', 'component_id']);
        // This server stores no logs of ingestion pipelines, so no id can be found.
        throw new EngineError('NOT_FOUND', 'Document not found.');
      },
    }),
  ],
};

function exception(message: string): Envelope {
  return { code: EXCEPTION, message, data: false };
}

/** @throws EngineError BAD_REQUEST naming everything that is missing, in RAGFlow's words. */
function requireAll<K extends string>(body: unknown, names: readonly K[]): Record<K, string> {
  const given = isJsonObject(body) ? body : {};
  const isMissing = (name: K): boolean => {
    const value = given[name];
    return value === undefined || value === null || value === '';
  };
  const missing = names.filter(isMissing);
  if (missing.length > 0) throw badArgument(`required argument are missing: ${missing.join(',')}; `);
  return Object.fromEntries(names.map((name) => [name, textOf(given[name])])) as Record<K, string>;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : String(JSON.stringify(value));
}
