/** Scripts for event logs: what Redis does in one step, with its keys, arguments and results. */
import { script } from './script.js';

export const APPEND_EVENTS = script(
  'append events',
  `-- Adds events behind those of a run, without a gap.
-- KEYS   1 events list
-- ARGV   1 seq of the first event, 2 milliseconds to keep, 3 whether an earlier attempt may have added them (1 or 0), then the entries
-- Result -1 when they are added, now or by that attempt; else the seq of the last event, which they do not follow
local first, last = tonumber(ARGV[1]), redis.call('LLEN', KEYS[1])
if first == last + 1 then
  for at = 4, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[at]) end
else
  if ARGV[3] ~= '1' or last ~= first - 1 + #ARGV - 3 then return last end
  for at = 4, #ARGV do
    if redis.call('LINDEX', KEYS[1], first - 1 + at - 4) ~= ARGV[at] then return last end
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
-- ARGV   1 seq after which to begin, 2 events at most, 3 bytes of JSON text at most
-- Result false when nothing of the run is kept, else the entries
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
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
