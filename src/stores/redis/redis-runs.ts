import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { FIRST_EPOCH } from '../../records/run-log.js';
import type { RunQuery, RunRecord, RunStatus, RunStore } from '../../records/runs.js';
import type { Call } from './commands.js';
import { RUN_PREFIX, runKey, runsOfAgentKey, runsOfTenantKey } from './keys.js';
import { readReply } from './read-reply.js';
import type { Redis } from './redis.js';
import { fieldsOf, READ_FIELDS, readRun, STATUS_NUMBERS } from './run-fields.js';
import { DELETE_RUNS, LIST_RUNS, SAVE_RUN } from './run-scripts.js';
import { createWriterId } from './run-writers.js';

const value = z.string().nullable();
const foundSchema = z.tuple([value, value], value);
const listSchema = z.tuple([z.number().int()], z.tuple([z.string()], value));
const idsSchema = z.array(z.string());

/** Runs deleted in one step; no other client is served meanwhile. */
const DELETED_AT_ONCE = 200;

/**
 * Records of runs in Redis hashes, for 30 days after the last change, with indexes by tenant, agent, session and status. What
 * no index has, such as the version, is looked for among the newest 20,000 of one.
 *
 * The name of a hash has no room for the tenant, so an id belongs to the tenant that used it first: CONFLICT for any other.
 */
export function createRedisRuns({ commands }: Redis, saveStep: SaveStep): RunStore {
  /** Gives whether it was written. */
  const write = async (tenant: string, run: RunRecord, before: RunRecord | undefined): Promise<boolean> => {
    const { keys, args } = saveStep(tenant, run, before);
    const result = await commands.run(SAVE_RUN, keys, args);
    if (result === 'foreign') throw foreignRun(run.id);
    return result === 'ok';
  };
  const find: RunStore['find'] = async (tenant, id, agentId) => {
    const [owner, ...values] = readReply(
      foundSchema,
      await commands.send('HMGET', [runKey(id), 'tenant_id', ...READ_FIELDS]),
      `Run "${id}"`,
    );
    const run = owner === tenant && values[0] !== null ? readRun(id, values) : undefined;
    return agentId === undefined || run?.agentId === agentId ? run : undefined;
  };
  return {
    async save(tenant, run) {
      await write(tenant, run, undefined);
    },
    replace: (tenant, before, after) => write(tenant, after, before),
    find,
    async list(tenant, query) {
      const { from = '-inf', to = '+inf', offset, limit, maxBytes = 0, shortestMs = '', longestMs = '' } = query;
      const { index, wanted } = placeOf(tenant, query);
      const reply = await commands.run(
        LIST_RUNS,
        [index],
        [
          ...[tenant, RUN_PREFIX, offset, limit, from, to, maxBytes, shortestMs, longestMs],
          ...[wanted.length / 2, ...wanted, ...READ_FIELDS],
        ],
      );
      const [total, ...records] = readReply(listSchema, reply, 'A list of runs');
      return { items: records.map(([id, ...values]) => readRun(id, values)), total };
    },
    async delete(tenant, id, agentId) {
      const run = await find(tenant, id, agentId);
      if (run === undefined) return false;
      return (await commands.run(DELETE_RUNS, ...deletionOf(tenant, run.agentId, [id]))) === 1;
    },
    async deleteOf(tenant, agentId) {
      const indexes = indexesOf(tenant, agentId);
      const ids = readReply(idsSchema, await commands.send('ZRANGE', [indexes.agent, 0, -1]), 'A list of runs');
      for (let at = 0; at < ids.length; at += DELETED_AT_ONCE) {
        const some = ids.slice(at, at + DELETED_AT_ONCE);
        await commands.run(DELETE_RUNS, ...deletionOf(tenant, agentId, some));
      }
      return ids;
    },
  };
}

/** What {@link SAVE_RUN} is given. @param before the record that it replaces; without it there may be none */
export type SaveStep = (tenant: string, run: RunRecord, before?: RunRecord) => Call;

/** Makes the writer of records of this process, whose later writes are not undone by an earlier one that arrives late. */
export function createSaveStep({ runKeptMs }: Redis): SaveStep {
  const writer = createWriterId();
  let writes = 0;
  return (tenant, run, before) => {
    const indexes = indexesOf(tenant, run.agentId);
    const others = STATUSES.filter((status) => status !== run.status).map(indexes.status);
    const epochs = [run.epoch ?? FIRST_EPOCH, before === undefined ? '' : (before.epoch ?? FIRST_EPOCH)];
    writes += 1;
    return {
      keys: [runKey(run.id), indexes.agent, indexes.session(run.sessionId), indexes.status(run.status), ...others],
      args: [
        tenant,
        run.id,
        run.startedAt,
        runKeptMs,
        RUN_PREFIX,
        writer,
        writes,
        ...epochs,
        STATUS_NUMBERS[run.status],
        run.isChat === true ? '' : runsOfTenantKey(tenant),
        ...fieldsOf(run, before),
      ],
    };
  };
}

/** The refusal of a run whose id another tenant has used. */
export function foreignRun(run: string): EngineError {
  return new EngineError('CONFLICT', `Run "${run}" exists already and belongs to another tenant; take another id.`);
}

/** By their numbers. */
const STATUSES = Object.keys(STATUS_NUMBERS) as RunStatus[];

/** The index that has the fewest runs beside those that are asked for, and the fields of hashes that it does not answer for. */
function placeOf(tenant: string, { agentId, sessionId, status, version, userId }: RunQuery) {
  const wanted: (string | number)[] = [];
  const place = { wanted, index: '' };
  const number = status === undefined ? undefined : STATUS_NUMBERS[status];
  if (version !== undefined) wanted.push('version', version);
  if (userId !== undefined) wanted.push('user_id', userId);
  if (agentId === undefined) {
    if (sessionId !== undefined) wanted.push('session_id', sessionId);
    const all = runsOfTenantKey(tenant);
    return { ...place, index: number === undefined ? all : `${all}:${number}` };
  }
  const indexes = indexesOf(tenant, agentId);
  if (sessionId === undefined)
    return { ...place, index: status === undefined ? indexes.agent : indexes.status(status) };
  // Sessions have few runs, so the status is looked at one by one there.
  if (number !== undefined) wanted.push('status', number);
  return { ...place, index: indexes.session(sessionId) };
}

/** Keys and arguments of {@link DELETE_RUNS}. */
function deletionOf(tenant: string, agentId: string, ids: readonly string[]): [string[], string[]] {
  const indexes = indexesOf(tenant, agentId);
  const all = runsOfTenantKey(tenant);
  const keys = [indexes.agent, ...STATUSES.map(indexes.status)];
  keys.push(all, ...Object.values(STATUS_NUMBERS).map((number) => `${all}:${number}`));
  return [keys, [tenant, RUN_PREFIX, indexes.session(''), ...ids]];
}

function indexesOf(tenant: string, agentId: string) {
  const agent = runsOfAgentKey(tenant, agentId);
  return {
    agent,
    session: (session: string) => `${agent}:session:${session}`,
    status: (status: RunStatus) => `${agent}:status:${status}`,
  };
}
