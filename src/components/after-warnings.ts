import { type Observable, of } from 'rxjs';
import type { NodeEvent, Notice, Settled } from '../graph/node-events.js';

/** The result of a node behind what the people who watch should know; the plain result when there is nothing to say. */
export function afterWarnings(warnings: readonly Notice[], result: Settled): Settled | Observable<NodeEvent> {
  return warnings.length === 0 ? result : of<NodeEvent[]>(...warnings, result);
}
