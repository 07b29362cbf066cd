import { z } from 'zod';
import { deletedSessionsSchema, newSessionSchema } from '../sessions/session-routes.js';
import { listQuery, type OperationGroup, pageQuery, versionQuery } from './operation.js';
import { answerShape, runDetailShape, runShape, timelineShape } from './run-shapes.js';
import {
  fileShape,
  openaiShape,
  sessionNameShape,
  sessionRowShape,
  sessionShape,
  traceShape,
  turnShape,
} from './shapes.js';

const text = z.string();
const completionsShape = turnShape.extend({
  agent_id: text,
  'openai-compatible': z.unknown().optional().describe("true: the body and the answer are in OpenAI's form."),
});
const cancelShape = z.looseObject({
  session_id: text.nullish(),
  run_id: text.nullish(),
  task_id: text.nullish().describe('Id of a session or of a run.'),
});

/** What starts a turn may also stand in the address. */
const turnQuery = versionQuery.extend({
  session_id: text.optional(),
  user_input: text.optional(),
  resume_from: text.optional(),
});

/** Conversations as they are kept. */
export const sessionOperations: OperationGroup = {
  name: 'sessions',
  description: 'Conversations with an agent.',
  operations: [
    {
      method: 'get',
      path: '/agents/:id/sessions',
      summary: 'Lists sessions',
      query: listQuery.extend({
        id: text.optional(),
        user_id: text.optional(),
        exp_user_id: text.optional().describe('All sessions of a user, as `[{id, name}]`.'),
        keywords: text.optional().describe('Part of the id, the name or a message.'),
        from_date: text.optional(),
        to_date: text.optional(),
        dsl: text.optional().describe('"false" leaves the documents out.'),
      }),
      answers: 'page',
      data: z.union([z.array(sessionShape), z.array(sessionNameShape)]),
    },
    {
      method: 'post',
      path: '/agents/:id/sessions',
      summary: 'Makes a session before its first turn',
      query: versionQuery.extend({ user_id: text.optional() }).omit({ version: true }),
      body: newSessionSchema,
      data: sessionShape,
    },
    {
      method: 'delete',
      path: '/agents/:id/sessions',
      summary: 'Deletes several sessions',
      query: z.object({ ids: text.optional().describe('Comma-separated.'), delete_all: text.optional() }),
      body: deletedSessionsSchema,
      data: z
        .looseObject({ success_count: z.number().int(), errors: z.array(text) })
        .describe('Only when some were deleted and some were not.'),
    },
    { method: 'get', path: '/agents/:id/sessions/:session', summary: 'Reads a session', data: sessionRowShape },
    { method: 'delete', path: '/agents/:id/sessions/:session', summary: 'Deletes a session', data: z.number().int() },
  ],
};

