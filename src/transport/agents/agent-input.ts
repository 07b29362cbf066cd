/** What clients say about an agent when they create or change it. */
import { z } from 'zod';
import { badArgument } from '../../hosting/refusals.js';
import { isJsonObject, isTooDeep, type JsonObject, MAX_JSON_DEPTH } from '../../json.js';
import type { AgentRecord } from '../../records/stores.js';
import { readInput } from '../read-input.js';
import { flagSchema, isTruthy } from '../truth.js';
import { readTags, tagsSchema } from './tags.js';

const MAX_TITLE = 255;

const text = z.string({ error: 'expected a text' }).nullish();

/** What clients may say about an agent. */
export const agentSchema = z.looseObject({
  title: text.describe('Unique per category, without regard to case; at most 255 characters.'),
  description: text.describe('What it is for.'),
  avatar: text.describe('A picture as a data URL.'),
  permission: z
    .enum(['me', 'team'], { error: 'expected "me" or "team"' })
    .nullish()
    .describe('Kept for clients; an agent is always the tenant\'s alone. Default "me".'),
  canvas_type: text.describe('Free text for lists.'),
  canvas_category: z.string({ error: 'expected a text' }).min(1).nullish().describe('Default "agent_canvas".'),
  tags: tagsSchema.nullish().describe('Comma-separated, or a list.'),
  dsl: z.unknown().optional().describe('The document, an object or its JSON text; a draft may be incomplete.'),
  release: flagSchema.nullish().describe('true, "true" or 1 also publishes the document.'),
});

/** A change of an agent; what the client did not mention is absent. */
export interface AgentInput {
  readonly title?: string;
  readonly dsl?: JsonObject;
  readonly fields: Partial<
    Pick<AgentRecord, 'description' | 'avatar' | 'permission' | 'canvasType' | 'canvasCategory' | 'tags'>
  >;
  /** Also publish. */
  readonly publishes: boolean;
}

/** @throws EngineError BAD_REQUEST. */
export function readAgentInput(body: unknown): AgentInput {
  const given = readInput(agentSchema, body);
  const { description, avatar, permission, canvas_type, canvas_category, tags } = given;
  return {
    ...(given.title === undefined || given.title === null ? {} : { title: readTitle(given.title) }),
    ...(given.dsl === undefined || given.dsl === null ? {} : { dsl: readDsl(given.dsl) }),
    fields: {
      ...(description === undefined ? {} : { description }),
      ...(avatar === undefined ? {} : { avatar }),
      ...(permission === undefined || permission === null ? {} : { permission }),
      ...(canvas_type === undefined ? {} : { canvasType: canvas_type }),
      ...(canvas_category === undefined || canvas_category === null ? {} : { canvasCategory: canvas_category }),
      ...(tags === undefined || tags === null ? {} : { tags: readTags(tags) }),
    },
    publishes: isTruthy(given.release),
  };
}

function readTitle(text: string): string {
  const title = text.trim();
  if (title === '') throw badArgument('No title in request.');
  if (title.length > MAX_TITLE) throw badArgument(`\`title\` must have at most ${MAX_TITLE} characters.`);
  return title;
}

/** A draft may be incomplete; it only has to be one. @throws EngineError BAD_REQUEST. */
export function readDsl(value: unknown): JsonObject {
  const dsl = typeof value === 'string' ? parseDsl(value) : value;
  if (!isJsonObject(dsl)) throw badArgument('DSL must be a JSON object.');
  if (isTooDeep(dsl)) throw badArgument(`The DSL has more than ${MAX_JSON_DEPTH} levels of lists and objects.`);
  if (isJsonObject(dsl.components) || isJsonObject(dsl.graph)) return dsl;
  throw badArgument('DSL must be a JSON object with "components" or "graph".');
}

function parseDsl(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badArgument('Invalid DSL JSON string.');
  }
}
