/** What researches were asked, as their logs have it. */
import { eventOf } from '../../hosting/event-frame.js';
import { isJsonObject } from '../../json.js';
import type { RunRecord } from '../../records/runs.js';
import type { ServerParts } from '../server-parts.js';

/** Characters of a question in a list. */
export const LISTED_QUESTION = 500;

/** Only the first event. */
const FIRST = { maxEvents: 1, maxBytes: 1 };

/** Whole, without spaces around it; null where nothing of the run is stored any more. */
export async function askedQuestion(
  { stores }: Pick<ServerParts, 'stores'>,
  tenant: string,
  { id, launch }: Pick<RunRecord, 'id' | 'launch'>,
): Promise<string | null> {
  // A fork that asks the same again has an empty one.
  const launched = launch?.turn?.query.trim();
  if (launched) return launched;
  const [first] = (await stores.log.read(tenant, id, 0, FIRST)) ?? [];
  const event = first && eventOf(first);
  if (event?.type !== 'run-started' || !isJsonObject(event.input)) return null;
  const { query } = event.input;
  return typeof query === 'string' ? query.trim() : null;
}
