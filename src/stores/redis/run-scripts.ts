/** Scripts for records of runs: what Redis does in one step, with its keys, arguments and results. */
import { KEEP, script } from './script.js';

/**
 * Writes what is known about a run, and puts it where lists find it.
 *
 * KEYS   1 run hash, 2 runs of the agent, 3 runs of the session, 4 runs of this status, 5 to 8 runs of the other statuses, by their numbers
 * ARGV   1 tenant, 2 run, 3 time of its start, 4 milliseconds to keep, 5 prefix of run hashes, 6 writer, 7 number of its write, 8 its epoch,
 *        9 epoch of the record that it replaces, or nothing when there may be none, 10 number of the status, then fields and values
 * Result 'ok'         it is written, now or by a later write of the same writer
 *        'foreign'    the id belongs to another tenant's run
 *        'superseded' there is none to replace, or another epoch has replaced it
 */
export const SAVE_RUN = script(
  'save a run',
  `${KEEP}
local tenant, run, status = ARGV[1], ARGV[2], tonumber(ARGV[10])
local known = redis.call('HMGET', KEYS[1], 'tenant_id', 'writer', 'writes', 'epoch', 'status', 'cancel_requested')
if known[1] and known[1] ~= tenant then return 'foreign' end
if known[2] == ARGV[6] and tonumber(known[3]) > tonumber(ARGV[7]) then return 'ok' end
if ARGV[9] ~= '' and known[4] ~= ARGV[9] and known[4] ~= ARGV[8] then return 'superseded' end
local fields = { 'tenant_id', tenant, 'writer', ARGV[6], 'epoch', ARGV[8] }
if known[1] then
  redis.call('HDEL', KEYS[1], 'finished_at', 'failure_reason')
  local old = tonumber(known[5])
  if old ~= status then redis.call('ZREM', KEYS[5 + old - (old > status and 1 or 0)], run) end
  if known[2] == ARGV[6] and known[4] == ARGV[8] then fields = {} end
elseif not known[6] then
  fields[#fields + 1] = 'cancel_requested'
  fields[#fields + 1] = 0
end
for at = 11, #ARGV do fields[#fields + 1] = ARGV[at] end
redis.call('HSET', KEYS[1], 'writes', ARGV[7], unpack(fields))
keep(KEYS[1], ARGV[4])
for at = 2, 4 do
  if redis.call('ZADD', KEYS[at], ARGV[3], run) == 1 then
    -- Each run that comes may take two with it whose time is over, so that no index outgrows what is there.
    for _, oldest in ipairs(redis.call('ZRANGE', KEYS[at], 0, 1)) do
      if oldest ~= run and redis.call('EXISTS', ARGV[5] .. oldest) == 0 then redis.call('ZREM', KEYS[at], oldest) end
    end
  end
  keep(KEYS[at], ARGV[4])
end
return 'ok'
`,
);

/**
 * Gives a part of an index, newest first, without runs whose time is over.
 *
 * KEYS   1 index
 * ARGV   1 tenant, 2 prefix of run hashes, 3 runs to leave out, 4 runs at most, 5 number of the status they must have, or nothing,
 *        6 and 7 first and last time of their start, 8 bytes at most, or 0, then fields of the hashes
 * Result { how many there are in all, { run, value, value, ... }, ... }
 */
export const LIST_RUNS = script(
  'list runs',
  `local tenant, prefix, offset, limit, status = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local from, to, most = ARGV[6], ARGV[7], tonumber(ARGV[8])
local used = 0
local function isFull(values)
  for _, value in ipairs(values) do used = used + #(value or '') end
  return most > 0 and used > most
end
local function read(id)
  local known = redis.call('HMGET', prefix .. id, 'tenant_id', 'status')
  if known[1] ~= tenant then
    redis.call('ZREM', KEYS[1], id)
    return nil
  end
  return known[2]
end
local function valuesOf(id)
  local values = redis.call('HMGET', prefix .. id, unpack(ARGV, 9))
  table.insert(values, 1, id)
  return values
end
if status ~= '' then
  local total, found = 0, { 0 }
  for _, id in ipairs(redis.call('ZREVRANGEBYSCORE', KEYS[1], to, from)) do
    if read(id) == status then
      total = total + 1
      if total > offset and #found <= limit then
        local values = valuesOf(id)
        if not isFull(values) then found[#found + 1] = values end
      end
    end
  end
  found[1] = total
  return found
end
local isComplete, found
repeat
  isComplete, found, used = true, { 0 }, 0
  local ids = limit > 0 and redis.call('ZREVRANGEBYSCORE', KEYS[1], to, from, 'LIMIT', offset, limit) or {}
  for _, id in ipairs(ids) do
    if not read(id) then isComplete = false
    else
      local values = valuesOf(id)
      if isFull(values) then break end
      found[#found + 1] = values
    end
  end
until isComplete
found[1] = redis.call('ZCOUNT', KEYS[1], from, to)
return found
`,
);

/**
 * Deletes some runs of an agent and takes them out of its indexes.
 *
 * KEYS   1 runs of the agent, 2 to 6 runs of each status
 * ARGV   1 tenant, 2 prefix of run hashes, 3 prefix of the indexes of sessions, then ids
 * Result number of runs that were there
 */
export const DELETE_RUNS = script(
  'delete runs',
  `local count = 0
for at = 4, #ARGV do
  local id = ARGV[at]
  local known = redis.call('HMGET', ARGV[2] .. id, 'tenant_id', 'session_id')
  if known[1] == ARGV[1] then
    count = count + redis.call('DEL', ARGV[2] .. id)
    redis.call('ZREM', ARGV[3] .. known[2], id)
  end
  for _, index in ipairs(KEYS) do redis.call('ZREM', index, id) end
end
return count
`,
);
