/** Events of a run as a test wants them, with numbers and times. */
import type { NodeHeader, RunEvent, Unstamped } from '../../../src/graph/events.js';
import type { Outputs } from '../../../src/graph/node-events.js';

type Place = Pick<NodeHeader, 'node' | 'within' | 'token'>;

/** Writes the events of one run; times are milliseconds since 1970, from 1,000 on. */
export class RunScript {
  readonly events: RunEvent[] = [];
  #at = 1_000;
  #token = 0;

  constructor(run = 'run') {
    this.run = run;
    this.add({ type: 'run-started', input: {}, resumed: false });
  }

  readonly run: string;

  add(event: Unstamped, afterMs = 0): void {
    this.#at += afterMs;
    this.events.push({ ...event, run: this.run, seq: this.events.length + 1, at: this.#at } as RunEvent);
  }

  start(node: string, within?: string, attempt = 1): Place {
    this.#token += 1;
    const place = { node, ...(within !== undefined && { within }), token: this.#token };
    this.add({ type: 'node-started', ...place, attempt });
    return place;
  }

  settle(place: Place, elapsedMs: number, outputs: Outputs = {}): void {
    this.add({ type: 'node-settled', ...place, outputs, elapsedMs }, elapsedMs);
  }

  fail(place: Place, elapsedMs: number, message = 'It broke.'): void {
    const error = { code: 'NODE_FAILED', message, node: place.node } as const;
    // biome-ignore lint/suspicious/noThenProperty: a field of the event
    this.add({ type: 'node-failed', ...place, error, outputs: {}, elapsedMs, then: 'run' }, elapsedMs);
  }
}
