import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { FIRST_EPOCH } from '../../records/run-log.js';
import type { RunRecord, RunStatus, RunStore } from '../../records/runs.js';
import type { Call } from './commands.js';
import { RUN_PREFIX, runKey, runsOfAgentKey } from './keys.js';
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
 * Records of runs in Redis hashes, for 30 days after the last change, with indexes by agent, session and status.
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
  return {
    async save(tenant, run) {
      await write(tenant, run, undefined);
    },
    replace: (tenant, before, after) => write(tenant, after, before),
    async find(tenant, id, agentId) {
      const [owner, ...values] = readReply(
        foundSchema,
        await commands.send('HMGET', [runKey(id), 'tenant_id', ...READ_FIELDS]),
        `Run "${id}"`,
      );
      const run = owner === tenant && values[0] !== null ? readRun(id, values) : undefined;
      return agentId === undefined || run?.agentId === agentId ? run : undefined;
    },
    async list(tenant, { agentId, sessionId, status, from, to, offset, limit, maxBytes = 0 }) {
      const indexes = indexesOf(tenant, agentId);
      // Sessions have few runs, so the status is looked at one by one there.
      const index =
        sessionId !== undefined
          ? indexes.session(sessionId)
          : status !== undefined
            ? indexes.status(status)
            : indexes.agent;
      const wanted = sessionId !== undefined && status !== undefined ? STATUS_NUMBERS[status] : '';
      const reply = await commands.run(
        LIST_RUNS,
        [index],
        [...[tenant, RUN_PREFIX, offset, limit, wanted], ...[from ?? '-inf', to ?? '+inf', maxBytes], ...READ_FIELDS],
      );
      const [total, ...records] = readReply(listSchema, reply, 'A list of runs');
      return { items: records.map(([id, ...values]) => readRun(id, values)), total };
    },
    async deleteOf(tenant, agentId) {
      const indexes = indexesOf(tenant, agentId);
      const ids = readReply(idsSchema, await commands.send('ZRANGE', [indexes.agent, 0, -1]), 'A list of runs');
      for (let at = 0; at < ids.length; at += DELETED_AT_ONCE) {
        const some = ids.slice(at, at + DELETED_AT_ONCE);
        const keys = [indexes.agent, ...STATUSES.map(indexes.status)];
        await commands.run(DELETE_RUNS, keys, [tenant, RUN_PREFIX, indexes.session(''), ...some]);
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

function indexesOf(tenant: string, agentId: string) {
  const agent = runsOfAgentKey(tenant, agentId);
  return {
    agent,
    session: (session: string) => `${agent}:session:${session}`,
    status: (status: RunStatus) => `${agent}:status:${status}`,
  };
}
