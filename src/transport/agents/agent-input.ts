/** What clients say about an agent when they create or change it. */
import { z } from 'zod';
import type { AgentRecord } from '../../graph/service-ports.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { readInput } from '../read-input.js';
import { badArgument } from '../refusals.js';
import { isTruthy } from '../truth.js';

const MAX_TITLE = 255;

const schema = z.looseObject({
  title: z.string({ error: 'expected a text' }).nullish(),
  description: z.string({ error: 'expected a text' }).nullish(),
  avatar: z.string({ error: 'expected a text' }).nullish(),
  permission: z.enum(['me', 'team'], { error: 'expected "me" or "team"' }).nullish(),
  canvas_type: z.string({ error: 'expected a text' }).nullish(),
  canvas_category: z.string({ error: 'expected a text' }).min(1).nullish(),
  tags: z.union([z.string(), z.array(z.string()).transform((tags) => tags.join(','))]).nullish(),
  dsl: z.custom<Json>().optional(),
  release: z.custom<Json>().optional(),
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
  const given = readInput(schema, body);
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
      ...(tags === undefined || tags === null ? {} : { tags }),
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

/** A draft may be incomplete; it only has to be one. */
function readDsl(value: Json): JsonObject {
  const dsl = typeof value === 'string' ? parseDsl(value) : value;
  if (!isJsonObject(dsl)) throw badArgument('DSL must be a JSON object.');
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
