import { createHash } from 'node:crypto';

/** A Lua script: all of it happens, or nothing, and no client sees it half done. */
export interface Script {
  /** For messages. */
  readonly name: string;
  readonly source: string;
  /** What the server calls it. */
  readonly sha: string;
}

/** A script by its name and text. */
export function script(name: string, source: string): Script {
  return { name, source, sha: createHash('sha1').update(source).digest('hex') };
}

/**
 * `keep(key, ttl)`: a key, where it is there, lives for that many milliseconds from now. Up to a hundredth may be missing, so that writes in
 * quick succession change its time once: each change is a command in the log of Redis.
 */
export const KEEP = `
local function keep(key, ttl)
  local left = redis.call('PTTL', key)
  if left ~= -2 and left < ttl * 0.99 then redis.call('PEXPIRE', key, ttl) end
end
`;
