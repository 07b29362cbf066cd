/** Runs as the API gives them: records, and what their nodes did over time; with the shapes that describe them. */
import { z } from 'zod';
import { MESSAGE_END, writeCall } from '../../canvas/ragflow-events.js';
import { callShape } from '../../canvas/read-ragflow-events.js';
import type { RunTimeline, TimelineActivation, TimelineEmission, TimelineNode } from '../../canvas/timeline.js';
import type { JsonObject } from '../../json.js';
import type { RunRecord, RunStatus } from '../../records/runs.js';
import { checked } from '../http/input.js';
import { defineView, milliseconds, string, whole } from '../shapes.js';

type Usage = RunRecord['usage'];

const STATUSES = ['running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const satisfies readonly RunStatus[];

/** A status in a query: what is none is refused. */
export const statusText = checked('status', `one of ${STATUSES.join(', ')}`, (given) =>
  STATUSES.find((status) => status === given),
).describe(`One of ${STATUSES.join(', ')}.`);

export const statusShape = z.enum(STATUSES);

/** Tokens and calls of models as they are given. */
export const usageView = defineView<Usage>()({
  prompt_tokens: [whole, 'promptTokens'],
  completion_tokens: [whole, 'completionTokens'],
  total_tokens: [whole, 'totalTokens'],
  calls: [whole, 'calls'],
});

export const usageShape = usageView.shape;
const usageField = [usageShape, (one: { readonly usage: Usage }) => usageView.of(one.usage)] as const;

/** A run as it is given. */
export const runView = defineView<RunRecord>()({
  id: [string.describe('The same as `run_id`.'), 'id'],
  run_id: [string, 'id'],
  agent_id: [string, 'agentId'],
  session_id: [string, 'sessionId'],
  message_id: [string, 'messageId'],
  parent_run_id: [string.nullable().describe('The run that it continues.'), 'parentRun'],
  forked_at: [whole.nullable().describe('Number of the last event of that run that it builds on.'), 'forkedAt'],
  version: [string.nullable().describe('`draft`, `published`, or the id of a version.'), 'documentVersion'],
  user_id: [string.nullable().describe("The client's name for its user."), 'userId'],
  status: [statusShape, 'status'],
  error: [
    z.looseObject({ code: string, message: string }).nullable(),
    ({ error }) => (error === undefined ? null : { code: error.code, message: error.message }),
  ],
  started_at: [milliseconds, 'startedAt'],
  finished_at: [milliseconds.nullable(), 'finishedAt'],
  elapsed_time: [
    z.number().nullable().describe('Seconds; null while it runs.'),
    ({ startedAt, finishedAt }) => (finishedAt === undefined ? null : (finishedAt - startedAt) / 1000),
  ],
  usage: usageField,
  last_event_id: [whole.describe('Number of the last event; 0 while it runs.'), 'lastSeq'],
});

const seconds = z.number().describe('Seconds.');
const eventNumber = whole.describe('Number of an event.');

/** All activations of one node as they are given. */
export const nodeView = defineView<TimelineNode>()({
  component_id: [string, 'node'],
  component_type: [string, ({ type }) => type ?? ''],
  component_name: [string, ({ name, node }) => name ?? node],
  activations: [whole, 'activations'],
  failures: [whole, 'failures'],
  retries: [whole, 'retries'],
  first_started_at: [milliseconds, 'firstStartedAtMs'],
  last_ended_at: [milliseconds.nullable(), 'lastEndedAtMs'],
  busy_time: [seconds, ({ busyMs }) => busyMs / 1000],
  longest_time: [seconds, ({ longestMs }) => longestMs / 1000],
  skips: [whole.describe('How often it was skipped.'), 'skips'],
  pieces: [whole.describe('Pieces of text that it emitted.'), 'pieces'],
  characters: [whole, 'characters'],
  usage: usageField,
});

const KINDS = ['text', 'thinking', 'usage', MESSAGE_END, 'audio', 'notice'] satisfies TimelineEmission['kind'][];

/** An emission as it is given. */
export const emissionView = defineView<TimelineEmission>()({
  kind: [z.enum(KINDS), 'kind'],
  first_event_id: [eventNumber, 'fromSeq'],
  last_event_id: [eventNumber, 'toSeq'],
  at: [milliseconds, 'atMs'],
  pieces: [whole, 'pieces'],
  characters: [whole, 'characters'],
});

/** An activation as it is given. */
export const activationView = defineView<TimelineActivation>()({
  component_id: [string, 'node'],
  within: [string.nullable().describe('`container/pass`, outermost first; null at the top level.'), 'within'],
  token: [whole.nullable(), 'token'],
  attempt: [whole, 'attempt'],
  status: [z.enum(['open', 'settled', 'failed', 'retried', 'skipped', 'waiting']), 'status'],
  error: [string.nullable(), 'error'],
  started_at: [milliseconds, 'startedAtMs'],
  ended_at: [milliseconds.nullable(), 'endedAtMs'],
  elapsed_time: [seconds.nullable(), ({ elapsedMs }) => (elapsedMs === undefined ? null : elapsedMs / 1000)],
  first_event_id: [eventNumber, 'startSeq'],
  last_event_id: [eventNumber.nullable(), 'endSeq'],
  emissions: [z.array(emissionView.shape), ({ emissions }) => emissions.map(emissionView.of)],
  usage: usageField,
  calls: [z.array(callShape).describe('Models, tools and agents that it called.'), ({ calls }) => calls.map(writeCall)],
});

export const listedRunShape = runView.shape.extend({ agent_title: string });

export const runDetailShape = runView.shape.extend({ nodes: z.array(nodeView.shape) });

export const timelineShape = runDetailShape.extend({
  query: string.nullable().describe('What the user asked, or its beginning.'),
  activations: z.array(activationView.shape),
  omitted: whole.describe('Activations that are only in the sums of `nodes`.'),
});

/** A run with what each of its nodes did in sum; without a timeline, no nodes. */
export function runDetailView(run: RunRecord, timeline: RunTimeline | undefined): JsonObject {
  return { ...runView.of(run), nodes: timeline?.nodes.map(nodeView.of) ?? [] };
}

/** A run with all that its nodes did. */
export function timelineView(run: RunRecord, timeline: RunTimeline): JsonObject {
  return {
    ...runDetailView(run, timeline),
    last_event_id: timeline.lastSeq,
    query: timeline.query ?? null,
    activations: timeline.activations.map(activationView.of),
    omitted: timeline.omitted,
  };
}
