/** Agents: list, create, read, change, tag, reset, delete. */
import { z } from 'zod';
import type { Document } from '../../dsl/document.js';
import { resetDocument } from '../../dsl/globals.js';
import { readDocument } from '../../dsl/read.js';
import { EngineError } from '../../errors.js';
import { createId } from '../../hosting/ids.js';
import { badArgument, noAgent, noCanvas, notOwner } from '../../hosting/refusals.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import {
  type AgentChange,
  type AgentQuery,
  type AgentRecord,
  type AgentStore,
  type AgentSummary,
  CHAT_CATEGORY,
  isAssistant,
  listAgentSummaries,
} from '../../records/agents.js';
import { leftOut, success } from '../envelope.js';
import { given, listFitting, listQuery, orderOf, PAGE_BYTES, pageOf, text, textList } from '../http/input.js';
import { type RouteGroup, type RouteRequest, route } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';
import { anyObject, defineView, milliseconds, none, string, timeFields, whole } from '../shapes.js';
import { publish, requireSound } from '../versions/publish.js';
import { type AgentInput, agentSchema, changeSchema, readAgentInput, readTags, tagsSchema } from './agent-input.js';
import { deleteAgent } from './delete-agent.js';
import { findAgent } from './find-agent.js';
import { issuesShape } from './issue-shapes.js';

const ORDERS = { create_time: 'createdAt', update_time: 'updatedAt', title: 'title' } as const;
/** For what is counted of all agents. */
const ALL: AgentQuery = {
  offset: 0,
  limit: 0,
  orderBy: 'createdAt',
  descending: true,
  notCategory: CHAT_CATEGORY,
};
const MAX_OWNERS = 100;
const DEFAULT_CATEGORY = 'agent_canvas';

/** Parameters in which runs leave values. */
const SLOTS = ['inputs', 'outputs', 'debug_inputs'] as const;

const times = timeFields('createdAt', 'updatedAt');

const agentItem = defineView<AgentSummary, [tenant: string]>()({
  id: [string, 'id'],
  avatar: [string.nullable(), 'avatar'],
  title: [string, 'title'],
  description: [string.nullable(), 'description'],
  permission: [z.enum(['me', 'team']), 'permission'],
  user_id: [string.describe('The same as `tenant_id`.'), (_, tenant) => tenant],
  tenant_id: [string, (_, tenant) => tenant],
  nickname: [string.describe('The same as `tenant_id`.'), (_, tenant) => tenant],
  tenant_avatar: [z.null(), none],
  create_time: times.create_time,
  update_time: times.update_time,
  canvas_type: [string.nullable(), 'canvasType'],
  canvas_category: [string, 'canvasCategory'],
  tags: [string.describe('Comma-separated.'), 'tags'],
  release: [z.boolean().describe('Whether anything is published.'), ({ published }) => published !== undefined],
  release_time: [milliseconds.nullable(), ({ published }) => published?.at ?? null],
});

const agentView = defineView<AgentRecord, [tenant: string]>()({
  ...agentItem.fields,
  ...times,
  last_publish_time: [milliseconds.nullable(), ({ published }) => published?.at ?? null],
  dsl: [anyObject.describe('The draft, as its author wrote it.'), 'dsl'],
});

const agentRowShape = agentItem.shape.extend({
  type: z.literal('agent').optional().describe('Only in lists that no category, type or tag filters.'),
});

const agentFilterShape = z.looseObject({
  owner: z.array(z.looseObject({ id: string, label: string, count: whole })),
  canvas_category: z.array(z.looseObject({ id: string, count: whole })),
});

/** An agent as it is given when it is created. */
export const createdAgentShape = agentView.shape.extend({ issues: issuesShape });

const changedAgentShape = z.looseObject({ id: string, update_time: whole, issues: issuesShape });

const agentsQuery = listQuery.extend({
  id: text,
  title: text,
  keywords: text.describe('Part of the title or of a tag.'),
  canvas_category: textList,
  canvas_type: text,
  owner_ids: textList.describe('Comma-separated; only the own tenant is allowed.'),
  tags: textList.describe('Comma-separated; one of them is enough.'),
  type: text.describe('"filter": the values that can be filtered by, and how often each occurs.'),
});

const tagsQuery = z.object({ canvas_category: textList });

