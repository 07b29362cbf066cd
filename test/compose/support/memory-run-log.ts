/** A log of one run as text, and everything that a process could find of it after a loss. */
import { EngineError } from '../../../src/errors.js';
import type { EventLog } from '../../../src/graph/log.js';
import type { LoggedRun } from '../../../src/index.js';

/** Keeps the order in which events and snapshots were written, as text. */
export class TextLog implements EventLog {
  readonly #written: { readonly kind: 'event' | 'snapshot'; readonly text: string }[] = [];

  append(event: unknown): void {
    this.#written.push({ kind: 'event', text: JSON.stringify(event) });
  }

  snapshot(checkpoint: unknown): void {
    this.#written.push({ kind: 'snapshot', text: JSON.stringify(checkpoint) });
  }

  async flush(): Promise<void> {}

  get length(): number {
    return this.#written.length;
  }

  get bytes(): number {
    return this.#written.reduce((sum, { text }) => sum + text.length, 0);
  }

  /** Its events, parsed. */
  get events(): readonly { readonly type: string; readonly seq: number; readonly [key: string]: unknown }[] {
    return this.#written.flatMap(({ kind, text }) => (kind === 'event' ? [JSON.parse(text)] : []));
  }

  /** What is found when only the first `count` writes were stored; undefined when not even a snapshot was. */
  cutAt(count: number): LoggedRun | undefined {
    const kept = this.#written.slice(0, count);
    const at = kept.findLastIndex(({ kind }) => kind === 'snapshot');
    if (at === -1) return undefined;
    return {
      snapshot: (kept[at] as { readonly text: string }).text,
      events: kept.flatMap(({ kind, text }) => (kind === 'event' ? [text] : [])),
    };
  }

  /** What is found when everything was stored. */
  get all(): LoggedRun {
    const found = this.cutAt(this.length);
    if (found === undefined) throw new EngineError('NOT_FOUND', 'The log is empty.');
    return found;
  }
}
