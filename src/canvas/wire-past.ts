import type { RunUsage } from '../records/stores.js';

/** What a run said before the process that it was in was lost. */
export interface WirePast {
  /** Milliseconds since 1970 at the start of the run. */
  readonly startedAt: number;
  /** As all of its events say it. */
  readonly createdAt: number;
  /** Whether it said anything at all. */
  readonly hasBegun: boolean;
  readonly usage: RunUsage;
  /** Takes the number of the event with which a node started that was at work there when the process was lost. */
  readonly takeStart: (node: string, within: string | undefined) => number | undefined;
}
