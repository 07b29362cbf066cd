/** Runs as the API gives them: records, and what their nodes did over time; with the shapes that describe them. */
import { z } from 'zod';
import { writeCall } from '../../canvas/ragflow-events.js';
import type { RunTimeline, TimelineActivation, TimelineNode } from '../../canvas/timeline.js';
import type { JsonObject } from '../../json.js';
import type { RunRecord } from '../../records/stores.js';
import { milliseconds, string } from '../shapes.js';

export const usageShape = z.looseObject({
  prompt_tokens: z.number().int(),
  completion_tokens: z.number().int(),
  total_tokens: z.number().int(),
  calls: z.number().int(),
});

export const runShape = z.looseObject({
  id: string.describe('The same as `run_id`.'),
  run_id: string,
  agent_id: string,
  session_id: string,
  message_id: string,
  parent_run_id: string.nullable().describe('The run that it continues.'),
  forked_at: z.number().int().nullable().describe('Number of the last event of that run that it builds on.'),
  status: z.enum(['running', 'waiting', 'succeeded', 'failed', 'cancelled']),
  error: z.looseObject({ code: string, message: string }).nullable(),
  started_at: milliseconds,
  finished_at: milliseconds.nullable(),
  elapsed_time: z.number().nullable().describe('Seconds; null while it runs.'),
  usage: usageShape,
  last_event_id: z.number().int().describe('Number of the last event; 0 while it runs.'),
});

const seconds = z.number().describe('Seconds.');

const eventNumber = z.number().int().describe('Number of an event.');

/** All activations of one component together. */
const nodeSumsShape = z.looseObject({
  component_id: string,
  component_type: string,
  component_name: string,
  activations: z.number().int(),
  failures: z.number().int(),
  retries: z.number().int(),
  first_started_at: milliseconds,
  last_ended_at: milliseconds.nullable(),
  busy_time: seconds,
  longest_time: seconds,
  skips: z.number().int().describe('How often it was skipped.'),
  pieces: z.number().int().describe('Pieces of text that it emitted.'),
  characters: z.number().int(),
  usage: usageShape,
});

export const runDetailShape = runShape.extend({ nodes: z.array(nodeSumsShape) });

export const timelineShape = runDetailShape.extend({
  activations: z.array(
    z.looseObject({
      component_id: string,
      within: string.nullable().describe('`container/pass`, outermost first; null at the top level.'),
      token: z.number().int().nullable(),
      attempt: z.number().int(),
      status: z.enum(['open', 'settled', 'failed', 'retried', 'skipped', 'waiting']),
      error: string.nullable(),
      started_at: milliseconds,
      ended_at: milliseconds.nullable(),
      elapsed_time: seconds.nullable(),
      first_event_id: eventNumber,
      last_event_id: eventNumber.nullable(),
      calls: z
        .array(
          z.looseObject({
            id: z.number().int(),
            kind: z.enum(['model', 'tool', 'agent']),
            name: string,
            parent: z.number().int().optional().describe('Id of the call that this one is part of.'),
            status: z.enum(['open', 'done', 'failed', 'stopped']),
            error: string.optional(),
            started_at: milliseconds,
            first_piece_at: milliseconds.optional(),
            ended_at: milliseconds.optional(),
            usage: usageShape.omit({ calls: true }).optional(),
          }),
        )
        .describe('Models, tools and agents that it called, where it called more than one model.'),
      usage: usageShape,
      emissions: z.array(
        z.looseObject({
          kind: string,
          first_event_id: eventNumber,
          last_event_id: eventNumber,
          at: milliseconds,
          pieces: z.number().int(),
          characters: z.number().int(),
        }),
      ),
    }),
  ),
  omitted: z.number().int().describe('Activations that are only in the sums of `nodes`.'),
});

/** A run as the API gives it. Times are milliseconds since 1970. */
export function runView(run: RunRecord): JsonObject {
  return {
    id: run.id,
    run_id: run.id,
    agent_id: run.agentId,
    session_id: run.sessionId,
    message_id: run.messageId,
    parent_run_id: run.parentRun ?? null,
    forked_at: run.forkedAt ?? null,
    status: run.status,
    error: run.error === undefined ? null : { code: run.error.code, message: run.error.message },
    started_at: run.startedAt,
    finished_at: run.finishedAt ?? null,
    elapsed_time: run.finishedAt === undefined ? null : (run.finishedAt - run.startedAt) / 1000,
    usage: usageView(run.usage),
    last_event_id: run.lastSeq,
  };
}

/** Tokens and calls of models as the API shows them. */
export function usageView({ promptTokens, completionTokens, totalTokens, calls }: RunRecord['usage']): JsonObject {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: totalTokens,
    calls,
  };
}

/** A run with what each of its nodes did, as the API gives it. Times are milliseconds since 1970, durations seconds. */
export function runDetailView(run: RunRecord, timeline: RunTimeline | undefined): JsonObject {
  return { ...runView(run), nodes: timeline?.nodes.map(nodeView) ?? [] };
}

/** The timeline of a run, as the API gives it. */
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
