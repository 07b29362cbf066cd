/** Runs as streams for clients that come back to them. */
import { badArgument, noRun } from '../../hosting/refusals.js';
import { partyOf } from '../../hosting/shares.js';
import type { RunRecord } from '../../records/runs.js';
import { whenLeft } from '../http/client-left.js';
import { takePlace } from '../http/guards.js';
import type { HttpExchange } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { type RunView, streamRun } from './answer-run.js';

/** The number of an event as a client gives it; undefined when it is none. */
export function eventNumber(given: string): number | undefined {
  const seq = Number(given);
  return /^\d+$/.test(given) && Number.isSafeInteger(seq) ? seq : undefined;
}

/** Who follows which run. */
export interface FollowRequest {
  readonly tenant: string;
  readonly page?: string | undefined;
  readonly exchange: HttpExchange;
  readonly found: Pick<RunRecord, 'id' | 'status'>;
  readonly query: { readonly after?: string | undefined };
}

/**
 * Streams a run from its first event, or behind the last one that the client has. `viewAfter` gets the number of that.
 *
 * @throws EngineError BAD_REQUEST for what is no number of an event, NOT_FOUND for a run without events, LIMIT_REACHED for one stream too many;
 * all before the stream begins, so that a refusal is JSON.
 */
export async function followRun(
  parts: ServerParts,
  { tenant, page, exchange, found: { id, status }, query }: FollowRequest,
  viewAfter: (after: number) => Promise<RunView> | RunView,
): Promise<void> {
  // What a reconnecting client sends by itself counts more than the address that it was given.
  const after = eventNumber(exchange.get('Last-Event-ID') || (query.after ?? '0'));
  if (after === undefined) throw badArgument('`Last-Event-ID` and `after` must be the number of an event.');
  const stored = await parts.stores.log.read(tenant, id, after, { maxEvents: 1, maxBytes: 1 });
  if (stored === undefined && status !== 'running') throw noRun();
  const view = await viewAfter(after);
  whenLeft(exchange, takePlace(parts.shares.streams, partyOf(tenant, page !== undefined), 'event streams'));
  streamRun(exchange, parts, id, { after, ...view });
}
