import { describe, expect, it } from 'vitest';
import { timelineOf } from '../../src/canvas/timeline.js';
import { readTimelineView } from '../../src/cli/read-timeline.js';
import type { RunEvent } from '../../src/graph/events.js';
import type { Call } from '../../src/graph/node-events.js';
import { callFinished, callStarted } from '../../src/graph/node-events.js';
import { NO_USAGE } from '../../src/graph/state.js';
import type { RunRecord } from '../../src/records/runs.js';
import { timelineView } from '../../src/transport/runs/run-view.js';

const of = (seq: number, at: number) => ({ run: 'r', seq, at, node: 'Agent:A', token: 1 });
const called = (seq: number, at: number, { call }: Call) => ({ ...of(seq, at), type: 'node-call', call }) as const;

const EVENTS: readonly RunEvent[] = [
  { run: 'r', seq: 1, at: 1_000, type: 'run-started', input: {}, resumed: false },
  { ...of(2, 1_010), type: 'node-started', attempt: 1, within: 'Loop:L/0' },
  called(3, 1_020, callStarted({ id: 'x', kind: 'agent', name: 'Aide' })),
  called(4, 1_030, callStarted({ id: 'y', kind: 'tool', name: 'search', parent: 'x' })),
  called(5, 1_040, callFinished({ id: 'y', error: { code: 'TOOL_FAILED', message: 'no' } })),
  { ...of(6, 1_050), type: 'node-delta', port: 'content', text: 'hi' },
  { ...of(7, 1_060), type: 'node-usage', promptTokens: 1, completionTokens: 2, totalTokens: 3 },
  { ...of(8, 1_070), type: 'node-settled', outputs: {}, elapsedMs: 60 },
  { run: 'r', seq: 9, at: 1_080, type: 'run-settled', outputs: {}, elapsedMs: 80, input: {}, usage: NO_USAGE },
];

/** The record of a run that was told so far. */
function recordOf(events: readonly RunEvent[]): RunRecord {
  const { status, usage, endedAtMs } = timelineOf(events);
  return {
    id: 'r',
    agentId: 'a',
    sessionId: 's',
    messageId: 'm',
    status,
    startedAt: 1_000,
    ...(endedAtMs !== undefined && { finishedAt: endedAtMs }),
    usage,
    lastSeq: events.length,
  };
}

describe('a timeline of the API', () => {
  it.each([[EVENTS.length], [6], [2]])('is read back as it was, after %d events', (count) => {
    const events = EVENTS.slice(0, count);
    const timeline = timelineOf(events);
    const shown: unknown = JSON.parse(JSON.stringify(timelineView(recordOf(events), timeline)));
    const read = readTimelineView(shown);
    expect(read).toMatchObject({ ...timeline, nodes: timeline.nodes.map((node) => ({ ...node })) });
    expect(read?.activations).toEqual(timeline.activations);
  });

  it.each([undefined, null, {}, { nodes: [], activations: [] }, []])('is not %j', (value) => {
    expect(readTimelineView(value)).toBeUndefined();
  });
});