/** Turns, and the runs that they start. */
export const runOperations: OperationGroup = {
  name: 'runs',
  description: 'Turns of conversations: starting, watching and stopping them. `X-Run-Id` names the run.',
  operations: [
    {
      method: 'post',
      path: '/agents/:id/run',
      summary: 'Runs a turn and waits for the answer; streams when asked to',
      query: turnQuery,
      body: turnShape,
      answers: 'events',
      data: answerShape,
    },
    {
      method: 'post',
      path: '/agents/:id/stream',
      summary: 'Runs a turn and streams its events',
      query: turnQuery,
      body: turnShape,
      answers: 'events',
      data: answerShape,
    },
    {
      method: 'post',
      path: '/agents/:id/cancel',
      summary: 'Stops runs of the caller; without a body all of the agent',
      body: cancelShape,
      data: z.boolean(),
    },
    {
      method: 'get',
      path: '/agents/:id/runs',
      summary: 'Lists runs, newest first',
      query: pageQuery.extend({
        status: text.optional(),
        session_id: text.optional(),
        from_date: text.optional().describe('Started at this date or time or later.'),
        to_date: text.optional(),
      }),
      answers: 'page',
      data: z.array(runShape),
    },
    { method: 'get', path: '/agents/:id/runs/:run', summary: 'Reads a run', data: runDetailShape },
    {
      method: 'get',
      path: '/agents/:id/runs/:run/trace',
      summary: 'Reads what each node of a run did, over time',
      data: timelineShape,
    },
    {
      method: 'post',
      path: '/agents/:id/runs/:run/fork',
      summary: 'Starts another run from an event of a run; nodes that had finished by then are not run again',
      query: turnQuery.pick({ version: true, release: true }).extend({
        at: text.optional().describe('Number of the event; default the last one.'),
      }),
      body: turnShape,
      answers: 'events',
      data: answerShape,
    },
    {
      method: 'get',
      path: '/agents/:id/runs/:run/events',
      summary: 'Streams the events of a run, from the first or after `Last-Event-ID`',
      query: z.object({ after: text.optional().describe('Number of the last event that the client has.') }),
      answers: 'events',
    },
    { method: 'post', path: '/agents/:id/runs/:run/cancel', summary: 'Stops a run', data: z.boolean() },
    { method: 'post', path: '/tasks/:task/cancel', summary: 'Stops the run of a session, or a run', data: z.boolean() },
    {
      method: 'patch',
      path: '/tasks/:task',
      summary: 'The same, in another form',
      body: z.looseObject({ action: z.literal('stop') }),
      data: z.boolean(),
    },
    {
      method: 'post',
      path: '/agents/chat/completions',
      summary: 'Runs a turn of the draft',
      body: completionsShape,
      answers: 'events',
      data: answerShape,
    },
    {
      method: 'post',
      path: '/agents/:id/completions',
      summary: 'Older path of the same',
      query: versionQuery,
      body: turnShape,
      answers: 'events',
      data: answerShape,
    },
    {
      method: 'post',
      path: '/agents_openai/:id/chat/completions',
      summary: "Runs a turn for clients of OpenAI's API",
      body: openaiShape,
      answers: 'openai',
    },
  ],
};

/** Files of users, and those that agents made. */
export const fileOperations: OperationGroup = {
  name: 'files',
  description: 'Files of users and files that agents made.',
  operations: [
    {
      method: 'post',
      path: '/agents/:id/upload',
      summary: 'Keeps files for an agent; several give a list',
      query: z.object({ url: text.optional().describe('Fetches this instead.') }),
      uploads: true,
      data: z.union([fileShape, z.array(fileShape)]),
      access: 'page',
    },
    {
      method: 'get',
      path: '/agents/download',
      summary: 'Gives a file',
      query: z.object({ id: text }),
      answers: 'file',
    },
    {
      method: 'get',
      path: '/agents/attachments/:file/download',
      summary: 'Gives a file',
      query: z.object({
        ext: text.optional(),
        mime_type: text.optional(),
        filename: text.optional(),
        disposition: text.optional().describe('"inline" shows it, when no script can run in it.'),
      }),
      answers: 'file',
      access: 'page',
    },
    {
      method: 'get',
      path: '/agents/attachments/:file/preview',
      summary: 'Shows a file',
      query: z.object({ ext: text.optional(), mime_type: text.optional(), filename: text.optional() }),
      answers: 'file',
    },
    {
      method: 'get',
      path: '/documents/artifact/:file',
      summary: 'Gives a file that code of an agent made',
      query: z.object({ session_id: text.optional() }),
      answers: 'file',
    },
  ],
};

/** What chat pages call. */
export const botOperations: OperationGroup = {
  name: 'agentbots',
  description: 'The same for chat pages on other sites, which hold a beta token.',
  operations: [
    {
      method: 'post',
      path: '/agentbots/:id/completions',
      summary: 'Runs a turn of the draft; streams unless `stream` is false',
      query: versionQuery,
      body: turnShape,
      answers: 'events',
      data: answerShape,
      access: 'page',
    },
    {
      method: 'get',
      path: '/agentbots/:id/inputs',
      summary: 'What a page shows before the first question',
      data: z.looseObject({
        title: text,
        avatar: text.nullable(),
        inputs: z.looseObject({}),
        prologue: text,
        mode: text,
      }),
      access: 'page',
    },
    {
      method: 'get',
      path: '/agentbots/:id/logs/:message',
      summary: 'What each component did for a message',
      data: traceShape,
      access: 'page',
    },
  ],
};
