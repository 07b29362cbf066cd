/** Schemas as data: what a question stores of the schema of its answer, so that it can be checked after a restart. */
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../json.js';
import { pathOfIssue, type StandardResult, type StandardSchema, schemaWriterOf } from '../standard-schema.js';

/** The JSON Schema of what a schema accepts; undefined when its library gives none, or has none for it. */
export function jsonSchemaOf(schema: StandardSchema<unknown, unknown>): JsonObject | undefined {
  try {
    const written = schemaWriterOf(schema)?.input({ target: 'draft-2020-12' });
    return isJsonObject(written) ? written : undefined;
  } catch {
    // A schema with code in it, such as a transformation, cannot be written down; the step checks the answer itself.
    return undefined;
  }
}

/** A JSON Schema as a schema that checks; undefined when it has keywords that cannot be checked here. */
export function schemaOfJson(schema: JsonObject): StandardSchema<unknown, unknown> | undefined {
  try {
    return z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema);
  } catch {
    return undefined;
  }
}

/** What is wrong with a value by a JSON Schema; empty when nothing is, or when the schema cannot be read. */
export function problemsBySchema(schema: JsonObject, value: unknown): readonly string[] {
  let reader: z.ZodType;
  try {
    reader = z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema);
  } catch {
    return [];
  }
  const parsed = reader.safeParse(value);
  return parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => `${['$', ...path].join('.')}: ${message}`);
}

/** Checks a value; gives what the schema makes of it, or what is wrong. Synchronous where the schema is. */
export function validate(
  schema: StandardSchema<unknown, unknown>,
  value: unknown,
  failed: (problems: string) => Error,
): unknown {
  const finish = (result: StandardResult<unknown>): unknown => {
    if (result.issues === undefined) return result.value;
    const problems = result.issues.map((issue) => `${['$', ...pathOfIssue(issue)].join('.')}: ${issue.message}`);
    throw failed(problems.join('; '));
  };
  const result = schema['~standard'].validate(value);
  return result instanceof Promise ? result.then(finish) : finish(result);
}
