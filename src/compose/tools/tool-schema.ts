/** What describes the arguments of a tool: to a model as JSON Schema, and to the tool as the check of what the model wrote. */
import { z } from 'zod';
import { EngineError } from '../../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { invalidOption } from '../../operators/invalid-option.js';
import { pathOfIssue, type StandardResult, type StandardSchema, schemaWriterOf } from '../../standard-schema.js';

/** A Standard Schema that gives a JSON Schema as well (zod from 4.2, arktype, valibot with its adapter …), or a JSON Schema itself. */
export type ToolInput = StandardSchema<unknown, unknown> | JsonObject;

/** What a tool receives after the check. */
export type ArgumentsOf<I> = I extends StandardSchema<unknown, infer A> ? A : JsonObject;

/** The arguments of a tool. */
export interface ToolArguments {
  /** A JSON Schema of an object, as models get it. */
  readonly parameters: JsonObject;
  check(args: JsonObject): StandardResult<unknown> | Promise<StandardResult<unknown>>;
}

/** Problems of arguments that an error names; the rest is counted. */
const MAX_ISSUES = 100;

/**
 * Reads what describes the arguments of a tool. `owner` begins the messages: `Tool "search"`.
 *
 * @throws EngineError OPTION_INVALID for a schema that gives no JSON Schema, is none of an object, or has keywords that cannot be checked here
 * (`not`, `if`, `unevaluatedProperties`, `dependentRequired`, references to other files).
 */
export function readToolInput(owner: string, input: ToolInput | undefined): ToolArguments {
  if (input === undefined) return { parameters: NO_PARAMETERS, check: (value) => ({ value }) };
  if (isStandardSchema(input)) {
    const { validate } = input['~standard'];
    return { parameters: objectSchema(owner, describe(owner, input)), check: validate };
  }
  if (!isJsonObject(input)) throw invalidOption(owner, 'input', EXPECTED, input);
  const parameters = objectSchema(owner, input);
  return { parameters, check: checkOf(owner, parameters) };
}

/**
 * The arguments after the check; at once where the schema checks at once.
 *
 * @throws EngineError TOOL_ARGUMENTS with every issue, in words for the model; `details.issues` has them one by one.
 */
export function checkArguments(name: string, { check }: ToolArguments, args: JsonObject): unknown {
  const result = check(args);
  return result instanceof Promise ? result.then((settled) => checkedValue(name, settled)) : checkedValue(name, result);
}

function checkedValue(name: string, result: StandardResult<unknown>): unknown {
  if (result.issues === undefined) return result.value;
  const issues = result.issues.map((issue) => ({ path: pathOfIssue(issue).join('.'), message: issue.message }));
  const named = issues.slice(0, MAX_ISSUES).map(({ path, message }) => `${path || 'arguments'}: ${message}`);
  const more = issues.length > MAX_ISSUES ? `; and ${issues.length - MAX_ISSUES} more` : '';
  throw new EngineError(
    'TOOL_ARGUMENTS',
    `The arguments of ${name} do not fit: ${named.join('; ')}${more}. Call it again with arguments that fit.`,
    { details: { tool: name, issues: issues.slice(0, MAX_ISSUES) } },
  );
}

const NO_PARAMETERS: JsonObject = Object.freeze({ type: 'object', properties: Object.freeze({}) });

const EXPECTED = 'a Standard Schema that gives a JSON Schema, or a JSON Schema';

function isStandardSchema(input: ToolInput): input is StandardSchema {
  // Some libraries have schemas that are functions.
  return (typeof input === 'object' || typeof input === 'function') && input !== null && '~standard' in input;
}

function describe(owner: string, schema: StandardSchema): unknown {
  const writer = schemaWriterOf(schema);
  if (writer === undefined) {
    throw new EngineError(
      'OPTION_INVALID',
      `${owner}: "input" is a schema of ${schema['~standard'].vendor} that gives no JSON Schema, so no model could be told of it. Use a version of the library that does, or give a JSON Schema.`,
    );
  }
  try {
    // A type without JSON Schema, such as a date, is anything to the model and checked by the schema itself.
    return writer.input({ target: 'draft-2020-12', libraryOptions: { unrepresentable: 'any' } });
  } catch (cause) {
    throw notUsable(owner, cause);
  }
}

function objectSchema(owner: string, schema: unknown): JsonObject {
  if (!isJsonObject(schema)) throw invalidOption(owner, 'input', EXPECTED, schema);
  const { $schema: _, type = 'object', ...rest } = schema as Readonly<Record<string, Json>>;
  if (type === 'object') return { type, ...rest };
  throw new EngineError(
    'OPTION_INVALID',
    `${owner}: "input" must describe an object, since models write arguments by name; received the type ${JSON.stringify(type)}. Make it a field of an object.`,
  );
}

function checkOf(owner: string, parameters: JsonObject): ToolArguments['check'] {
  try {
    return z.fromJSONSchema(parameters as never)['~standard'].validate;
  } catch (cause) {
    throw notUsable(owner, cause);
  }
}

function notUsable(owner: string, cause: unknown): EngineError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new EngineError('OPTION_INVALID', `${owner}: "input" cannot be used: ${why}. Describe it in another way.`, {
    cause,
  });
}
