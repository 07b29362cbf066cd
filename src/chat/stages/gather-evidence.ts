/** Stage 6: what knowledge, links and tools know, within one time for all. */
import { catchError, defaultIfEmpty, defer, forkJoin, map, type Observable, of, take, throwError, timeout } from 'rxjs';
import { EngineError, shownMessage, toEngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import { requireWhole } from '../../operators/invalid-option.js';
import type { Evidence } from '../pipeline/chat-events.js';
import { STAGES } from '../pipeline/stage-table.js';
import type { StageResult } from './stage-result.js';

/** A source before it is numbered. */
export type FoundEvidence = Omit<Evidence, 'n'>;

/** One way to find sources. */
export interface EvidenceChannel {
  /** `knowledge`, `links`, or the name of a tool. */
  readonly name: string;
  /** What a tool is called with. */
  readonly args?: JsonObject;
  /** Finds the sources, the best first; cold, and only its first value counts. Unsubscribing ends its connections. */
  readonly find$: Observable<readonly FoundEvidence[]>;
  /** Milliseconds that this one has; at least 1. @default those of all */
  readonly limitMs?: number;
}

/** What stage 6 works with. */
export interface GatherOptions {
  /** In the order in which their sources are numbered. */
  readonly channels: readonly EvidenceChannel[];
  /** Milliseconds that channels have which name none themselves; at least 1. @default 2,000 */
  readonly limitMs?: number;
  /** Sources at most; at least 1. @default 20 */
  readonly maxItems?: number;
  /** Milliseconds of which only differences matter. @default a clock that never jumps */
  readonly now?: () => number;
}

/** How a channel ended. */
interface ChannelEnd {
  readonly items: readonly FoundEvidence[];
  readonly told: JsonObject;
  readonly hasFailed: boolean;
}

/**
 * Asks all channels at once and gives what they found as soon as the last has ended, or when the time is over: what is late then is ended and named.
 *
 * ```text
 * knowledge  ---k|
 * weather    ------w|
 * sales      ------------!    ended by the limit, told as late
 * found      ------------(kw|)
 * ```
 *
 * Sources are numbered from 1 in the order of the channels; one that two channels found counts once. A channel that fails or is late is told in
 * `detail.channels` (`name, args?, ms, found, error?`) and makes the result `degraded`; it is never an error of the stage.
 *
 * @throws EngineError OPTION_INVALID for limits that are no whole numbers of at least 1.
 */
export function gatherEvidence({
  channels,
  limitMs = STAGES[6].limitMs ?? 2_000,
  maxItems = 20,
  now = () => Math.round(performance.now()),
}: GatherOptions): Observable<StageResult<readonly Evidence[]>> {
  requireWhole('gatherEvidence', 'limitMs', limitMs, 1);
  requireWhole('gatherEvidence', 'maxItems', maxItems, 1);
  return defer(() => {
    const ends = channels.map((channel) => endOf(channel, channel.limitMs ?? limitMs, now));
    return (ends.length === 0 ? of([]) : forkJoin(ends)).pipe(
      map((ended): StageResult<readonly Evidence[]> => {
        const value = numbered(
          ended.flatMap(({ items }) => items),
          maxItems,
        );
        const isDegraded = ended.some(({ hasFailed }) => hasFailed);
        return { value, detail: { channels: ended.map(({ told }) => told) }, status: isDegraded ? 'degraded' : 'ok' };
      }),
    );
  });
}

function endOf({ name, args, find$ }: EvidenceChannel, limitMs: number, now: () => number): Observable<ChannelEnd> {
  return defer(() => {
    const begun = now();
    const about = { name, ...(args !== undefined && { args }) };
    const late = () =>
      throwError(() => new EngineError('RUN_TIMEOUT', `Channel "${name}" found nothing within ${limitMs} ms.`));
    return defer(() => find$).pipe(
      take(1),
      defaultIfEmpty<readonly FoundEvidence[], readonly FoundEvidence[]>([]),
      timeout({ first: limitMs, with: late }),
      map((items) => ({ items, told: { ...about, ms: now() - begun, found: items.length }, hasFailed: false })),
      catchError((thrown) => {
        const failure = toEngineError(thrown, 'TOOL_FAILED');
        return of({
          items: [],
          told: {
            ...about,
            ms: now() - begun,
            found: 0,
            error: { code: failure.code, message: shownMessage(failure) },
          },
          hasFailed: true,
        });
      }),
    );
  });
}

/** Each source once, by its type and id. */
function numbered(items: readonly FoundEvidence[], most: number): Evidence[] {
  const known = new Set<string>();
  const evidence: Evidence[] = [];
  for (const item of items) {
    const key = `${item.type} ${item.id}`;
    if (known.has(key) || evidence.length === most) continue;
    known.add(key);
    evidence.push({ ...item, n: evidence.length + 1 });
  }
  return evidence;
}
