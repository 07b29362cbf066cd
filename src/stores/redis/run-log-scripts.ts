/** Scripts for the logs of runs: what Redis does in one step, with its keys, arguments and results. */
import { script } from './script.js';

/**
 * The one writer of a log: the newest, with numbered writes.
 *
 * Every write carries its number and the last one that its writer knows to be done. One that is there already is no error, so that it may
 * be sent again when its answer was lost; one that arrives after a later one changes nothing.
 *
 * `ARGV`: 1 tenant, 2 writer, 3 number of the write, 4 number of the last one known to be done, 5 format version, 6 milliseconds to keep.
 *
 * The result of every write:
 *        'ok'         it is done, now or since an earlier attempt
 *        'foreign'    the run is another tenant's
 *        'newer'      the log has a format that the caller does not know
 *        'superseded' another writer has recovered the run
 *        'lost'       an earlier write of this writer is missing
 */
const CHECK_WRITER = `
local tenant, writer, number, done = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local known = redis.call('HMGET', KEYS[1], 'tenant_id', 'writer', 'number', 'version')
if known[1] and known[1] ~= tenant then return 'foreign' end
if known[4] and tonumber(known[4]) > tonumber(ARGV[5]) then return 'newer' end
local written = 0
if known[2] == writer then
  written = tonumber(known[3])
  if number <= written then return 'ok' end
elseif known[2] and done > 0 then
  return 'superseded'
end
if written < done then return 'lost' end
`;

const NOTE_WRITE = `
redis.call('HSET', KEYS[1], 'tenant_id', tenant, 'writer', writer, 'number', number, 'version', ARGV[5])
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[6]) end
return 'ok'
`;

/**
 * Adds events behind those of a run, without a gap.
 *
 * KEYS   1 log hash, 2 events list
 * ARGV   1 to 6 as for every write, 7 seq of the first event, then the entries
 * Result as for every write, or a number: the seq of the last event, which the events do not follow; nothing is added
 */
export const APPEND_EVENTS = script(
  'append events',
  `${CHECK_WRITER}
local last = redis.call('LLEN', KEYS[2])
if tonumber(ARGV[7]) ~= last + 1 then return last end
for at = 8, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[at]) end
${NOTE_WRITE}`,
);

/**
 * Takes back events whose append failed but may have been done, and keeps it from being done later.
 *
 * KEYS   1 log hash, 2 events list
 * ARGV   1 to 6 as for every write, 7 number of that append, 8 seq of its first event, 9 number of its events
 * Result as for every write
 */
export const WITHDRAW_EVENTS = script(
  'withdraw events',
  `${CHECK_WRITER}
local first, count = tonumber(ARGV[8]), tonumber(ARGV[9])
if written == tonumber(ARGV[7]) and redis.call('LLEN', KEYS[2]) == first - 1 + count then
  redis.call('LTRIM', KEYS[2], 0, -count - 1)
end
${NOTE_WRITE}`,
);

/**
 * Stores the state behind the last event: the first snapshot of a run stays, others take the place of the newest one.
 *
 * KEYS   1 log hash, 2 events list, 3 newest checkpoint, 4 first checkpoint where that is another one, 5 run hash
 * ARGV   1 to 6 as for every write, 7 packed checkpoint, 8 its seq, 9 its id
 * Result as for every write, or a number: the seq of the last event, which the checkpoint is not one of; nothing is changed
 */
export const TAKE_SNAPSHOT = script(
  'take a snapshot',
  `${CHECK_WRITER}
local last = redis.call('LLEN', KEYS[2])
if tonumber(ARGV[8]) ~= last then return last end
local stored = redis.call('HMGET', KEYS[1], 'first_seq', 'newest_seq')
if not stored[1] then
  redis.call('HSET', KEYS[1], 'first_seq', ARGV[8])
elseif stored[1] == stored[2] and stored[2] ~= ARGV[8] and redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('RENAME', KEYS[3], KEYS[4])
end
redis.call('SET', KEYS[3], ARGV[7])
redis.call('HSET', KEYS[1], 'newest_seq', ARGV[8])
if redis.call('HGET', KEYS[5], 'tenant_id') == tenant then redis.call('HSET', KEYS[5], 'checkpoint_id', ARGV[9]) end
${NOTE_WRITE}`,
);

/**
 * Gives the newest snapshot of a run that is not behind an event.
 *
 * KEYS   1 log hash, 2 newest checkpoint, 3 first checkpoint where that is another one
 * ARGV   1 tenant, 2 seq of the event
 * Result false when there is none for this tenant, else { format version, packed checkpoint or false }
 */
export const LOAD_SNAPSHOT = script(
  'load a snapshot',
  `local known = redis.call('HMGET', KEYS[1], 'tenant_id', 'version', 'first_seq', 'newest_seq')
if known[1] ~= ARGV[1] or not known[3] then return false end
local first, newest, most = tonumber(known[3]), tonumber(known[4]), tonumber(ARGV[2])
if newest <= most then return { tonumber(known[2]), redis.call('GET', KEYS[2]) } end
if first <= most then return { tonumber(known[2]), redis.call('GET', KEYS[3]) } end
return false
`,
);

/**
 * Forgets the log of a run.
 *
 * KEYS   1 log hash, 2 newest checkpoint, 3 first checkpoint, 4 events list of the tenant
 * ARGV   1 tenant
 * Result how many keys were there
 */
export const DELETE_LOG = script(
  'delete a log',
  `local count = redis.call('UNLINK', KEYS[4])
if redis.call('HGET', KEYS[1], 'tenant_id') == ARGV[1] then count = count + redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3]) end
return count
`,
);

/**
 * Gives the events of a run after one of them, within bounds, at least one if there is any.
 *
 * KEYS   1 events list
 * ARGV   1 seq after which to begin, 2 events at most, 3 bytes of JSON text at most
 * Result false when nothing of the run is stored, else the entries
 */
export const READ_EVENTS = script(
  'read events',
  `if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local at, left, room = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local found, wanted = {}, 16
while left > 0 do
  local chunk = redis.call('LRANGE', KEYS[1], at, at + math.min(wanted, left) - 1)
  if #chunk == 0 then break end
  for _, entry in ipairs(chunk) do
    -- The JSON text begins behind the second line end.
    room = room - #entry + string.find(entry, '\\n', 3, true)
    if room < 0 and #found > 0 then return found end
    found[#found + 1] = entry
  end
  at, left = at + #chunk, left - #chunk
  -- Few at first, so that large entries are not copied in vain.
  wanted = math.min(wanted * 2, 256)
end
return found
`,
);
