/** Reading an agent from the body of a request that creates or changes it. */
import { z } from 'zod';
import { badArgument } from '../../hosting/refusals.js';
import { isJsonObject, type Json, type JsonObject, jsonExcess, parseJson } from '../../json.js';
import { type AgentRecord, CHAT_CATEGORY } from '../../records/agents.js';
import { bodyText, given, isTruthy, textUpTo } from '../http/input.js';

const MAX_TITLE = 255;
const MAX_DESCRIPTION = 65_536;
/** A picture of 768 KB as a data URL. Lists have all of them. */
const MAX_AVATAR = 1_048_576;

const MAX_TAG = 64;
const MAX_ALL_TAGS = 512;

/** Tags as clients send them: one text, or a list of tags. */
export const tagsSchema = z.union([z.string(), z.array(z.string())], { error: 'expected a text or a list of texts' });

const FLAG = { error: 'expected true or false' };

/** A flag in any of its spellings: a misspelled one is refused, because it must not pass for false. */
const flag = z.union(
  [z.boolean(), z.literal([0, 1]), z.string().regex(/^\s*(?:true|false|yes|no|0|1)?\s*$/i, FLAG)],
  FLAG,
);

/** The properties of an agent, as clients send them. */
export const agentSchema = z.looseObject({
  title: bodyText.describe('Unique per category, without regard to case; at most 255 characters.'),
  description: textUpTo(MAX_DESCRIPTION).describe('What it is for.'),
  avatar: textUpTo(MAX_AVATAR).describe('A picture as a data URL.'),
  permission: z
    .enum(['me', 'team'], { error: 'expected "me" or "team"' })
    .nullish()
    .describe('Stored for clients; an agent is always the tenant\'s alone. Default "me".'),
  canvas_type: textUpTo(MAX_TITLE).describe('Free text for lists.'),
  canvas_category: z
    .string({ error: 'expected a text' })
    .min(1)
    .max(MAX_TITLE)
    .nullish()
    .describe('Default "agent_canvas".'),
  tags: tagsSchema.nullish().describe('Comma-separated, or a list.'),
  dsl: z.unknown().optional().describe('The document, an object or its JSON text; a draft may be incomplete.'),
  release: flag.nullish().describe('true, "true" or 1 also publishes the document.'),
});

/** A change of an agent that is stored. */
export const changeSchema = agentSchema.extend({
  if_update_time: z
    .number({ error: 'expected a number' })
    .nullish()
    .describe('Changes nothing, HTTP status 409, unless this is the stored `update_time`.'),
});

/** A change of an agent; what the request does not contain is absent. */
export interface AgentInput {
  readonly title?: string;
  readonly dsl?: JsonObject;
  readonly fields: Partial<
    Pick<AgentRecord, 'description' | 'avatar' | 'permission' | 'canvasType' | 'canvasCategory' | 'tags'>
  >;
  /** Also publish. */
  readonly publishes: boolean;
}

/** @param maxBytes of the document. @throws EngineError BAD_REQUEST. */
export function readAgentInput(body: z.output<typeof agentSchema>, maxBytes: number): AgentInput {
  if (body.canvas_category === CHAT_CATEGORY) {
    throw badArgument(`The category "${CHAT_CATEGORY}" is for assistants, which \`POST /chats\` makes.`);
  }
  const { title, dsl, description, avatar, permission, canvas_type, canvas_category, tags, release } = body;
  return {
    ...(title === undefined || title === null ? {} : { title: readTitle(title) }),
    ...(dsl === undefined || dsl === null ? {} : { dsl: readDsl(dsl, maxBytes) }),
    fields: {
      ...(description === undefined ? {} : { description }),
      ...(avatar === undefined ? {} : { avatar }),
      ...(canvas_type === undefined ? {} : { canvasType: canvas_type }),
      ...given({ permission, canvasCategory: canvas_category }),
      ...(tags === undefined || tags === null ? {} : { tags: readTags(tags) }),
    },
    publishes: isTruthy(release),
  };
}

function readTitle(text: string): string {
  const title = text.trim();
  if (title === '') throw badArgument('No title in request.');
  if (title.length > MAX_TITLE) throw badArgument(`\`title\` must have at most ${MAX_TITLE} characters.`);
  return title;
}

/** A draft may be incomplete; it only has to be one. @param maxBytes as JSON. @throws EngineError BAD_REQUEST. */
export function readDsl(value: unknown, maxBytes: number): JsonObject {
  const dsl = typeof value === 'string' ? parseDsl(value, maxBytes) : value;
  if (!isJsonObject(dsl)) throw badArgument('DSL must be a JSON object.');
  if (typeof value !== 'string' && Buffer.byteLength(JSON.stringify(dsl)) > maxBytes) {
    throw tooMuch(`has more than ${maxBytes} bytes`);
  }
  if (isJsonObject(dsl.components) || isJsonObject(dsl.graph)) return dsl;
  throw badArgument('DSL must be a JSON object with "components" or "graph".');
}

function parseDsl(text: string, maxBytes: number): Json {
  const excess = jsonExcess(text, { maxBytes });
  if (excess !== undefined) throw tooMuch(excess);
  const value = parseJson(text);
  if (value === undefined) throw badArgument('Invalid DSL JSON string.');
  return value;
}

function tooMuch(excess: string): Error {
  const hint = excess.endsWith('bytes') ? ' RUNNEL_DOCUMENT_BYTES of the server says how many it takes.' : '';
  return badArgument(`The DSL ${excess}.${hint}`);
}

/**
 * Tags as they are stored: comma-separated, each once without regard to case, 64 characters at most, 512 together. What does not
 * fit is left out. A comma within an entry of a list is a blank.
 */
export function readTags(given: z.output<typeof tagsSchema>): string {
  const parts = typeof given === 'string' ? given.split(',') : given.map((tag) => tag.replace(/(?<!\s)\s*,\s*/g, ' '));
  const unique = new Map<string, string>();
  let length = 0;
  for (const part of parts) {
    const tag = part.trim().slice(0, MAX_TAG).trim();
    const needed = tag.length + (unique.size === 0 ? 0 : 1);
    if (tag === '' || unique.has(tag.toLowerCase()) || length + needed > MAX_ALL_TAGS) continue;
    unique.set(tag.toLowerCase(), tag);
    length += needed;
  }
  return [...unique.values()].join(',');
}
