/** What the key of a chat page, which stands in public pages, may do. */
import { EngineError } from '../../errors.js';
import { isJsonObject } from '../../json.js';
import type { SessionRecord } from '../../records/sessions.js';
import type { ServerStores } from '../server-parts.js';
import type { Caller } from './callers.js';

/** Fields of a turn that are for the owner of an agent alone. */
const OWNERS_FIELDS = ['version', 'resume_from', 'migrate', 'detach', 'custom_header', 'return_trace'];

/** The refusal of what a page does not need. */
export function notForPages(what: string): EngineError {
  const message = `The key of a chat page may not use ${what}; that takes a key of the API.`;
  return new EngineError('FORBIDDEN', message, { details: { httpStatus: 403 } });
}

/** Refuses the fields of a turn that are not for chat pages, where they say anything. @throws EngineError FORBIDDEN (HTTP 403). */
export function refuseOwnersFields({ page }: Pick<Caller, 'page'>, ...sources: readonly object[]): void {
  if (page === undefined) return;
  for (const source of sources) {
    const field = OWNERS_FIELDS.find((name) => Object.hasOwn(source, name) && saysAnything(source[name as never]));
    if (field !== undefined) throw notForPages(`\`${field}\``);
  }
}

/** Whether a caller may have what a session holds: that of another key does not exist for a chat page. */
export async function opensSession(
  { tenant, page }: Pick<Caller, 'tenant' | 'page'>,
  { sessions }: Pick<ServerStores, 'sessions'>,
  session: SessionRecord['id'],
): Promise<boolean> {
  return page === undefined || (await sessions.find(tenant, session))?.page === page;
}

/** Clients send what is off or empty, too. */
function saysAnything(value: unknown): boolean {
  if (isJsonObject(value)) return Object.keys(value).length > 0;
  return ![undefined, null, false, 0, '', 'false', '0'].includes(value as string);
}
