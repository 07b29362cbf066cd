/** What clients may rely on, written from the contract of the API alone: nothing of the server's code is used here. */
import { z } from 'zod';

const text = z.string();
const id32 = z.string().regex(/^[0-9a-f]{32}$/);
const milliseconds = z.number().int().min(1_000_000_000_000);
const seconds = z.number().int().min(1_000_000_000).max(100_000_000_000);
const object = z.looseObject({});

export const failure = z.looseObject({ code: z.number().int().positive(), message: text.min(1) });
export const success = <T extends z.ZodType>(data: T) => z.looseObject({ code: z.literal(0), data });
export const page = <T extends z.ZodType>(item: T) =>
  z.looseObject({ code: z.literal(0), data: z.array(item), total: z.number().int().min(0) });

export const agentItem = z.looseObject({
  id: id32,
  avatar: text.nullable(),
  title: text.min(1),
  description: text.nullable(),
  permission: z.enum(['me', 'team']),
  tenant_id: text,
  nickname: text,
  update_time: milliseconds,
  canvas_type: text.nullable(),
  canvas_category: text,
  tags: text,
});
export const agent = agentItem.extend({ dsl: object, last_publish_time: milliseconds.nullable() });
export const agentList = z.looseObject({ canvas: z.array(agentItem), total: z.number().int() });

export const versionItem = z.looseObject({
  id: id32,
  title: text,
  user_canvas_id: id32,
  release: z.boolean(),
  create_time: milliseconds,
  update_time: milliseconds,
  create_date: text,
  update_date: text,
});
export const version = versionItem.extend({ description: text.nullable(), dsl: object });

export const session = z.looseObject({
  id: id32,
  name: text,
  agent_id: id32,
  user_id: text,
  message: z.array(z.looseObject({ role: z.enum(['user', 'assistant']), content: text })),
  tokens: z.number(),
  source: z.enum(['agent', 'workflow', 'none', 'dialog']),
  duration: z.number(),
  round: z.number().int(),
  errors: text.nullable(),
  create_time: milliseconds,
  update_time: milliseconds,
});

export const usage = z.strictObject({
  prompt_tokens: z.number().int(),
  completion_tokens: z.number().int(),
  total_tokens: z.number().int(),
  calls: z.number().int(),
});

export const runStatus = z.enum(['running', 'waiting', 'succeeded', 'failed', 'cancelled']);
export const run = z.looseObject({
  run_id: id32,
  agent_id: id32,
  session_id: id32,
  message_id: id32,
  parent_run_id: id32.nullable(),
  forked_at: z.number().int().nullable(),
  status: runStatus,
  error: z.looseObject({ code: text, message: text }).nullable(),
  started_at: milliseconds,
  finished_at: milliseconds.nullable(),
  elapsed_time: z.number().min(0).nullable(),
  usage,
  last_event_id: z.number().int().min(0),
});

const nodeSums = z.looseObject({
  component_id: text,
  component_type: text,
  component_name: text,
  activations: z.number().int().min(1),
  failures: z.number().int(),
  first_started_at: milliseconds,
  last_ended_at: milliseconds.nullable(),
  busy_time: z.number().min(0),
  longest_time: z.number().min(0),
  pieces: z.number().int(),
  characters: z.number().int(),
});
export const runDetail = run.extend({ nodes: z.array(nodeSums) });
export const trace = runDetail.extend({
  activations: z.array(
    z.looseObject({
      component_id: text,
      within: text.nullable(),
      attempt: z.number().int().min(1),
      status: z.enum(['open', 'settled', 'failed', 'retried', 'skipped', 'waiting']),
      error: text.nullable(),
      started_at: milliseconds,
      ended_at: milliseconds.nullable(),
      elapsed_time: z.number().min(0).nullable(),
      first_event_id: z.number().int().min(1),
      last_event_id: z.number().int().nullable(),
      emissions: z.array(
        z.looseObject({
          kind: text,
          first_event_id: z.number().int(),
          last_event_id: z.number().int(),
          at: milliseconds,
        }),
      ),
    }),
  ),
  omitted: z.literal(0),
});

