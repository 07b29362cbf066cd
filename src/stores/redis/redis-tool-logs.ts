import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { KEPT_MS, toolLogKey } from './keys.js';
import { jsonText, readReply } from './read-reply.js';
import type { Redis } from './redis.js';
import { script } from './script.js';

/** What the tools of an answer did: `[{ component_id, trace: [{ path, tool_name, arguments, result, elapsed_time }] }]`. */
export type ToolLog = readonly JsonObject[];

/** Logs of tools, each of one answer in one task (RAGFlow: the session). */
export interface ToolLogStore {
  /** Inserts or replaces; forgotten after 600 s. */
  save(tenant: string, task: string, message: string, log: ToolLog): Promise<void>;
  find(tenant: string, task: string, message: string): Promise<ToolLog | undefined>;
}

const SAVE_TOOL_LOG = script(
  'save a log of tools',
  `-- Writes the log of an answer and, beside it, whose it is.
-- KEYS   1 log, 2 owner
-- ARGV   1 tenant, 2 log as JSON text, 3 milliseconds to keep
-- Result 1, or 0 when the log is another tenant's
local owner = redis.call('GET', KEYS[2])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[3])
return 1
`,
);

const foundSchema = z.tuple([z.string().nullable(), z.string().nullable()]);
const logSchema = jsonText(z.array(z.custom<JsonObject>(isJsonObject, 'expected an object')));

/** Logs of tools where RAGFlow's clients look for them; their text has no version, as it is RAGFlow's. */
export function createRedisToolLogs(redis: Redis): ToolLogStore {
  const { commands } = redis;
  const keysOf = (task: string, message: string): string[] => {
    const key = toolLogKey(task, message);
    return [key, `${key}:tenant`];
  };
  return {
    async save(tenant, task, message, log) {
      const args = [tenant, JSON.stringify(log), KEPT_MS.toolLog];
      if ((await commands.run(SAVE_TOOL_LOG, keysOf(task, message), args)) === 1) return;
      throw new EngineError('CONFLICT', `The log of message "${message}" is somebody else's; take another id.`);
    },
    async find(tenant, task, message) {
      const [text, owner] = readReply(
        foundSchema,
        await commands.send('MGET', keysOf(task, message)),
        'A log of tools',
      );
      return text === null || owner !== tenant ? undefined : readReply(logSchema, text, 'A log of tools');
    },
  };
}