export const agentRoutes: RouteGroup = {
  name: 'agents',
  description: 'Agents: a draft of a canvas and its properties.',
  routes: [
    route('GET /agents', {
      summary: 'Lists agents',
      reserves: PAGE_BYTES,
      query: agentsQuery,
      data: z.looseObject({
        canvas: z.array(agentRowShape).optional(),
        filter: agentFilterShape.optional(),
        total: whole,
      }),
      handle: list,
    }),
    route('POST /agents', {
      summary: 'Creates an agent',
      body: agentSchema,
      data: createdAgentShape,
      handle: async ({ tenant, body }, parts) =>
        success(await insertAgent(parts, tenant, readAgentInput(body, parts.config.documentBytes))),
    }),
    route('GET /agents/:id', {
      summary: 'Reads an agent with its draft',
      reserves: PAGE_BYTES,
      data: agentView.shape,
      handle: async ({ tenant, params }, { stores }) => {
        const agent = await stores.agents.find(tenant, params.id);
        if (agent === undefined || isAssistant(agent)) throw noCanvas();
        return success(agentView.of(agent, tenant));
      },
    }),
    ...(['PATCH', 'PUT'] as const).map((method) =>
      route(`${method} /agents/:id`, {
        summary: method === 'PUT' ? 'The same as PATCH' : 'Saves a draft; makes no version',
        body: changeSchema,
        data: changedAgentShape,
        // Saves a draft; that alone publishes nothing and withdraws nothing.
        handle: async (request, parts) => {
          const { tenant } = request;
          const { title, dsl, fields, publishes } = readAgentInput(request.body, parts.config.documentBytes);
          const before = await findAgent(request, parts);
          const issues = parts.checkDocument(dsl ?? before.dsl);
          // Checked before saving: a draft that cannot be published as requested is not saved either.
          if (publishes) requireSound(issues);
          const after = await change(parts, tenant, before, {
            change: { ...fields, ...given({ title, dsl }) },
            ifUpdatedAt: request.body.if_update_time ?? undefined,
          });
          if (after === undefined) throw noAgent();
          if (publishes) await publish(parts, tenant, after, {});
          return success({ id: after.id, update_time: after.updatedAt, issues });
        },
      }),
    ),
    route('DELETE /agents/:id', {
      summary: 'Deletes an agent with its versions, sessions and runs',
      data: z.boolean(),
      handle: async ({ tenant, params }, parts) => {
        const agent = await parts.stores.agents.find(tenant, params.id);
        if (agent === undefined || isAssistant(agent)) throw notOwner();
        if (!(await deleteAgent(parts, tenant, agent.id))) throw notOwner();
        return success(true);
      },
    }),
    route('GET /agents/tags', {
      summary: 'Counts tags',
      query: tagsQuery,
      data: z.array(z.looseObject({ tag: string, count: whole })),
      handle: countTags,
    }),
    route('PUT /agents/:id/tags', {
      summary: 'Replaces tags',
      body: z.looseObject({
        tags: tagsSchema.describe('All tags: comma-separated, or a list. 64 characters each, 512 together.'),
      }),
      data: z.boolean(),
      handle: async ({ tenant, params, body }, { stores, now }) => {
        const change = { tags: readTags(body.tags), updatedAt: now() };
        const before = await stores.agents.find(tenant, params.id);
        const isAgent = before !== undefined && !isAssistant(before);
        const after = isAgent ? await stores.agents.update(tenant, params.id, change) : undefined;
        if (after === undefined) throw new EngineError('FORBIDDEN', 'Agent not found or no permission.');
        return success(true);
      },
    }),
    route('POST /agents/:id/reset', {
      summary: 'Removes what conversations left in the draft, and gives the draft',
      finds: findAgent,
      data: z.looseObject({}),
      handle: async ({ tenant, found: { id, dsl } }, parts) => {
        const reset = resetDraft(dsl);
        const change = { dsl: reset, updatedAt: parts.now() };
        if ((await parts.stores.agents.update(tenant, id, change)) === undefined) throw noAgent();
        return success(reset);
      },
    }),
  ],
};

/** The agents of the caller, or with `type=filter` what they can be filtered by. */
async function list({ tenant, query }: RouteRequest<never, typeof agentsQuery>, { stores }: ServerParts) {
  const { id, title, keywords, tags, canvas_category: categories, canvas_type: canvasType, owner_ids: owners } = query;
  if ((owners?.length ?? 0) > MAX_OWNERS) throw badArgument(`owner_ids must contain at most ${MAX_OWNERS} IDs`);
  if (owners?.some((owner) => owner !== tenant)) {
    throw new EngineError('FORBIDDEN', 'Only authorized owner_ids can be queried.');
  }
  if (query.type === 'filter') return success(await filtersOf(stores.agents, tenant));
  const page = pageOf(query);
  const wanted: AgentQuery = {
    ...page,
    ...orderOf<AgentQuery['orderBy']>(query, ORDERS, 'createdAt'),
    ...given({ id, title, keywords, canvasType, categories, tags }),
    // Assistants are chats, see `/chats`; who asks for their category means them.
    ...(categories?.includes(CHAT_CATEGORY) !== true && { notCategory: CHAT_CATEGORY }),
  };
  const { items, total } = await listFitting(wanted, (one) => listAgentSummaries(stores.agents, tenant, one));
  const isUnfiltered = categories === undefined && tags === undefined && canvasType === undefined;
  const canvas = items.map((agent) => ({ ...agentItem.of(agent, tenant), ...(isUnfiltered ? { type: 'agent' } : {}) }));
  return { ...success({ canvas, total }), ...leftOut(items.length, total, page) };
}

