import { script } from './script.js';

/**
 * Who may write a journal: its newest writer, with writes numbered from 1.
 *
 * A write that is there already is no error, so that one whose answer was lost may be sent again; a write that comes late, after others
 * have gone on, changes nothing.
 */
const CHECK_WRITER = `
local known = redis.call('HMGET', KEYS[1], 'tenant_id', 'writer', 'writes', 'version')
local tenant, writer, number = ARGV[1], ARGV[2], tonumber(ARGV[3])
if known[1] and known[1] ~= tenant then return 'foreign' end
if known[4] and tonumber(known[4]) > tonumber(ARGV[4]) then return 'newer' end
if known[2] and known[2] ~= writer and number > 1 then return 'superseded' end
local written = 0
if known[2] == writer then written = tonumber(known[3]) end
if number <= written then return 'ok' end
`;

export const APPEND_RECORDS = script(
  'append to a journal',
  `-- Adds a packed group of records behind those of a run.
-- KEYS   1 journal hash, 2 records list, 3 checkpoint string
-- ARGV   1 tenant, 2 writer, 3 number of its write, 4 format version, 5 packed records, 6 milliseconds to keep
-- Result 'ok'         they are there, now or since an earlier attempt
--        'foreign'    the run is another tenant's
--        'newer'      the journal has a format that the caller does not know
--        'superseded' somebody else has written since
--        'lost'       an earlier write of this writer is missing
${CHECK_WRITER}
if number ~= written + 1 then return 'lost' end
redis.call('RPUSH', KEYS[2], ARGV[5])
redis.call('HSET', KEYS[1], 'tenant_id', tenant, 'writer', writer, 'writes', number, 'version', ARGV[4])
redis.call('HINCRBY', KEYS[1], 'groups', 1)
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[6]) end
return 'ok'
`,
);

export const TAKE_SNAPSHOT = script(
  'take a snapshot',
  `-- Replaces everything in the journal of a run by a checkpoint, and tells the run's hash of it.
-- KEYS   1 journal hash, 2 records list, 3 checkpoint string, 4 run hash
-- ARGV   1 tenant, 2 writer, 3 number of its write, 4 format version, 5 packed checkpoint, 6 milliseconds to keep, 7 checkpoint id
-- Result 'ok', 'foreign', 'newer' or 'superseded', as in "append to a journal"; what is lost does not matter here
${CHECK_WRITER}
redis.call('DEL', KEYS[2])
redis.call('SET', KEYS[3], ARGV[5], 'PX', ARGV[6])
redis.call('HSET', KEYS[1], 'tenant_id', tenant, 'writer', writer, 'writes', number, 'version', ARGV[4], 'groups', 0, 'checkpoint', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[6])
if redis.call('HGET', KEYS[4], 'tenant_id') == tenant then redis.call('HSET', KEYS[4], 'checkpoint_id', ARGV[7]) end
return 'ok'
`,
);

export const LOAD_JOURNAL = script(
  'load a journal',
  `-- Gives all that is kept of a run, as of one moment.
-- KEYS   1 journal hash, 2 records list, 3 checkpoint string
-- ARGV   1 tenant
-- Result false when there is nothing for this tenant, else
--        { format version, groups there should be, whether there should be a checkpoint, checkpoint or false, { packed records } }
local known = redis.call('HMGET', KEYS[1], 'tenant_id', 'version', 'groups', 'checkpoint')
if known[1] ~= ARGV[1] then return false end
return {
  tonumber(known[2]), tonumber(known[3]), tonumber(known[4] or 0),
  redis.call('GET', KEYS[3]), redis.call('LRANGE', KEYS[2], 0, -1)
}
`,
);

export const DELETE_JOURNAL = script(
  'delete a journal',
  `-- Forgets the journal of a run.
-- KEYS   1 journal hash, 2 records list, 3 checkpoint string
-- ARGV   1 tenant
-- Result 1 when it was there, 0 when there was none for this tenant
if redis.call('HGET', KEYS[1], 'tenant_id') ~= ARGV[1] then return 0 end
redis.call('DEL', unpack(KEYS))
return 1
`,
);
