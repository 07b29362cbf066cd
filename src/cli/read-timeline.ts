/** A timeline as the API shows it, read back. */
import { z } from 'zod';
import { MESSAGE_END } from '../canvas/ragflow-events.js';
import { readCalls } from '../canvas/read-ragflow-events.js';
import type { RunTimeline, TimelineEmission } from '../canvas/timeline.js';

const count = z.number();
const orNull = count.nullable().transform((value) => value ?? undefined);
const usage = z
  .looseObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count, calls: count })
  .transform(({ prompt_tokens, completion_tokens, total_tokens, calls }) => ({
    promptTokens: prompt_tokens,
    completionTokens: completion_tokens,
    totalTokens: total_tokens,
    calls,
  }));

const KINDS = ['text', 'thinking', 'usage', MESSAGE_END, 'audio', 'notice'] satisfies TimelineEmission['kind'][];

const emission = z.looseObject({
  kind: z.enum(KINDS),
  first_event_id: count,
  last_event_id: count,
  at: count,
  pieces: count,
  characters: count,
});

const activation = z.looseObject({
  component_id: z.string(),
  within: z.string().nullable(),
  token: count.nullable(),
  attempt: count,
  status: z.enum(['open', 'settled', 'failed', 'retried', 'skipped', 'waiting']),
  error: z.string().nullable(),
  started_at: count,
  ended_at: orNull,
  elapsed_time: orNull,
  first_event_id: count,
  last_event_id: orNull,
  usage,
  emissions: z.array(emission),
  calls: z.array(z.json()),
});

const node = z.looseObject({
  component_id: z.string(),
  component_type: z.string(),
  component_name: z.string(),
  activations: count,
  failures: count,
  retries: count,
  skips: count,
  first_started_at: count,
  last_ended_at: orNull,
  busy_time: count,
  longest_time: count,
  pieces: count,
  characters: count,
  usage,
});

const timeline = z.looseObject({
  status: z.enum(['running', 'waiting', 'succeeded', 'failed', 'cancelled']),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  started_at: count,
  finished_at: orNull,
  elapsed_time: orNull,
  usage,
  last_event_id: count,
  nodes: z.array(node),
  activations: z.array(activation),
  omitted: count,
});

/** Undefined for something else. */
export function readTimelineView(value: unknown): RunTimeline | undefined {
  const { data, success } = timeline.safeParse(value);
  if (!success) return undefined;
  const { status, error, started_at, finished_at, elapsed_time, last_event_id, omitted } = data;
  return {
    status,
    ...(error !== null && { error: { code: error.code, message: error.message } }),
    startedAtMs: started_at,
    ...(finished_at !== undefined && { endedAtMs: finished_at }),
    ...(elapsed_time !== undefined && { elapsedMs: Math.round(elapsed_time * 1000) }),
    lastSeq: last_event_id,
    usage: data.usage,
    activations: data.activations.map(activationOf),
    omitted,
    nodes: data.nodes.map(nodeOf),
  };
}

function activationOf(one: z.output<typeof activation>): RunTimeline['activations'][number] {
  const { within, token, error, ended_at, elapsed_time, last_event_id } = one;
  return {
    node: one.component_id,
    ...(within !== null && { within }),
    ...(token !== null && { token }),
    attempt: one.attempt,
    status: one.status,
    ...(error !== null && { error }),
    startSeq: one.first_event_id,
    ...(last_event_id !== undefined && { endSeq: last_event_id }),
    startedAtMs: one.started_at,
    ...(ended_at !== undefined && { endedAtMs: ended_at }),
    ...(elapsed_time !== undefined && { elapsedMs: Math.round(elapsed_time * 1000) }),
    emissions: one.emissions.map(({ kind, first_event_id, last_event_id: toSeq, at, pieces, characters }) => ({
      kind,
      fromSeq: first_event_id,
      toSeq,
      atMs: at,
      pieces,
      characters,
    })),
    calls: readCalls(one.calls),
    usage: one.usage,
  };
}

function nodeOf(one: z.output<typeof node>): RunTimeline['nodes'][number] {
  return {
    node: one.component_id,
    type: one.component_type,
    name: one.component_name,
    activations: one.activations,
    failures: one.failures,
    retries: one.retries,
    skips: one.skips,
    firstStartedAtMs: one.first_started_at,
    ...(one.last_ended_at !== undefined && { lastEndedAtMs: one.last_ended_at }),
    busyMs: Math.round(one.busy_time * 1000),
    longestMs: Math.round(one.longest_time * 1000),
    pieces: one.pieces,
    characters: one.characters,
    usage: one.usage,
  };
}
