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
