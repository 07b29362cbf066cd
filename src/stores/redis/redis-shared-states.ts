import { isJsonObject, parseJson } from '../../json.js';
import { NO_STATE, SHARED_STATE_KEPT_MS, type SharedState, type SharedStates } from '../../records/shared-states.js';
import { sharedStateKey } from './keys.js';
import type { Redis } from './redis.js';
import { script } from './script.js';

/**
 * Writes a state over the version that its writer has read.
 *
 * KEYS   1 the state
 * ARGV   1 version that was read, 2 version to write, 3 state as JSON, 4 milliseconds to keep it
 * Result { 1 when it was written, else 0, version that is stored, its JSON }
 */
const REPLACE_STATE = script(
  'replace a shared state',
  `local stored = redis.call('HMGET', KEYS[1], 'version', 'state')
if (stored[1] or '0') ~= ARGV[1] then return { 0, stored[1] or '0', stored[2] or '' } end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'state', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return { 1, ARGV[2], ARGV[3] }
`,
);

/** Shared states in Redis, a hash each. */
export function createRedisSharedStates({ commands }: Redis): SharedStates {
  return {
    async read(names) {
      const read = names.map(async (name): Promise<[string, SharedState]> => {
        const answer = await commands.send('HMGET', [sharedStateKey(name), 'version', 'state']);
        return [name, stateOf(answer as readonly (string | null)[])];
      });
      return new Map((await Promise.all(read)).filter(([, { version }]) => version > 0));
    },
    async replace(name, before, state) {
      const args = [String(before), String(before + 1), JSON.stringify(state), SHARED_STATE_KEPT_MS];
      const [isMine, ...stored] = (await commands.run(REPLACE_STATE, [sharedStateKey(name)], args)) as [
        number,
        string,
        string,
      ];
      return { isMine: isMine === 1, stored: stateOf(stored) };
    },
  };
}

/** What is no JSON object, which Runnel never writes, counts as empty. */
function stateOf([version, text]: readonly (string | null)[]): SharedState {
  if (version === null || version === undefined || version === '0') return NO_STATE;
  const state = parseJson(text ?? '');
  return { version: Number(version), state: isJsonObject(state) ? state : {} };
}
