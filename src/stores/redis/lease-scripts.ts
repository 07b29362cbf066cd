import { script } from './script.js';

/** Times are those of the server, so that clocks of processes need not agree. */
const NOW = `
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local function text(number) return string.format('%.0f', number) end
`;

/**
 * Writes the lease of a session where RAGFlow has it. The truth is the lease's own hash, which outlives its time, because a successor must
 * find it.
 */
const WRITE_SESSION = `
local function writeSession(key, session, ttl)
  local known = redis.call('HMGET', KEYS[1], 'owner', 'data', 'started_at')
  local data = cjson.decode(known[2])
  local function field(name) return type(data[name]) == 'string' and data[name] or '' end
  redis.call('HSET', key, 'session_id', session, 'token', known[1], 'user_id', field('user'), 'canvas_id', field('agent'),
    'run_id', field('run'), 'started_at', known[3])
  redis.call('PEXPIRE', key, ttl)
end
`;

/**
 * Takes a lease that is free, that has expired, or that the same owner holds already.
 *
 * KEYS   1 lease hash, 2 all leases; for a session also 3 its active-session hash, 4 its cancel flag
 * ARGV   1 name among all leases, 2 owner, 3 milliseconds to hold, 4 data as JSON, 5 milliseconds to remember an expired lease, 6 tenant,
 *        7 name, 8 format version, 9 session
 * Result { 1 when it is the caller's, else 0, owner, time when it expires, data }
 */
export const ACQUIRE_LEASE = script(
  'acquire a lease',
  `${NOW}
${WRITE_SESSION}
local owner, ttl, remember = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[5])
local held = redis.call('HMGET', KEYS[1], 'owner', 'expires_at', 'data')
if held[1] and held[1] ~= owner and tonumber(held[2]) > now then return { 0, held[1], held[2], held[3] } end
local expires = text(now + ttl)
redis.call('HSET', KEYS[1], 'owner', owner, 'expires_at', expires, 'data', ARGV[4], 'tenant_id', ARGV[6], 'name', ARGV[7],
  'version', ARGV[8], 'started_at', text(now))
redis.call('PEXPIRE', KEYS[1], text(ttl + remember))
redis.call('ZADD', KEYS[2], expires, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', text(now - remember))
if KEYS[3] then
  -- A request to cancel an earlier run must not reach this one; but one that a lost process did not see must reach its successor.
  if not held[1] then redis.call('DEL', KEYS[4]) end
  writeSession(KEYS[3], ARGV[9], ARGV[3])
end
return { 1, owner, expires, ARGV[4] }
`,
);

/**
 * Prolongs a lease, also one that has expired but that no other owner has taken.
 *
 * KEYS   1 lease hash, 2 all leases; for a session also 3 its active-session hash
 * ARGV   1 name among all leases, 2 owner, 3 milliseconds to hold, 4 milliseconds to remember an expired lease, 5 session
 * Result 1, or 0 when it is not held by this owner
 */
export const RENEW_LEASE = script(
  'renew a lease',
  `${NOW}
${WRITE_SESSION}
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[2] then return 0 end
local expires = text(now + tonumber(ARGV[3]))
redis.call('HSET', KEYS[1], 'expires_at', expires)
redis.call('PEXPIRE', KEYS[1], text(tonumber(ARGV[3]) + tonumber(ARGV[4])))
redis.call('ZADD', KEYS[2], expires, ARGV[1])
if KEYS[3] then
  -- Nearly always it is as it was: four fifths of what a renewal writes.
  if redis.call('HGET', KEYS[3], 'token') == ARGV[2] then redis.call('PEXPIRE', KEYS[3], ARGV[3])
  else writeSession(KEYS[3], ARGV[5], ARGV[3]) end
end
return 1
`,
);

/**
 * Gives a lease back; with that of a session go RAGFlow's view of it and the request to cancel its run.
 *
 * KEYS   1 lease hash, 2 all leases; for a session also 3 its active-session hash, 4 its cancel flag
 * ARGV   1 name among all leases, 2 owner
 * Result 1, or 0 when it is not held by this owner
 */
export const RELEASE_LEASE = script(
  'release a lease',
  `if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[1], unpack(KEYS, 3))
redis.call('ZREM', KEYS[2], ARGV[1])
return 1
`,
);

/**
 * Gives leases that have expired, those that expired first before others.
 *
 * KEYS   1 all leases
 * ARGV   1 beginning of their names, 2 leases at most, 3 prefix of lease hashes, 4 leases to look at, at most
 * Result { { format version, tenant, name, owner, time when it expired, data }, ... }
 */
export const EXPIRED_LEASES = script(
  'list expired leases',
  `${NOW}
local prefix, limit, hashes = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local found, gone = {}, {}
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(now), 'LIMIT', 0, ARGV[4])) do
  if #found >= limit then break end
  local start = string.find(member, ':', 1, true) + 1
  if string.sub(member, start, start + #prefix - 1) == prefix then
    local lease = redis.call('HMGET', hashes .. member, 'version', 'tenant_id', 'name', 'owner', 'expires_at', 'data')
    if lease[1] then found[#found + 1] = lease else gone[#gone + 1] = member end
  end
end
for _, member in ipairs(gone) do redis.call('ZREM', KEYS[1], member) end
return found
`,
);
