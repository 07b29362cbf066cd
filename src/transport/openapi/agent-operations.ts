import { z } from 'zod';
import { agentSchema } from '../agents/agent-input.js';
import { tagsBodySchema } from '../agents/agent-routes.js';
import { databaseSchema, rerunSchema } from '../agents/draft-tools.js';
import { trialSchema } from '../components/component-routes.js';
import { publicationSchema } from '../versions/version-routes.js';
import { listQuery, type OperationGroup, pageQuery, versionQuery } from './operation.js';
import {
  agentFilterShape,
  agentItemShape,
  agentShape,
  issueShape,
  templateShape,
  traceShape,
  versionItemShape,
  versionShape,
} from './shapes.js';

const text = z.string();
const made = agentShape.extend({ issues: z.array(issueShape) });
const changed = z.looseObject({ id: text, update_time: z.number().int(), issues: z.array(issueShape) });

/** Everything about agents that is not a conversation with one. */
export const agentOperations: OperationGroup = {
  name: 'agents',
  description: 'Agents: a draft of a canvas, and what is said about it.',
  operations: [
    {
      method: 'get',
      path: '/agents',
      summary: 'Lists agents',
      query: listQuery.extend({
        id: text.optional(),
        title: text.optional(),
        keywords: text.optional().describe('Part of the title or of a tag.'),
        canvas_category: text.optional().describe('Comma-separated.'),
        canvas_type: text.optional(),
        owner_ids: text.optional().describe('Comma-separated; only the own tenant may be asked for.'),
        tags: text.optional().describe('Comma-separated; one of them is enough.'),
        type: text.optional().describe('"filter": the values that can be filtered by, and how often each occurs.'),
      }),
      data: z.looseObject({
        canvas: z.array(agentItemShape).optional(),
        filter: agentFilterShape.optional(),
        total: z.number().int(),
      }),
    },
    {
      method: 'post',
      path: '/agents',
      summary: 'Creates an agent',
      body: agentSchema,
      data: made,
    },
    { method: 'get', path: '/agents/:id', summary: 'Reads an agent with its draft', data: agentShape },
    {
      method: 'patch',
      path: '/agents/:id',
      summary: 'Saves a draft; makes no version',
      body: agentSchema,
      data: changed,
    },
    { method: 'put', path: '/agents/:id', summary: 'The same as PATCH', body: agentSchema, data: changed },
    {
      method: 'delete',
      path: '/agents/:id',
      summary: 'Deletes an agent with its versions, sessions and runs',
      data: z.boolean(),
    },
    {
      method: 'post',
      path: '/agents/import',
      summary: 'Makes agents of canvas files; several give a list',
      query: z.object({ title: text.optional().describe('For a single file; default: its name.') }),
      uploads: true,
      data: z.union([made, z.array(made)]),
    },
    {
      method: 'get',
      path: '/agents/:id/export',
      summary: 'Gives the draft or a version as a file',
      query: versionQuery.extend({ to: text.optional().describe('"v1" or "v2"; default: as it was written.') }),
      answers: 'file',
    },
    {
      method: 'get',
      path: '/agents/tags',
      summary: 'Counts tags',
      query: z.object({ canvas_category: text.optional().describe('Comma-separated.') }),
      data: z.array(z.looseObject({ tag: text, count: z.number().int() })),
    },
    { method: 'put', path: '/agents/:id/tags', summary: 'Replaces tags', body: tagsBodySchema, data: z.boolean() },
    {
      method: 'post',
      path: '/agents/:id/reset',
      summary: 'Forgets what conversations left in the draft, and gives the draft',
      data: z.looseObject({}),
    },
    {
      method: 'get',
      path: '/agents/:id/logs/:message',
      summary: 'What each component did for a message',
      data: traceShape,
    },
    {
      method: 'get',
      path: '/agents/:id/components/:component/input-form',
      summary: 'What to fill in to try a component of the draft',
      data: z.record(text, z.looseObject({ name: text.optional(), type: text.optional() })),
    },
    {
      method: 'post',
      path: '/agents/:id/components/:component/debug',
      summary: 'Runs one component of the draft alone and gives its outputs; keeps nothing',
      body: trialSchema,
      data: z.looseObject({}),
    },
    {
      method: 'post',
      path: '/agents/test_db_connection',
      summary: 'Asks a database whether it answers',
      body: databaseSchema,
      data: text,
    },
    { method: 'post', path: '/agents/rerun', summary: 'Runs a part of a pipeline again', body: rerunSchema },
  ],
};

/** Published documents. */
export const versionOperations: OperationGroup = {
  name: 'versions',
  description: 'Published documents of an agent; none is ever changed.',
  operations: [
    {
      method: 'get',
      path: '/agents/:id/versions',
      summary: 'Lists versions, newest first',
      query: pageQuery,
      answers: 'page',
      data: z.array(versionItemShape),
    },
    {
      method: 'post',
      path: '/agents/:id/versions',
      summary: 'Publishes the draft or the given document; the draft stays as it is',
      body: publicationSchema,
      data: versionShape,
    },
    {
      method: 'post',
      path: '/agents/:id/publish',
      summary: 'The same as POST …/versions',
      body: publicationSchema,
      data: versionShape,
    },
    { method: 'get', path: '/agents/:id/versions/:version', summary: 'Reads a version', data: versionShape },
    {
      method: 'delete',
      path: '/agents/:id/versions/:version',
      summary: 'Deletes a version; the newest of the others is what runs from then on',
      data: z.boolean(),
    },
  ],
};

/** Where to begin. */
export const templateOperations: OperationGroup = {
  name: 'templates',
  description: 'Canvases and prompts to begin with.',
  operations: [
    { method: 'get', path: '/agents/templates', summary: 'Lists canvases', data: z.array(templateShape) },
    { method: 'get', path: '/agents/prompts', summary: 'Gives prompts by name', data: z.record(text, text) },
  ],
};
