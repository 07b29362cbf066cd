import type { FileRecord } from '../records/files.js';

/** Whether a file counts as deleted at a time, in milliseconds since 1970; its bytes are deleted when the store is pruned. */
export function isExpired({ expiresAt }: Pick<FileRecord, 'expiresAt'>, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}
