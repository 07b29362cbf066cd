/** What a research works with, as its plan needs it: each may be another one, in tests and by settings. */
import type { Observable } from 'rxjs';
import type { Asking } from '../calls/ask-call.js';
import type { FoundEvidence, Place } from '../evidence/evidence-table.js';
import type { Steer } from '../steer.js';

/** A place to search. */
export interface ResearchPlace {
  readonly where: Place;
  /** Emits what it finds once, the best first, and at most `most`. Cold: unsubscribing closes its sockets. Its errors leave it out. */
  find(question: string, most: number): Observable<readonly FoundEvidence[]>;
}

/** What a research works with. */
export interface ResearchPorts {
  readonly asking: Asking;
  readonly places: readonly ResearchPlace[];
  /**
   * What people change while it works, each once. The first list, which may be empty, is what they changed before, in another process: nothing begins before
   * it has come. @default nothing is changed
   */
  readonly steers$?: Observable<readonly Steer[]> | undefined;
  /** Milliseconds since 1970. */
  now(): number;
}
