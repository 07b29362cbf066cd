/** Events as they lie in Redis: version, name and JSON text, one line each; a name or a JSON text has no line end. */
import { EngineError } from '../../errors.js';
import type { LoggedEvent } from '../../records/stores.js';

const ENTRY = /^1\n([^\n]+)\n([^\n]+)$/;

/** Entries of events that follow each other. @throws EngineError CONFLICT when there is a gap between two of them. */
export function entriesOf(run: string, events: readonly LoggedEvent[]): readonly string[] {
  const first = events[0]?.seq ?? 1;
  return events.map(({ seq, event, json }, at) => {
    if (seq !== first + at || seq < 1) throw outOfOrder(run, seq, first + at - 1);
    return `1\n${event}\n${json}`;
  });
}

/** @throws EngineError INTERNAL when the entry is of no known form. */
export function eventOf(run: string, entry: string, seq: number): LoggedEvent {
  const parts = ENTRY.exec(entry);
  if (parts !== null) return { seq, event: parts[1] as string, json: parts[2] as string };
  throw new EngineError(
    'INTERNAL',
    `Event ${seq} of run "${run}" cannot be read: its entry in Redis is of no known form.`,
  );
}

export function outOfOrder(run: string, seq: number, last: number): EngineError {
  return new EngineError(
    'CONFLICT',
    `Event ${seq} of run "${run}" does not follow event ${last}; events were lost, or another process works on this run.`,
  );
}
