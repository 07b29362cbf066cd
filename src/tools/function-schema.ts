import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { ToolDefinition } from '../models/chat-model.js';
import type { AnyTool, Shape } from './tool.js';

/** How a tool is shown to one model. */
export interface FunctionOptions {
  /** Its place among the tools of an Agent; behind the name, so that two of a kind differ. @default none */
  readonly index?: number;
  /** In place of the tool's own, where a document says so. */
  readonly name?: string;
  readonly description?: string;
}

/** Longest function name that providers take. */
const MAX_NAME = 64;

/** A tool as a function that a model may call. */
export function definitionOf(tool: AnyTool, { index, name, description }: FunctionOptions = {}): ToolDefinition {
  const own = [tool.summary, tool.advice].filter((part) => part !== undefined && part !== '').join(' ');
  return {
    name: functionName(name ?? tool.name, index),
    description: description ?? own,
    parameters: parametersSchema(tool.arguments as Shape),
  };
}

/** A name that every provider takes: letters, digits, `_` and `-`, with the index behind it. */
export function functionName(name: string, index?: number): string {
  const suffix = index === undefined ? '' : `_${index}`;
  const clean = name
    .trim()
    .replace(/\s+/g, '_')
    .replace(/[^A-Za-z0-9_-]/g, '');
  const started = /^[A-Za-z_]/.test(clean) ? clean : `tool_${clean}`;
  return `${started.slice(0, MAX_NAME - suffix.length)}${suffix}`;
}

/** The JSON schema of named fields; a field is required when it has no default. */
export function parametersSchema(shape: Shape): JsonObject {
  const schema = z.toJSONSchema(z.object({ ...shape }), { io: 'input', unrepresentable: 'any' }) as Json;
  if (!isJsonObject(schema)) return { type: 'object', properties: {} };
  const { $schema: _, additionalProperties: __, ...rest } = schema;
  return { required: [], ...rest };
}
