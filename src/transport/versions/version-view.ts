import type { Json } from '../../json.js';
import type { VersionRecord } from '../../records/durable-stores.js';
import { formatTime } from '../format-time.js';

/** A version in a list. Times are milliseconds since 1970. */
export function versionItem({ id, agentId, title, description, createdAt }: VersionRecord): Record<string, Json> {
  return {
    id,
    title,
    description,
    user_canvas_id: agentId,
    // There are no others: saving a draft makes no version.
    release: true,
    create_time: createdAt,
    create_date: formatTime(createdAt),
    update_time: createdAt,
    update_date: formatTime(createdAt),
  };
}

/** A version with its document. */
export function versionView(version: VersionRecord): Record<string, Json> {
  return { ...versionItem(version), dsl: version.dsl };
}
