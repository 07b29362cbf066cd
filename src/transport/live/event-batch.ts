/** Events of one run that leave in one frame: those of one turn of the event loop, up to a size. */
import { escapeJson } from '../../json.js';

/** Characters after which a batch is not waited for any more: what a browser reads in a fraction of a frame. */
const MAX_LENGTH = 64 * 1024;

/**
 * Collects events for `events` frames and sends them with the end of the present microtask, or as soon as they have 64 Ki characters.
 *
 * A browser takes about 0.1 ms for each message that it is told of, and the server a system call; the events of a run that is read again
 * come by the thousand.
 */
export class EventBatch {
  readonly #run: string;
  readonly #send: (text: string) => void;
  #items: string[] = [];
  #length = 0;

  constructor(run: string, send: (text: string) => void) {
    this.#run = run;
    this.#send = send;
  }

  /** The fields of one event, as JSON without its braces. */
  add(fields: string): void {
    if (this.#items.length === 0) queueMicrotask(() => this.flush());
    this.#items.push(`{${fields}}`);
    this.#length += fields.length;
    if (this.#length >= MAX_LENGTH) this.flush();
  }

  /** Sends what has come, before something else is sent. */
  flush(): void {
    if (this.#items.length === 0) return;
    const text = `{"type":"events","run_id":"${escapeJson(this.#run)}","events":[${this.#items.join(',')}]}`;
    this.#items = [];
    this.#length = 0;
    this.#send(text);
  }
}