/** Data of events by name, section 8. */
const data = {
  workflow_started: z.looseObject({ inputs: object }),
  node_started: z.looseObject({
    inputs: object.nullable(),
    created_at: seconds,
    component_id: text,
    component_name: text,
    component_type: text,
    thoughts: text,
  }),
  node_finished: z.looseObject({
    inputs: object,
    outputs: object,
    component_id: text,
    component_name: text,
    component_type: text,
    error: text.nullable(),
    elapsed_time: z.number().min(0),
    created_at: seconds,
  }),
  message: z.looseObject({ content: text }),
  message_end: object,
  user_inputs: z.looseObject({ inputs: z.record(text, z.looseObject({ name: text, type: text })), tips: text }),
  workflow_finished: z.looseObject({
    inputs: object,
    outputs: z.union([object, text]).nullable(),
    elapsed_time: z.number().min(0),
    created_at: seconds,
    usage,
  }),
} as const;

const envelope = { message_id: id32, created_at: seconds, task_id: text, session_id: id32 };
const named = Object.entries(data).map(([event, shape]) =>
  z.looseObject({ event: z.literal(event), ...envelope, data: shape }),
);

/** Any frame of an event stream but the end mark. */
export const event = z.union([
  ...named,
  z.looseObject({ code: z.literal(500), message: text, data: z.literal(false), task_id: text, session_id: text }),
]);

/** The answer of a run to a client that does not stream, section 7.2. */
export const answer = z.looseObject({
  event: text,
  ...envelope,
  run_id: id32,
  status: runStatus,
  data: z.looseObject({ content: text, reference: object, usage: usage.optional() }),
});

export const file = z.looseObject({
  id: text,
  name: text,
  size: z.number().int(),
  extension: text,
  mime_type: text,
  created_by: text,
  created_at: seconds,
  preview_url: z.null(),
});
export const token = z.looseObject({
  tenant_id: text,
  token: text.regex(/^ragflow-[\w-]{43}$/),
  beta: text.length(32),
  create_time: milliseconds,
  create_date: text,
  update_time: z.null(),
  update_date: z.null(),
});
/** Of the same form, without the middle. */
export const listedToken = token.extend({ token: text.regex(/^ragflow-[\w-]{6}\*{31}[\w-]{6}$/) });
export const template = z.looseObject({
  id: z.union([text, z.number()]),
  title: z.record(text, text),
  description: z.record(text, text),
  canvas_type: text,
  dsl: object,
});
export const prompts = z.looseObject({
  task_analysis: text,
  plan_generation: text,
  reflection: text,
  citation_guidelines: text,
});
export const logs = z.array(z.looseObject({ component_id: text, trace: z.array(object).min(1) })).min(1);
export const botInputs = z.looseObject({
  title: text,
  avatar: text.nullable(),
  inputs: object,
  prologue: text,
  mode: text,
});
export const webhookLogs = z.looseObject({
  webhook_id: text.nullable(),
  events: z.array(object),
  next_since_ts: z.number(),
  finished: z.boolean(),
});

const openaiUsage = z.looseObject({
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  total_tokens: z.number(),
});
export const openaiCompletion = z.looseObject({
  id: text,
  object: z.literal('chat.completion'),
  created: seconds,
  model: text,
  usage: openaiUsage,
  choices: z.tuple([
    z.looseObject({ message: z.looseObject({ role: z.literal('assistant'), content: text }), finish_reason: text }),
  ]),
});
export const openaiChunk = z.looseObject({
  id: text,
  object: z.literal('chat.completion.chunk'),
  created: seconds,
  model: text,
  usage: openaiUsage.nullable(),
  choices: z.array(
    z.looseObject({ delta: z.looseObject({ content: text.nullable() }), finish_reason: text.nullable() }),
  ),
});
