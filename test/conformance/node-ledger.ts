import type { RunEvent } from '../../src/graph/events.js';
import type { Outputs } from '../../src/graph/node-events.js';
import type { RunOutcome } from '../../src/graph/run-options.js';
import type { NodeTrace } from './case.js';

interface Entry {
  runs: number;
  hasEnded: boolean;
  error: string | null;
  outputs: Outputs;
}

/** Gathers, from the events of one run, what its nodes did: the `nodes` of a trace. */
export class NodeLedger {
  readonly #entries = new Map<string, Entry>();

  take(event: RunEvent): void {
    switch (event.type) {
      case 'node-started':
        if (event.attempt === 1 && event.resumed !== true) this.#entry(event.node).runs += 1;
        return;
      case 'node-settled':
        this.#ended(event.node, event.outputs, null);
        return;
      case 'node-failed':
        if (event.then !== 'retry') this.#ended(event.node, event.outputs, event.error.message);
        return;
      case 'node-interrupted':
        if (event.payload !== undefined) this.#entry(event.node).outputs = event.outputs ?? {};
        return;
    }
  }

  /** Nodes that were invoked, and forms that wait. Outputs are those after the run, so they include later writes. */
  trace({ plan, state, pending, status }: RunOutcome): Record<string, NodeTrace> {
    const waiting = new Set(pending.map(({ node }) => node));
    // A node that was announced when the run was canceled has not run.
    const invoked = [...this.#entries].filter(
      ([id, { runs, hasEnded }]) => waiting.has(id) || (runs > 0 && (hasEnded || status !== 'cancelled')),
    );
    const traces = invoked.map(([id, { runs, error, outputs }]) => {
      const cell = state.cells.get(plan.byId.get(id) ?? -1);
      return [id, { runs, error, outputs: cell ?? outputs }] as const;
    });
    return Object.fromEntries(traces);
  }

  #ended(node: string, outputs: Outputs, error: string | null): void {
    const entry = this.#entry(node);
    entry.hasEnded = true;
    entry.outputs = outputs;
    entry.error = error;
  }

  #entry(node: string): Entry {
    let entry = this.#entries.get(node);
    if (entry === undefined) {
      entry = { runs: 0, hasEnded: false, error: null, outputs: {} };
      this.#entries.set(node, entry);
    }
    return entry;
  }
}
