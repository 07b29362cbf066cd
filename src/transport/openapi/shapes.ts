/** Shapes of what the API gives, for its description. */
import { z } from 'zod';

const text = z.string();
const milliseconds = z.number().int().describe('Milliseconds since 1970.');
const date = text.describe('A time as text, in UTC.');
const anyObject = z.looseObject({});

export const agentItemShape = z.looseObject({
  id: text,
  title: text,
  description: text.nullable(),
  avatar: text.nullable(),
  permission: z.enum(['me', 'team']),
  user_id: text.describe('The same as `tenant_id`.'),
  tenant_id: text,
  nickname: text.describe('The same as `tenant_id`.'),
  tenant_avatar: z.null(),
  canvas_type: text.nullable(),
  canvas_category: text,
  tags: text.describe('Comma-separated.'),
  release: z.boolean().describe('Whether anything is published.'),
  release_time: milliseconds.nullable(),
  create_time: milliseconds,
  update_time: milliseconds,
  type: z.literal('agent').optional().describe('Only in lists that no category, type or tag filters.'),
});

/** Which values filters of the list can have. */
export const agentFilterShape = z.looseObject({
  owner: z.array(z.looseObject({ id: text, label: text, count: z.number().int() })),
  canvas_category: z.array(z.looseObject({ id: text, count: z.number().int() })),
});

/** One problem of a document. */
export const issueShape = z.looseObject({
  code: text,
  severity: z.enum(['error', 'warning']),
  path: text.describe('A JSON path into the document.'),
  message: text,
});

export const agentShape = agentItemShape.omit({ type: true }).extend({
  create_date: date,
  update_date: date,
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
  create_date: date,
  update_time: milliseconds,
  update_date: date,
});

export const versionShape = versionItemShape.extend({ dsl: anyObject });

const sessionMessageShape = z.looseObject({
  role: text,
  content: text,
  id: text.optional().describe('The message id of the turn; absent for what an agent opens with.'),
  created_at: z.number().int().describe('Seconds since 1970.'),
  files: z.array(anyObject).optional(),
});

const sessionFields = {
  id: text,
  name: text,
  user_id: text,
  exp_user_id: z.null(),
  tokens: z.number().int(),
  source: z.enum(['workflow', 'agent']),
  duration: z.number().describe('Seconds that its turns took.'),
  round: z.number().int(),
  thumb_up: z.number().int(),
  errors: text.nullable(),
  version_title: z.null(),
  create_time: milliseconds,
  create_date: date,
  update_time: milliseconds,
  update_date: date,
};

export const sessionShape = z.looseObject({
  ...sessionFields,
  agent_id: text,
  message: z.array(
    sessionMessageShape.extend({ reference: z.array(anyObject).optional().describe('What an answer cites.') }),
  ),
  dsl: anyObject.optional().describe('The document that the session runs.'),
});

/** A session by its name alone. */
export const sessionNameShape = z.looseObject({ id: text, name: text });

/** A session as it is stored. */
export const sessionRowShape = z.looseObject({
  ...sessionFields,
  dialog_id: text.describe('Id of the agent.'),
  message: z.array(sessionMessageShape),
  reference: z.array(anyObject).describe('One entry for each answer of a run.'),
  dsl: anyObject,
});

export const fileShape = z.looseObject({
  id: text,
  name: text,
  size: z.number().int().describe('Bytes.'),
  extension: text,
  mime_type: text,
  created_by: text,
  created_at: z.number().int().describe('Seconds since 1970.'),
  preview_url: z.null(),
});

export const tokenShape = z.looseObject({
  tenant_id: text,
  token: text,
  beta: text.describe('The key for chat pages.'),
  dialog_id: text.nullable().describe('The one agent that `beta` opens; null: all.'),
  create_time: milliseconds,
  create_date: date,
  update_time: z.null(),
  update_date: z.null(),
});

export const traceShape = z.union([
  z.array(z.looseObject({ component_id: text, trace: z.array(anyObject) })),
  z.strictObject({}).describe('Nothing is known of the message.'),
]);

export const templateShape = z.looseObject({
  id: text,
  title: z.record(text, text),
  description: z.record(text, text),
  avatar: z.null(),
  canvas_type: text,
  canvas_types: z.array(text),
  canvas_category: text,
  dsl: anyObject,
  create_time: milliseconds,
  create_date: date,
  update_time: milliseconds,
  update_date: date,
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
