/** Scripts for records of runs: what Redis does in one step, with its keys, arguments and results. */
import { KEEP, script } from './script.js';

/**
 * Writes what is known about a run, and puts it where lists find it.
 *
 * KEYS   1 run hash, 2 runs of the agent, 3 runs of the session, 4 runs of this status, 5 to 8 runs of the other statuses, by their numbers
 * ARGV   1 tenant, 2 run, 3 time of its start, 4 milliseconds to keep, 5 prefix of run hashes, 6 writer, 7 number of its write, 8 its epoch,
 *        9 epoch of the record that it replaces, or nothing when there may be none, 10 number of the status, 11 runs of the tenant, or nothing
 *        for a chat, then fields and values
 * Result 'ok'         it is written, now or by a later write of the same writer
 *        'foreign'    the id belongs to another tenant's run
 *        'superseded' there is none to replace, or another epoch has replaced it
 */
export const SAVE_RUN = script(
  'save a run',
  `${KEEP}
local tenant, run, status, all = ARGV[1], ARGV[2], tonumber(ARGV[10]), ARGV[11]
local known = redis.call('HMGET', KEYS[1], 'tenant_id', 'writer', 'writes', 'epoch', 'status', 'cancel_requested')
if known[1] and known[1] ~= tenant then return 'foreign' end
if known[2] == ARGV[6] and tonumber(known[3]) > tonumber(ARGV[7]) then return 'ok' end
if ARGV[9] ~= '' and known[4] ~= ARGV[9] and known[4] ~= ARGV[8] then return 'superseded' end
local fields = { 'tenant_id', tenant, 'writer', ARGV[6], 'epoch', ARGV[8] }
if known[1] then
  redis.call('HDEL', KEYS[1], 'finished_at', 'failure_reason')
  local old = tonumber(known[5])
  if old ~= status then
    redis.call('ZREM', KEYS[5 + old - (old > status and 1 or 0)], run)
    if all ~= '' then redis.call('ZREM', all .. ':' .. old, run) end
  end
  if known[2] == ARGV[6] and known[4] == ARGV[8] then fields = {} end
elseif not known[6] then
  fields[#fields + 1] = 'cancel_requested'
  fields[#fields + 1] = 0
end
for at = 12, #ARGV do fields[#fields + 1] = ARGV[at] end
redis.call('HSET', KEYS[1], 'writes', ARGV[7], unpack(fields))
keep(KEYS[1], ARGV[4])
local function list(index)
  if redis.call('ZADD', index, ARGV[3], run) == 1 then
    -- Each run that comes may take two with it whose time is over, so that no index outgrows what is there.
    for _, oldest in ipairs(redis.call('ZRANGE', index, 0, 1)) do
      if oldest ~= run and redis.call('EXISTS', ARGV[5] .. oldest) == 0 then redis.call('ZREM', index, oldest) end
    end
  end
  keep(index, ARGV[4])
end
for at = 2, 4 do list(KEYS[at]) end
if all ~= '' then
  list(all)
  list(all .. ':' .. status)
end
return 'ok'
`,
);

/** Runs of an index that are looked at one by one, the newest. */
const MOST_LOOKED_AT = 20_000;

/**
 * Gives a part of an index, newest first, without runs whose time is over.
 *
 * KEYS   1 index
 * ARGV   1 tenant, 2 prefix of run hashes, 3 runs to leave out, 4 runs at most, 5 and 6 first and last time of their start, 7 bytes at most,
 *        or 0, 8 and 9 bounds of the milliseconds that a run took, or nothing, 10 how many fields must have a value, then these and their
 *        values, then the fields of the hashes that are given
 * Result { how many there are in all, { run, value, value, ... }, ... }
 */
export const LIST_RUNS = script(
  'list runs',
  `local tenant, prefix, offset, limit = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local from, to, most, conditions = ARGV[5], ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[10])
local shortest, longest = tonumber(ARGV[8]), tonumber(ARGV[9])
local used, names = 0, { 'tenant_id' }
for at = 1, conditions do names[at + 1] = ARGV[9 + 2 * at] end
local function isFull(values)
  for _, value in ipairs(values) do used = used + #(value or '') end
  return most > 0 and used > most
end
-- A run that waits has its time in its record alone: RAGFlow's field says that a run has ended.
local function lengthOf(id)
  local known = redis.call('HMGET', prefix .. id, 'started_at', 'finished_at', 'status')
  local finished = tonumber(known[2] or nil)
  if not finished and known[3] == '4' then
    local isRead, record = pcall(cjson.decode, redis.call('HGET', prefix .. id, 'record') or '')
    finished = isRead and type(record) == 'table' and tonumber(record.finishedAt)
  end
  return finished and finished - tonumber(known[1])
end
local function isInBounds(id)
  if not shortest and not longest then return true end
  local length = lengthOf(id)
  return length and (not shortest or length >= shortest) and (not longest or length <= longest)
end
local function read(id)
  local known = redis.call('HMGET', prefix .. id, unpack(names))
  if known[1] ~= tenant then
    redis.call('ZREM', KEYS[1], id)
    return nil
  end
  for at = 1, conditions do
    if known[at + 1] ~= ARGV[10 + 2 * at] then return nil end
  end
  return isInBounds(id)
end
local function valuesOf(id)
  local values = redis.call('HMGET', prefix .. id, unpack(ARGV, 11 + 2 * conditions))
  table.insert(values, 1, id)
  return values
end
if conditions > 0 or shortest or longest then
  local total, found = 0, { 0 }
  for _, id in ipairs(redis.call('ZREVRANGEBYSCORE', KEYS[1], to, from, 'LIMIT', 0, ${MOST_LOOKED_AT})) do
    if read(id) then
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
