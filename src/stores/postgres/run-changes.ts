import type { LoggedEvent } from '../../records/stores.js';

/** Something that is done to the log and the journal of one run, as a whole or not at all. */
export type RunEntry = { readonly tenant: string; readonly run: string; readonly bytes: number } & (
  | {
      readonly type: 'append';
      readonly events: readonly LoggedEvent[];
      /** Each one JSON text. */
      readonly records: readonly string[];
    }
  /** Takes the place of the journal; the log stays. */
  | { readonly type: 'snapshot'; readonly checkpoint: string; readonly mark: number | undefined }
  | { readonly type: 'forget' }
);

/** What several entries of one run come to. */
export interface RunChange {
  readonly tenant: string;
  readonly run: string;
  /** Which of the entries. */
  readonly entries: number[];
  readonly events: LoggedEvent[];
  /** Whether the numbers of the events rise by one. */
  isOrdered: boolean;
  /** Whether the journal that was there before goes. */
  isReset: boolean;
  checkpoint: string | undefined;
  /** Number of the last event before the checkpoint, where that is known. */
  mark: number | undefined;
  records: string[];
}

/** One change per run. A snapshot undoes what the journal had before it, whether that was written already or not. */
export function sumUp(entries: readonly RunEntry[]): readonly RunChange[] {
  const changes = new Map<string, RunChange>();
  for (const [at, entry] of entries.entries()) {
    const { tenant, run } = entry;
    // The length keeps tenant and run apart, whatever characters they have.
    const key = `${tenant.length}:${tenant}${run}`;
    const change: RunChange = changes.get(key) ?? {
      tenant,
      run,
      entries: [],
      events: [],
      isOrdered: true,
      isReset: false,
      checkpoint: undefined,
      mark: undefined,
      records: [],
    };
    changes.set(key, change);
    change.entries.push(at);
    if (entry.type === 'append') {
      for (const event of entry.events) {
        const last = change.events.at(-1);
        if (last !== undefined && event.seq !== last.seq + 1) change.isOrdered = false;
        change.events.push(event);
      }
      for (const record of entry.records) change.records.push(record);
    } else {
      change.isReset = true;
      change.checkpoint = entry.type === 'snapshot' ? entry.checkpoint : undefined;
      change.mark = entry.type === 'snapshot' ? entry.mark : undefined;
      change.records = [];
    }
  }
  return [...changes.values()];
}
