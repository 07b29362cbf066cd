/** Assistants that people chat with: list, create, read, change, delete. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { createId } from '../../hosting/ids.js';
import { badArgument } from '../../hosting/refusals.js';
import type { Json, JsonObject } from '../../json.js';
import { type AgentQuery, type AgentRecord, CHAT_CATEGORY, isAssistant } from '../../records/agents.js';
import { deleteAgent } from '../agents/delete-agent.js';
import { type Envelope, leftOut, success } from '../envelope.js';
import { given, listFitting, PAGE_BYTES } from '../http/input.js';
import type { RouteGroup, RouteRequest } from '../http/route.js';
import { looseRoute } from '../ragflow/dialect.js';
import type { ServerParts } from '../server-parts.js';
import { whole } from '../shapes.js';
import { documentOf, settingsOf } from './assistant.js';
import { type AssistantSettings, type ChangeKind, changedSettings, DEFAULT_SETTINGS } from './assistant-settings.js';
import { assistantShape, showAssistants } from './assistant-view.js';
import { checkNamed } from './check-settings.js';
import { type Deletion, deletionBody, deletionShape, readDeletion, sumUp } from './deletion.js';
import { exclusively } from './exclusively.js';
import { assistantOf, findChat } from './find-chat.js';
import { chatPage, chatsQuery, orderOfChats } from './list-query.js';
import { chatBusy, dataError } from './refusals.js';

/** Longest name, in bytes. */
const MAX_NAME = 255;
const MAX_DESCRIPTION = 65_536;
/** A picture of 768 KB as a data URL. Lists have all of them. */
const MAX_ICON = 1_048_576;

/** Assistants that are deleted without being named are read so many at a time. */
const BATCH = 100;

const object = z.unknown().optional();
const assistantBody = z.looseObject({
  name: object.describe('Unique, without regard to case; at most 255 bytes.'),
  description: object.describe('What it is for.'),
  icon: object.describe('A picture as a data URL.'),
  dataset_ids: object.describe('Ids of datasets, each with at least one parsed document.'),
  llm_id: object.describe('A chat model; default that of the server.'),
  llm_setting: object.describe('`temperature`, `top_p`, `presence_penalty`, `frequency_penalty`, `max_tokens`.'),
  prompt_config: object.describe(
    '`system` (instructions), `prologue` (opens sessions), `empty_response` (said when nothing is found; empty: the model answers), `quote`.',
  ),
  similarity_threshold: object.describe('Passages below it are left out; default 0.1.'),
  vector_similarity_weight: object.describe('Share of vectors in the score; default 0.3.'),
  top_n: object.describe('Passages for the model; default 6.'),
  top_k: object.describe('Candidates of the search; default 1024.'),
  rerank_id: object.describe('A model that ranks results again; default none.'),
  language: object.describe('Stored for clients; answers are in the language of the question.'),
});

const assistantsShape = z.looseObject({ chats: z.array(assistantShape), total: whole });

export const assistantRoutes: RouteGroup = {
  name: 'chats',
  description: 'Assistants that people chat with, over datasets, in RAGFlow’s forms.',
  routes: [
    looseRoute('GET /chats', {
      summary: 'Lists assistants',
      reserves: PAGE_BYTES,
      query: chatsQuery,
      data: assistantsShape,
      handle: list,
    }),
    looseRoute('POST /chats', {
      summary: 'Creates an assistant',
      body: assistantBody,
      data: assistantShape,
      handle: create,
    }),
    looseRoute('DELETE /chats', {
      summary: 'Deletes assistants with their sessions and runs',
      body: deletionBody,
      data: deletionShape,
      handle: removeMany,
    }),
    looseRoute('GET /chats/:chat', {
      summary: 'Reads an assistant',
      reserves: PAGE_BYTES,
      finds: findChat,
      data: assistantShape,
      handle: async ({ tenant, found }, parts) => success((await showAssistants(parts, tenant, [found]))[0]),
    }),
    ...(
      [
        ['PUT', 'replace', 'Changes what is sent; prompt and settings of the model are replaced as wholes'],
        ['PATCH', 'merge', 'Changes what is sent; prompt and settings of the model are merged by their names'],
      ] as const
    ).map(([method, kind, summary]) =>
      looseRoute(`${method} /chats/:chat`, {
        summary,
        finds: findChat,
        body: assistantBody,
        data: assistantShape,
        handle: ({ tenant, params, body }, parts) => change(parts, tenant, params.chat, { body, kind }),
      }),
    ),
    looseRoute('DELETE /chats/:chat', {
      summary: 'Deletes an assistant with its sessions and runs',
      finds: findChat,
      data: z.boolean(),
      handle: async ({ tenant, found }, parts) => {
        if (!(await deleteAgent(parts, tenant, found.id))) throw dataError(`Failed to delete chat ${found.id}`);
        return success(true);
      },
    }),
  ],
};

