/** Shapes of what the API gives, for its description. */
import { z } from 'zod';

const text = z.string();
const milliseconds = z.number().int().describe('Milliseconds since 1970.');
const anyObject = z.looseObject({});

export const agentItemShape = z.looseObject({
  id: text,
  title: text,
  description: text.nullable(),
  avatar: text.nullable(),
  permission: z.enum(['me', 'team']),
  tenant_id: text,
  canvas_type: text.nullable(),
  canvas_category: text,
  tags: text.describe('Comma-separated.'),
  release: z.boolean().describe('Whether anything is published.'),
  release_time: milliseconds.nullable(),
  create_time: milliseconds,
  update_time: milliseconds,
});

/** One problem of a document. */
export const issueShape = z.looseObject({
  code: text,
  severity: z.enum(['error', 'warning']),
  path: text.describe('A JSON path into the document.'),
  message: text,
});

export const agentShape = agentItemShape.extend({
  dsl: anyObject.describe('The draft, as its author wrote it.'),
  last_publish_time: milliseconds.nullable(),
});

export const versionItemShape = z.looseObject({
  id: text,
  title: text,
  description: text.nullable(),
  user_canvas_id: text.describe('Id of the agent.'),
  release: z.boolean(),
  create_time: milliseconds,
  update_time: milliseconds,
});

export const versionShape = versionItemShape.extend({ dsl: anyObject });

export const sessionShape = z.looseObject({
  id: text,
  name: text,
  agent_id: text,
  user_id: text,
  message: z.array(z.looseObject({ role: text, content: text })),
  source: z.enum(['workflow', 'agent']),
  round: z.number().int(),
  errors: text.nullable(),
  create_time: milliseconds,
  update_time: milliseconds,
});

export const runShape = z.looseObject({
  run_id: text,
  agent_id: text,
  session_id: text,
  message_id: text,
  parent_run_id: text.nullable().describe('The run that it goes on from.'),
  forked_at: z.number().int().nullable().describe('Number of the event of that run behind which it goes on.'),
  status: z.enum(['running', 'waiting', 'succeeded', 'failed', 'cancelled']),
  error: z.looseObject({ code: text, message: text }).nullable(),
  started_at: milliseconds,
  finished_at: milliseconds.nullable(),
  usage: z.looseObject({ total_tokens: z.number().int(), calls: z.number().int() }),
  last_event_id: z.number().int().describe('Number of the last event; 0 while it runs.'),
});

const seconds = z.number().describe('Seconds.');
const eventNumber = z.number().int().describe('Number of an event.');

/** All activations of one component together. */
const nodeSumsShape = z.looseObject({
  component_id: text,
  component_type: text,
  component_name: text,
  activations: z.number().int(),
  failures: z.number().int(),
  retries: z.number().int(),
  first_started_at: milliseconds,
  last_ended_at: milliseconds.nullable(),
  busy_time: seconds,
  longest_time: seconds,
  pieces: z.number().int().describe('Pieces of text that it said.'),
  characters: z.number().int(),
});

export const runDetailShape = runShape.extend({ nodes: z.array(nodeSumsShape) });

export const timelineShape = runDetailShape.extend({
  activations: z.array(
    z.looseObject({
      component_id: text,
      within: text.nullable().describe('`container/pass`, outermost first; null at the top level.'),
      token: z.number().int().nullable(),
      attempt: z.number().int(),
      status: z.enum(['open', 'settled', 'failed', 'retried', 'skipped', 'waiting']),
      error: text.nullable(),
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
            name: text,
            parent: z.number().int().optional().describe('Id of the call that this one is part of.'),
            status: z.enum(['open', 'done', 'failed', 'stopped']),
            error: text.optional(),
            started_at: milliseconds,
            first_piece_at: milliseconds.optional(),
            ended_at: milliseconds.optional(),
            usage: z.looseObject({ total_tokens: z.number().int() }).optional(),
          }),
        )
        .describe('Models, tools and agents that it called, where it called more than one model.'),
      usage: z.looseObject({ total_tokens: z.number().int(), calls: z.number().int() }),
      emissions: z.array(
        z.looseObject({
          kind: text,
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

export const fileShape = z.looseObject({
  id: text,
  name: text,
  size: z.number().int().describe('Bytes.'),
  extension: text,
  mime_type: text,
  created_by: text,
  created_at: z.number().int().describe('Seconds since 1970.'),
});

export const tokenShape = z.looseObject({ tenant_id: text, token: text, beta: text, create_time: milliseconds });

export const traceShape = z
  .array(z.looseObject({ component_id: text, trace: z.array(anyObject) }))
  .describe('`{}` when nothing is known of the message.');

export const templateShape = z.looseObject({
  id: text,
  title: z.record(text, text),
  description: z.record(text, text),
  canvas_type: text,
  dsl: anyObject,
});

/** One turn that a client asks for. */
export const turnShape = z.looseObject({
  query: z.unknown().optional().describe('What the user says; also `question`, `user_input` or `message`.'),
  inputs: anyObject
    .nullish()
    .describe('Values for the fields of Begin or of the forms that wait: `{"field": {"value": …}}`.'),
  files: z.array(z.unknown()).nullish().describe('Files as the upload described them.'),
  session_id: text.nullish().describe('Goes on with this session; default: a new one.'),
  user_id: text.nullish().describe('Whatever the client calls its user.'),
  name: text.nullish().describe('Name of a new session; default: the beginning of the question.'),
  version: text
    .nullish()
    .describe('Id of a version, or "draft"; for a new session, a fork, or a run that failed and is gone on from.'),
  release: z.unknown().optional().describe('true: only what is published; for a new session.'),
  resume_from: text.nullish().describe('Id of a run that waits, failed or was cancelled, to go on where it ended.'),
  migrate: z
    .unknown()
    .optional()
    .describe('true: what a run has done is kept in another version of its graph, where nodes exist in both.'),
  return_trace: z.unknown().optional().describe('true: the answer says what each node did.'),
  detach: z.unknown().optional().describe('true: goes on without clients for as long as it takes.'),
  stream: z.unknown().optional().describe('true: the answer is a stream of events.'),
  chat_template_kwargs: anyObject.nullish(),
  custom_header: anyObject.nullish().describe('Headers for tools that declare them.'),
});

/** A question in OpenAI's form. */
export const openaiShape = z.looseObject({
  messages: z
    .array(z.looseObject({ role: text, content: z.unknown() }))
    .describe('The last user message is the question.'),
  model: text.optional().describe('Ignored: the agent decides.'),
  stream: z.boolean().optional(),
  session_id: text.nullish().describe('Also `id` or `metadata.id`.'),
});
