/** Scripts for the logs of runs: what Redis does in one step, with its keys, arguments and results. */
import { FIRST_EPOCH } from '../../records/run-log.js';
import { KEEP, script } from './script.js';

/**
 * The one writer of a log: that of the newest epoch, with numbered writes.
 *
 * Every write carries its number and the last one that its writer knows to be done. One that is there already is no error, so that it may
 * be sent again when its answer was lost; one that arrives after a later one changes nothing.
 *
 * `ARGV`: 1 tenant, 2 writer, 3 number of the write, 4 number of the last one known to be done, 5 format version, 6 milliseconds to keep,
 * 7 epoch of the writer.
 *
 * The result of every write:
 *        'ok'         it is done, now or since an earlier attempt
 *        'foreign'    the run is another tenant's
 *        'newer'      the log has a format that the caller does not know
 *        'superseded' another writer has claimed the run
 *        'lost'       an earlier write of this writer, or its claim, is missing
 */
const CHECK_WRITER = `${KEEP}
local tenant, writer, number, done = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local epoch = tonumber(ARGV[7])
local known = redis.call('HMGET', KEYS[1], 'tenant_id', 'writer', 'number', 'version', 'epoch')
if known[1] and known[1] ~= tenant then return 'foreign' end
if known[4] and tonumber(known[4]) > tonumber(ARGV[5]) then return 'newer' end
local newest = tonumber(known[5] or ${FIRST_EPOCH})
if epoch < newest then return 'superseded' end
if epoch > newest then return 'lost' end
local written = 0
if known[2] == writer then
  written = tonumber(known[3])
  if number <= written then return 'ok' end
elseif known[2] and done > 0 then
  return 'superseded'
end
if written < done then return 'lost' end
-- Fields of the log that change with the write.
local changes = {}
`;

const NOTE_WRITE = `
changes[#changes + 1] = 'number'
changes[#changes + 1] = number
if known[2] ~= writer then
  for _, part in ipairs({ 'tenant_id', tenant, 'writer', writer, 'version', ARGV[5], 'epoch', epoch }) do
    changes[#changes + 1] = part
  end
end
redis.call('HSET', KEYS[1], unpack(changes))
for _, key in ipairs(KEYS) do keep(key, ARGV[6]) end
return 'ok'
`;

/**
 * Makes the caller the writer of a run: raises the epoch of its log.
 *
 * KEYS   1 log hash, 2 run hash
 * ARGV   1 tenant, 2 format version, 3 milliseconds to keep
 * Result the new epoch, 'gone' when there is no such run of this tenant, or 'newer' as for a write
 */
export const CLAIM_LOG = script(
  'claim a log',
  `local tenant = ARGV[1]
if redis.call('HGET', KEYS[2], 'tenant_id') ~= tenant then return 'gone' end
local known = redis.call('HMGET', KEYS[1], 'version', 'epoch')
if known[1] and tonumber(known[1]) > tonumber(ARGV[2]) then return 'newer' end
local epoch = tonumber(known[2] or ${FIRST_EPOCH}) + 1
redis.call('HSET', KEYS[1], 'tenant_id', tenant, 'version', ARGV[2], 'epoch', epoch)
redis.call('HDEL', KEYS[1], 'writer', 'number')
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return epoch
`,
);

/**
 * Starts the time for which a log is kept after its run has ended.
 *
 * KEYS   1 log hash, 2 events list
 * ARGV   1 epoch of the writer, 2 milliseconds to keep
 * Result 'ok', or 'superseded' when another writer has claimed the run
 */
export const END_LOG = script(
  'end a log',
  `${KEEP}
local newest = redis.call('HGET', KEYS[1], 'epoch')
if newest and newest ~= ARGV[1] then return 'superseded' end
keep(KEYS[2], ARGV[2])
return 'ok'
`,
);

/**
 * Stores the state behind the last event, events behind that, or both, without a gap. Of the snapshots of a run the first stays, others take the
 * place of the newest one.
 *
 * KEYS   1 log hash, 2 events list; with a checkpoint 3 newest checkpoint, 4 first checkpoint where that is another one, 5 run hash
 * ARGV   1 to 7 as for every write, 8 seq of the first event or nothing, 9 packed checkpoint or nothing, 10 its seq, 11 its id, then the
 *        entries of the events
 * Result as for every write, or a number: the seq of the last event, which they do not follow; nothing is changed
 */
export const WRITE_LOG = script(
  'write a log',
  `${CHECK_WRITER}
local last = redis.call('LLEN', KEYS[2])
if ARGV[9] ~= '' and tonumber(ARGV[10]) ~= last then return last end
if ARGV[8] ~= '' and tonumber(ARGV[8]) ~= last + 1 then return last end
if ARGV[9] ~= '' then
  local stored = redis.call('HMGET', KEYS[1], 'first_seq', 'newest_seq')
  if not stored[1] then changes = { 'first_seq', ARGV[10], 'newest_seq', ARGV[10] }
  elseif stored[2] ~= ARGV[10] then
    if stored[1] == stored[2] and redis.call('EXISTS', KEYS[3]) == 1 then redis.call('RENAME', KEYS[3], KEYS[4]) end
    changes = { 'newest_seq', ARGV[10] }
  end
  redis.call('SET', KEYS[3], ARGV[9], 'PX', ARGV[6])
  local record = redis.call('HMGET', KEYS[5], 'tenant_id', 'checkpoint_id')
  if record[1] == tenant and record[2] ~= ARGV[11] then redis.call('HSET', KEYS[5], 'checkpoint_id', ARGV[11]) end
end
-- Few enough for the stack of Lua.
for at = 12, #ARGV, 1000 do redis.call('RPUSH', KEYS[2], unpack(ARGV, at, math.min(at + 999, #ARGV))) end
${NOTE_WRITE}`,
);

/**
 * Keeps events whose append failed, but may have been done, from being appended later, and takes them back if that is wanted.
 *
 * KEYS   1 log hash, 2 events list
 * ARGV   1 to 7 as for every write, 8 number of that append, 9 seq of its first event, 10 number of its events, 11 '1' to take them back
 * Result as for every write
 */
export const DECIDE_EVENTS = script(
  'decide about events',
  `${CHECK_WRITER}
local first, count = tonumber(ARGV[9]), tonumber(ARGV[10])
if ARGV[11] == '1' and written == tonumber(ARGV[8]) and redis.call('LLEN', KEYS[2]) == first - 1 + count then
  redis.call('LTRIM', KEYS[2], 0, -count - 1)
end
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
