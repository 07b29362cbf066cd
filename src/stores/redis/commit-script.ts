import { ACQUIRE_LEASE, RELEASE_LEASE } from './lease-scripts.js';
import { END_LOG, WRITE_LOG } from './run-log-scripts.js';
import { SAVE_RUN } from './run-scripts.js';
import { type Script, script } from './script.js';

/** Scripts that a commit may consist of, by the name that its list has for them. */
export const STEPS = {
  acquire: ACQUIRE_LEASE,
  save: SAVE_RUN,
  write: WRITE_LOG,
  end: END_LOG,
  release: RELEASE_LEASE,
} as const;

const functions = Object.entries<Script>(STEPS).map(
  ([name, { source }]) => `steps['${name}'] = function(KEYS, ARGV)\n${source}\nend`,
);

/**
 * Carries out commits of many runs, each a list of steps of which one that is refused keeps the others from being done.
 *
 * KEYS   none: the keys stand among the arguments, since their number differs
 * ARGV   for each commit the number of its steps; for each step its name, the numbers of its keys and of its arguments, then these; of the
 *        keys of `save`, those from the third on without the second, with which they begin
 * Result for each commit the results of its steps, up to the first that was refused
 */
export const COMMIT_RUNS = script(
  'commit runs',
  `local steps = {}
${functions.join('\n')}
local replies, at = {}, 1
local function take(count)
  local taken = {}
  for place = 1, count do taken[place] = ARGV[at + place - 1] end
  at = at + count
  return taken
end
local function isRefused(name, reply)
  if name == 'acquire' then return reply[1] == 0 end
  -- A record that another epoch has replaced is left out; the log decides.
  if name == 'save' then return reply == 'foreign' end
  return name ~= 'release' and reply ~= 'ok'
end
while ARGV[at] do
  local results, isOver = {}, false
  local count = tonumber(ARGV[at])
  at = at + 1
  for _ = 1, count do
    local name, keyCount, argCount = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
    at = at + 3
    local keys = take(keyCount)
    local args = take(argCount)
    if not isOver then
      if name == 'save' then
        for place = 3, keyCount do keys[place] = keys[2] .. keys[place] end
      end
      local reply = steps[name](keys, args)
      results[#results + 1] = reply
      isOver = isRefused(name, reply)
    end
  end
  replies[#replies + 1] = results
end
return replies
`,
);
