import type { RunEvent } from '../graph/events.js';
import type { JournalRecord } from '../graph/journal.js';
import { indexOfNode, type Plan } from '../graph/plan.js';

/** The changes of a run's state that its events carry, in order; each one JSON text, marked with the number of its event. */
export function recordsOf(plan: Plan, events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) => {
    const record = recordOf(plan, event);
    return record === undefined ? [] : [JSON.stringify({ ...record, mark: event.seq })];
  });
}

function recordOf(plan: Plan, event: RunEvent): JournalRecord | undefined {
  switch (event.type) {
    case 'node-settled': {
      const { token, outputs, next, writes, exit } = event;
      return {
        ...{ type: 'settled', token, outputs },
        ...(next === undefined ? {} : { next }),
        ...(writes === undefined ? {} : { writes }),
        ...(exit === undefined ? {} : { exit }),
      };
    }
    case 'node-failed': {
      const { token, outputs, next = [] } = event;
      if (event.then === 'retry') return { type: 'restarted', token };
      if (event.then !== 'goto') return { type: 'failed', token, outputs };
      return { type: 'rerouted', token, outputs, targets: next.map((id) => indexOfNode(plan, id) ?? -1) };
    }
    case 'node-interrupted': {
      const { token, payload, outputs } = event;
      return {
        ...{ type: 'waiting', token },
        ...(payload === undefined ? {} : { payload }),
        ...(outputs === undefined ? {} : { outputs }),
      };
    }
    case 'node-progress': {
      const { token, outputs, append, nodeState } = event;
      return {
        ...{ type: 'progress', token },
        ...(outputs === undefined ? {} : { outputs }),
        ...(append === undefined ? {} : { append }),
        ...(nodeState === undefined ? {} : { nodeState }),
      };
    }
    case 'node-streaming':
      return { type: 'streaming', token: event.token };
    case 'node-skipped':
      return { type: 'skipped', token: event.token };
    case 'body-opened':
      return { type: 'opened', token: event.token, round: event.round };
    case 'body-resumed': {
      const { token, key, answers } = event;
      return { ...{ type: 'woken', token, key }, ...(answers === undefined ? {} : { answers }) };
    }
    case 'body-closed':
      return { type: 'closed', token: event.token, key: event.key };
    default:
      return undefined;
  }
}
