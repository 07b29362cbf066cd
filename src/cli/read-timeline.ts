/** A timeline as the API gives it, read back. */
import type { z } from 'zod';
import { readCalls } from '../canvas/read-ragflow-events.js';
import type { RunTimeline, TimelineUsage } from '../canvas/timeline.js';
import type { Json } from '../json.js';
import { given } from '../transport/http/input.js';
import { activationView, emissionView, nodeView, timelineShape, usageView } from '../transport/runs/run-view.js';

type TimelineAnswer = z.output<typeof timelineShape>;

/** Undefined for something else. */
export function readTimelineView(value: unknown): RunTimeline | undefined {
  const { data, success } = timelineShape.safeParse(value);
  if (!success) return undefined;
  const { error } = data;
  return {
    status: data.status,
    ...(error !== null && { error: { code: error.code, message: error.message } }),
    startedAtMs: data.started_at,
    ...given({ endedAtMs: data.finished_at, elapsedMs: millisecondsOf(data.elapsed_time) }),
    ...given({ query: data.query }),
    lastSeq: data.last_event_id,
    usage: usageView.read(data.usage) as TimelineUsage,
    activations: data.activations.map(activationOf),
    omitted: data.omitted,
    nodes: data.nodes.map(nodeOf),
  };
}

function activationOf(one: TimelineAnswer['activations'][number]): RunTimeline['activations'][number] {
  return {
    ...activationView.read(one),
    ...given({ elapsedMs: millisecondsOf(one.elapsed_time) }),
    emissions: one.emissions.map(emissionView.read),
    calls: readCalls(one.calls as Json[]),
    usage: usageView.read(one.usage),
  } as RunTimeline['activations'][number];
}

function nodeOf(one: TimelineAnswer['nodes'][number]): RunTimeline['nodes'][number] {
  return {
    ...nodeView.read(one),
    type: one.component_type,
    name: one.component_name,
    busyMs: millisecondsOf(one.busy_time),
    longestMs: millisecondsOf(one.longest_time),
    usage: usageView.read(one.usage),
  } as RunTimeline['nodes'][number];
}

function millisecondsOf(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 1000);
}
