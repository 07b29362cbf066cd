import { script } from './script.js';

/**
 * The one writer of a journal: the newest, with numbered writes.
 *
 * Every write says its number and the last one that its writer knows to be done. One that is there already is no error, so that it may be
 * sent again when its answer was lost; one that arrives after a later one changes nothing.
 *
 * `ARGV`: 1 tenant, 2 writer, 3 number of the write, 4 number of the last one known to be done, 5 format version, 6 milliseconds to keep.
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
`;

const NOTE_WRITE = `
redis.call('HSET', KEYS[1], 'tenant_id', tenant, 'writer', writer, 'number', number, 'version', ARGV[5])
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[6]) end
`;

const RESULTS = `'ok'         it is done, now or since an earlier attempt
--        'foreign'    the run is another tenant's
--        'newer'      the journal has a format that the caller does not know
--        'superseded' another writer has taken over`;

export const APPEND_BATCH = script(
  'append to a journal',
  `-- Adds events to the log of a run and records to its journal.
-- KEYS   1 journal hash, 2 records list, 3 checkpoint string, 4 events list
-- ARGV   1 to 6 as for every write, 7 seq of the first event, 8 number of events, then events, then records
-- Result ${RESULTS}
--        'lost'       an earlier write of this writer is missing
--        a number     the seq of the last event, which the events do not follow; nothing is added
${CHECK_WRITER}
if written < done then return 'lost' end
local first, last, count = tonumber(ARGV[7]), redis.call('LLEN', KEYS[4]), tonumber(ARGV[8])
if count > 0 and first ~= last + 1 then return last end
for at = 9, 8 + count do redis.call('RPUSH', KEYS[4], ARGV[at]) end
for at = 9 + count, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[at]) end
redis.call('HINCRBY', KEYS[1], 'records', #ARGV - 8 - count)
${NOTE_WRITE}
return 'ok'
`,
);

export const WITHDRAW_BATCH = script(
  'withdraw a batch',
  `-- Takes back a batch whose append failed but may have been done, and keeps it from being done later.
-- KEYS   1 journal hash, 2 records list, 3 checkpoint string, 4 events list
-- ARGV   1 to 6 as for every write, 7 number of that append, 8 number of its records, 9 seq of its first event, then its events
-- Result ${RESULTS}
--        'lost'       an earlier write of this writer is missing
${CHECK_WRITER}
if written < done then return 'lost' end
if written == tonumber(ARGV[7]) then
  local records, first, count = tonumber(ARGV[8]), tonumber(ARGV[9]), #ARGV - 9
  redis.call('LTRIM', KEYS[2], 0, -records - 1)
  redis.call('HINCRBY', KEYS[1], 'records', -records)
  if count > 0 and redis.call('LLEN', KEYS[4]) == first - 1 + count then redis.call('LTRIM', KEYS[4], 0, -count - 1) end
end
${NOTE_WRITE}
return 'ok'
`,
);

export const TAKE_SNAPSHOT = script(
  'take a snapshot',
  `-- Puts a checkpoint in the place of everything in the journal of a run, and notes it with the run.
-- KEYS   1 journal hash, 2 records list, 3 checkpoint string, 4 run hash, 5 events list
-- ARGV   1 to 6 as for every write, 7 packed checkpoint, 8 its id, 9 seq of the last event before it, or -1
-- Result ${RESULTS}
--        a number     the seq of the last event, which the checkpoint does not follow; nothing is changed
${CHECK_WRITER}
local mark, last = tonumber(ARGV[9]), redis.call('LLEN', KEYS[5])
if mark >= 0 and mark ~= last then return last end
redis.call('DEL', KEYS[2])
redis.call('SET', KEYS[3], ARGV[7])
redis.call('HSET', KEYS[1], 'records', 0, 'checkpoint', 1)
if redis.call('HGET', KEYS[4], 'tenant_id') == tenant then redis.call('HSET', KEYS[4], 'checkpoint_id', ARGV[8]) end
${NOTE_WRITE}
return 'ok'
`,
);

export const LOAD_JOURNAL = script(
  'load a journal',
  `-- Gives all that is kept of a run, as of one moment.
-- KEYS   1 journal hash, 2 records list, 3 checkpoint string
-- ARGV   1 tenant
-- Result false when there is nothing for this tenant, else
--        { format version, records there should be, 1 if there should be a checkpoint, checkpoint or false, { packed records } }
local known = redis.call('HMGET', KEYS[1], 'tenant_id', 'version', 'records', 'checkpoint')
if known[1] ~= ARGV[1] then return false end
return {
  tonumber(known[2]), tonumber(known[3] or 0), tonumber(known[4] or 0),
  redis.call('GET', KEYS[3]), redis.call('LRANGE', KEYS[2], 0, -1)
}
`,
);

export const DELETE_JOURNAL = script(
  'delete a journal',
  `-- Forgets the journal of a run; its events stay.
-- KEYS   1 journal hash, 2 records list, 3 checkpoint string
-- ARGV   1 tenant
-- Result 1 when it was there, 0 when there was none for this tenant
if redis.call('HGET', KEYS[1], 'tenant_id') ~= ARGV[1] then return 0 end
redis.call('UNLINK', unpack(KEYS))
return 1
`,
);
