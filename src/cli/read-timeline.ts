/** A timeline as the API gives it, read back. */
import type { z } from 'zod';
import { readCalls } from '../canvas/read-ragflow-events.js';
import type { RunTimeline } from '../canvas/timeline.js';
import type { Json } from '../json.js';
import { given } from '../transport/http/input.js';
import { timelineShape } from '../transport/runs/run-view.js';

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
    lastSeq: data.last_event_id,
    usage: usageOf(data.usage),
    activations: data.activations.map(activationOf),
    omitted: data.omitted,
    nodes: data.nodes.map(nodeOf),
  };
}

function activationOf(one: TimelineAnswer['activations'][number]): RunTimeline['activations'][number] {
  const { within, token, error } = one;
  return {
    node: one.component_id,
    attempt: one.attempt,
    status: one.status,
    startSeq: one.first_event_id,
    startedAtMs: one.started_at,
    ...given({ within, token, error, endSeq: one.last_event_id, endedAtMs: one.ended_at }),
    ...given({ elapsedMs: millisecondsOf(one.elapsed_time) }),
    emissions: one.emissions.map(({ kind, first_event_id, last_event_id, at, pieces, characters }) => ({
      kind,
      fromSeq: first_event_id,
      toSeq: last_event_id,
      atMs: at,
      pieces,
      characters,
    })),
    calls: readCalls(one.calls as Json[]),
    usage: usageOf(one.usage),
  };
}

function nodeOf(one: TimelineAnswer['nodes'][number]): RunTimeline['nodes'][number] {
  const { activations, failures, retries, skips, pieces, characters } = one;
  return {
    node: one.component_id,
    type: one.component_type,
    name: one.component_name,
    activations,
    failures,
    retries,
    skips,
    pieces,
    characters,
    firstStartedAtMs: one.first_started_at,
    ...given({ lastEndedAtMs: one.last_ended_at }),
    busyMs: Math.round(one.busy_time * 1000),
    longestMs: Math.round(one.longest_time * 1000),
    usage: usageOf(one.usage),
  };
}

function usageOf({ prompt_tokens, completion_tokens, total_tokens, calls }: TimelineAnswer['usage']) {
  return { promptTokens: prompt_tokens, completionTokens: completion_tokens, totalTokens: total_tokens, calls };
}

function millisecondsOf(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 1000);
}
