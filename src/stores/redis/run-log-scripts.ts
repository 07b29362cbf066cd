import { script } from './script.js';

export const APPEND_EVENTS = script(
  'append events',
  `-- Adds events behind those of a run, without a gap. What is there already must be the same, so that a call may be repeated.
-- KEYS   1 events list
-- ARGV   1 seq of the first event, 2 milliseconds to keep, then the entries
-- Result -1 when all of them are there; else nothing was added, and this is the last seq before the gap, or before the event that is
--        there but differs
local first, last = tonumber(ARGV[1]), redis.call('LLEN', KEYS[1])
if first > last + 1 then return last end
for at = 3, #ARGV do
  local index = first - 1 + at - 3
  if index >= last then
    redis.call('RPUSH', KEYS[1], ARGV[at])
  elseif redis.call('LINDEX', KEYS[1], index) ~= ARGV[at] then
    return index
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return -1
`,
);

export const WITHDRAW_EVENTS = script(
  'withdraw events',
  `-- Takes the last events of a run back, if they are the given ones: those of an append that failed but may have been done.
-- KEYS   1 events list
-- ARGV   1 seq of the first event, then the entries
-- Result number of events that were taken back, all of them or 0
local first, last = tonumber(ARGV[1]), redis.call('LLEN', KEYS[1])
local count = #ARGV - 1
if last ~= first - 1 + count then return 0 end
for at = 2, #ARGV do
  if redis.call('LINDEX', KEYS[1], first - 1 + at - 2) ~= ARGV[at] then return 0 end
end
redis.call('LTRIM', KEYS[1], 0, -count - 1)
return count
`,
);

export const READ_EVENTS = script(
  'read events',
  `-- Gives the events of a run after one of them, within bounds, at least one if there is any.
-- KEYS   1 events list
-- ARGV   1 seq after which to begin, 2 events at most, 3 bytes of entries at most
-- Result false when nothing of the run is kept, else the entries
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local at, left, room = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local found, wanted = {}, 16
while left > 0 do
  local chunk = redis.call('LRANGE', KEYS[1], at, at + math.min(wanted, left) - 1)
  if #chunk == 0 then break end
  for _, entry in ipairs(chunk) do
    room = room - #entry
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