async function list({ tenant, query }: RouteRequest<never, typeof chatsQuery>, parts: ServerParts): Promise<Envelope> {
  const { id, name, keywords, owner_ids: owners } = query;
  const order = orderOfChats(query);
  const page = chatPage(query);
  // Assistants belong to one tenant: those of others are none.
  if (owners.length > 0 && !owners.includes(tenant)) return success({ chats: [], total: 0 });
  const isExact = id !== undefined || name !== undefined;
  const wanted: AgentQuery = {
    ...page,
    ...order,
    categories: [CHAT_CATEGORY],
    ...given({ id, title: name, keywords: isExact ? undefined : keywords }),
  };
  const { items, total } = await listFitting(wanted, (one) => parts.stores.agents.list(tenant, one));
  const chats = await showAssistants(parts, tenant, items);
  return { ...success({ chats, total }), ...leftOut(items.length, total, page) };
}

async function create(
  { tenant, body }: RouteRequest<never, z.ZodObject, typeof assistantBody>,
  parts: ServerParts,
): Promise<Envelope> {
  const given = body as JsonObject;
  refuseTenant(given);
  const title = readName(given, '`name` is required');
  if (title === undefined) throw dataError('`name` is required');
  const settings = changedSettings(DEFAULT_SETTINGS, given, 'create');
  await checkNamed(parts, tenant, settings);
  const now = parts.now();
  const agent: AgentRecord = {
    id: createId(),
    title,
    description: readText(given, 'description', MAX_DESCRIPTION) ?? 'A helpful Assistant',
    avatar: readText(given, 'icon', MAX_ICON) ?? null,
    permission: 'me',
    canvasType: null,
    canvasCategory: CHAT_CATEGORY,
    tags: '',
    dsl: fittingDocument(parts, settings, title),
    createdAt: now,
    updatedAt: now,
  };
  await parts.stores.agents.insert(tenant, agent).catch(nameTaken('duplicated chat name in creating chat'));
  return success((await showAssistants(parts, tenant, [agent]))[0]);
}

/** What a request changes, and how it meets what is stored. */
interface Change {
  readonly body: object;
  readonly kind: ChangeKind;
}

/** One change at a time: a change is made from what the one before it left. */
async function change(parts: ServerParts, tenant: string, id: string, { body, kind }: Change): Promise<Envelope> {
  const given = body as JsonObject;
  if (kind === 'replace') refuseTenant(given);
  const title = readName(given, kind === 'replace' ? '`name` is required' : '`name` cannot be empty', kind === 'merge');
  const description = readText(given, 'description', MAX_DESCRIPTION);
  const avatar = readText(given, 'icon', MAX_ICON);
  const changed = await exclusively(parts, { tenant, name: `chat:${id}`, refusal: chatBusy }, async () => {
    const before = await assistantOf(parts, tenant, id);
    const settings = changedSettings(settingsOf(before), given, kind);
    await checkNamed(parts, tenant, namedBy(given, settings));
    return parts.stores.agents
      .update(tenant, id, {
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        ...(avatar !== undefined && { avatar }),
        dsl: fittingDocument(parts, settings, title ?? before.title),
        updatedAt: parts.now(),
      })
      .catch(nameTaken('duplicated chat name'));
  });
  if (changed === undefined) throw dataError('Chat not found!');
  return success((await showAssistants(parts, tenant, [changed]))[0]);
}

