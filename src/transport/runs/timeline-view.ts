import { writeCall } from '../../canvas/ragflow-events.js';
import type { RunTimeline, TimelineActivation, TimelineNode } from '../../canvas/timeline.js';
import type { JsonObject } from '../../json.js';
import type { RunRecord } from '../../records/stores.js';
import { runView, usageView } from './run-view.js';

/** A run with what each of its nodes did, as the API shows it. Times are milliseconds since 1970, durations seconds. */
export function runDetailView(run: RunRecord, timeline: RunTimeline | undefined): JsonObject {
  return { ...runView(run), nodes: timeline?.nodes.map(nodeView) ?? [] };
}

/** The timeline of a run, as the API shows it. */
export function timelineView(run: RunRecord, timeline: RunTimeline): JsonObject {
  return {
    ...runView(run),
    last_event_id: timeline.lastSeq,
    nodes: timeline.nodes.map(nodeView),
    activations: timeline.activations.map(activationView),
    omitted: timeline.omitted,
  };
}

function nodeView(node: TimelineNode): JsonObject {
  return {
    component_id: node.node,
    component_type: node.type ?? '',
    component_name: node.name ?? node.node,
    activations: node.activations,
    failures: node.failures,
    retries: node.retries,
    first_started_at: node.firstStartedAtMs,
    last_ended_at: node.lastEndedAtMs ?? null,
    busy_time: node.busyMs / 1000,
    longest_time: node.longestMs / 1000,
    skips: node.skips,
    pieces: node.pieces,
    characters: node.characters,
    usage: usageView(node.usage),
  };
}

function activationView(one: TimelineActivation): JsonObject {
  return {
    component_id: one.node,
    within: one.within ?? null,
    token: one.token ?? null,
    attempt: one.attempt,
    status: one.status,
    error: one.error ?? null,
    started_at: one.startedAtMs,
    ended_at: one.endedAtMs ?? null,
    elapsed_time: one.elapsedMs === undefined ? null : one.elapsedMs / 1000,
    first_event_id: one.startSeq,
    last_event_id: one.endSeq ?? null,
    emissions: one.emissions.map(({ kind, fromSeq, toSeq, atMs, pieces, characters }) => ({
      kind,
      first_event_id: fromSeq,
      last_event_id: toSeq,
      at: atMs,
      pieces,
      characters,
    })),
    usage: usageView(one.usage),
    calls: one.calls.map(writeCall),
  };
}