/** What becomes of an agent. */
interface AgentUpdate {
  readonly change: AgentChange;
  /** When the stored agent must have been changed last. @default any time */
  readonly ifUpdatedAt?: number | undefined;
}

/** Stores a change, later than the one before, so that no two have the same time. @throws EngineError CONFLICT (HTTP 409). */
async function change(parts: ServerParts, tenant: string, before: AgentRecord, { change, ifUpdatedAt }: AgentUpdate) {
  const updatedAt = Math.max(parts.now(), before.updatedAt + 1);
  const expected = ifUpdatedAt === undefined ? undefined : { updatedAt: ifUpdatedAt };
  try {
    return await parts.stores.agents.update(tenant, before.id, { ...change, updatedAt }, expected);
  } catch (error) {
    if (!EngineError.is(error) || error.code !== 'CONFLICT' || !isJsonObject(error.details)) throw error;
    const message = `The agent has been changed meanwhile: its update_time is ${String(error.details.stored)}, not ${ifUpdatedAt}. Read it, and save again.`;
    throw new EngineError('CONFLICT', message, { details: { httpStatus: 409 } });
  }
}

/** Every tag and how many agents have it. */
async function countTags({ tenant, query }: RouteRequest<never, typeof tagsQuery>, { stores }: ServerParts) {
  const tallies = await stores.agents.tally(
    tenant,
    { ...ALL, ...given({ categories: query.canvas_category }) },
    'tags',
  );
  return success(tallies.filter(({ value }) => value !== '').map(({ value: tag, count }) => ({ tag, count })));
}

/** Which values the filters of the list can have, and how many agents each has. */
async function filtersOf(agents: AgentStore, tenant: string): Promise<object> {
  const counts = await agents.tally(tenant, ALL, 'category');
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  return {
    filter: {
      owner: total === 0 ? [] : [{ id: tenant, label: tenant, count: total }],
      canvas_category: counts.map(({ value: id, count }) => ({ id, count })),
    },
    total,
  };
}

/** Stores a new agent and gives its view. @throws EngineError BAD_REQUEST, CONFLICT; DOCUMENT_INVALID when it is to be published. */
export async function insertAgent(parts: ServerParts, tenant: string, input: AgentInput): Promise<object> {
  const { title, dsl, fields, publishes } = input;
  if (dsl === undefined) throw badArgument('No DSL data in request.');
  if (title === undefined) throw badArgument('No title in request.');
  const issues = parts.checkDocument(dsl);
  if (publishes) requireSound(issues);
  const now = parts.now();
  const agent: AgentRecord = {
    id: createId(),
    title,
    description: null,
    avatar: null,
    permission: 'me',
    canvasType: null,
    canvasCategory: DEFAULT_CATEGORY,
    tags: '',
    ...fields,
    dsl,
    createdAt: now,
    updatedAt: now,
  };
  await parts.stores.agents.insert(tenant, agent);
  if (publishes) await publish(parts, tenant, agent, {});
  const stored = (await parts.stores.agents.find(tenant, agent.id)) ?? agent;
  return { ...agentView.of(stored, tenant), issues };
}

/** A draft without what conversations left in it. @throws EngineError DOCUMENT_INVALID. */
function resetDraft(dsl: JsonObject): JsonObject {
  const { document, issues } = readDocument(dsl);
  if (document === undefined) {
    throw new EngineError('DOCUMENT_INVALID', 'The draft cannot be read, so it cannot be reset.', {
      details: { issues },
    });
  }
  return withReset(dsl, resetDocument(document));
}

/** The document as its author wrote it, with the parts that conversations change taken from `reset`. */
function withReset(dsl: JsonObject, reset: Document): JsonObject {
  const components = isJsonObject(dsl.components) ? { components: cleared(dsl.components, reset) } : {};
  if (reset.version === 2) return { ...dsl, ...components };
  const { globals, history, retrieval, memory, path } = reset;
  return { ...dsl, ...components, globals, history, retrieval, memory, path };
}

function cleared(components: JsonObject, reset: Document): JsonObject {
  return Object.fromEntries(
    Object.entries(components).map(([id, entry]): [string, Json] => {
      const clean = reset.components[id]?.params;
      return [id, clean === undefined ? entry : withParams(entry, clean)];
    }),
  );
}

/** Parameters lie under `obj`, or in the entry itself in the flat form. */
function withParams(entry: Json, clean: JsonObject): Json {
  if (!isJsonObject(entry)) return entry;
  if (isJsonObject(entry.obj)) return { ...entry, obj: withParams(entry.obj, clean) };
  const { params } = entry;
  if (!isJsonObject(params)) return entry;
  const slots = SLOTS.filter((name) => Object.hasOwn(params, name) && Object.hasOwn(clean, name));
  const values = Object.fromEntries(slots.map((name) => [name, clean[name] as Json]));
  return { ...entry, params: { ...params, ...values } };
}