/** What of the settings a body names: what stays may name what is gone. */
function namedBy(body: JsonObject, settings: AssistantSettings): Partial<AssistantSettings> {
  const names = ['dataset_ids', 'llm_id', 'rerank_id'] as const;
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(body, name) ? [[name, settings[name]]] : [])));
}

async function removeMany(
  { tenant, body }: RouteRequest<never, z.ZodObject, typeof deletionBody>,
  parts: ServerParts,
): Promise<Envelope> {
  const deletion = readDeletion(body, 'chat');
  const missing = (id: string): string => `Chat(${id}) not found.`;
  if (deletion.all) return sumUp({ count: await removeAll(parts, tenant), errors: [] }, 'chats');
  return sumUp(await removeNamed(parts, tenant, deletion, missing), 'chats');
}

async function removeNamed(
  parts: ServerParts,
  tenant: string,
  { ids, twice }: Deletion,
  missing: (id: string) => string,
): Promise<{ readonly count: number; readonly errors: readonly string[] }> {
  let count = 0;
  const errors: string[] = [];
  for (const id of ids) {
    const found = await parts.stores.agents.find(tenant, id);
    if (found !== undefined && isAssistant(found) && (await deleteAgent(parts, tenant, id))) count += 1;
    else errors.push(missing(id));
  }
  return { count, errors: [...errors, ...twice] };
}

async function removeAll(parts: ServerParts, tenant: string): Promise<number> {
  let count = 0;
  for (;;) {
    const query = {
      categories: [CHAT_CATEGORY],
      offset: 0,
      limit: BATCH,
      orderBy: 'createdAt',
      descending: false,
    } as const;
    const { items } = await parts.stores.agents.select(tenant, query, ['created_at']);
    let deleted = 0;
    for (const { id } of items) if (await deleteAgent(parts, tenant, id)) deleted += 1;
    count += deleted;
    // Another request may delete the same ones.
    if (items.length < BATCH || deleted === 0) return count;
  }
}

function refuseTenant({ tenant_id }: JsonObject): void {
  if (tenant_id) throw dataError('`tenant_id` must not be provided');
}

/** The name in a body; undefined when there is none, for a change also when it is null. @throws EngineError NOT_FOUND (envelope 102) */
function readName({ name }: JsonObject, empty: string, takesNull = false): string | undefined {
  if (name === undefined || (takesNull && name === null)) return undefined;
  if (name === null) throw dataError(empty);
  if (typeof name !== 'string') throw dataError('chat name must be a string');
  const trimmed = name.trim();
  if (trimmed === '') throw dataError(empty);
  const bytes = Buffer.byteLength(trimmed);
  if (bytes > MAX_NAME) throw dataError(`chat name length is ${bytes} which is larger than ${MAX_NAME}`);
  return trimmed;
}

function readText(body: JsonObject, name: 'description' | 'icon', most: number): string | undefined {
  const value: Json | undefined = Object.hasOwn(body, name) ? body[name] : undefined;
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value.length <= most) return value;
  throw dataError(`\`${name}\` must be a text of at most ${most} characters.`);
}

/** @throws EngineError BAD_REQUEST for more than a document may have. */
function fittingDocument({ config }: ServerParts, settings: AssistantSettings, name: string): JsonObject {
  const document = documentOf(settings, name);
  if (Buffer.byteLength(JSON.stringify(document)) <= config.documentBytes) return document;
  throw badArgument(
    `The settings of the chat make a document of more than ${config.documentBytes} bytes; shorten its prompt. RUNNEL_DOCUMENT_BYTES of the server says how many it takes.`,
  );
}

/** Says in RAGFlow's words that a name is taken. */
function nameTaken(message: string) {
  return (error: unknown): never => {
    throw EngineError.is(error) && error.code === 'CONFLICT' ? dataError(message) : error;
  };
}
