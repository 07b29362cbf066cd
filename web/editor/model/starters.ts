/** What new components begin with: what their schemas say, and what most people would write first. */
import { ownList, ownObject, ownText, ownValue } from '../../../src/dsl/json-copy.js';
import type { Json, JsonObject } from '../../../src/json.js';

/** Fields whose first value a schema cannot say. Any component may have them. */
const FIRST: Readonly<Record<string, Json>> = {
  prompts: [{ role: 'user', content: '{sys.query}' }],
  method: 'GET',
  datatype: 'json',
};

/** The least that the schema of parameters asks for, and its fields that name a model. */
export function firstParams(schema: JsonObject, model: string | undefined): JsonObject {
  const properties = ownObject(schema, 'properties') ?? {};
  const required = ownList(schema, 'required').filter((name): name is string => typeof name === 'string');
  const wanted = new Set([...required, ...('llm_id' in properties ? ['llm_id'] : [])]);
  const params: Record<string, Json> = {};
  for (const name of wanted) {
    const given = name === 'llm_id' ? model : FIRST[name];
    params[name] = given ?? firstValue(properties[name], schema);
  }
  if ('prompts' in properties && params.prompts === undefined) params.prompts = FIRST.prompts as Json;
  return params;
}

/** The least value that a schema allows. */
export function firstValue(schema: unknown, root: JsonObject): Json {
  const own = resolveSchema(schema, root);
  const given = ownValue(own, 'default') ?? ownList(own, 'enum')[0];
  if (given !== undefined) return given;
  switch (typeOf(own)) {
    case 'array': {
      const least = ownValue(own, 'minItems');
      return typeof least === 'number' && least > 0 ? [firstValue(ownValue(own, 'items'), root)] : [];
    }
    case 'object': {
      const properties = ownObject(own, 'properties') ?? {};
      const required = ownList(own, 'required').filter((name): name is string => typeof name === 'string');
      return Object.fromEntries(required.map((name) => [name, firstValue(properties[name], root)]));
    }
    case 'number':
    case 'integer': {
      const least = ownValue(own, 'minimum');
      return typeof least === 'number' && least > 0 ? least : 0;
    }
    case 'boolean':
      return false;
    default:
      return '';
  }
}

/** A schema behind its reference, and the one that matters where null is allowed beside it; `description` and `default` of the outer one stay. */
export function resolveSchema(schema: unknown, root: JsonObject): JsonObject {
  let own: JsonObject = (ownObject({ schema }, 'schema') ?? {}) as JsonObject;
  for (let depth = 0; depth < 8; depth += 1) {
    const reference = ownText(own, '$ref');
    const [found, outer] = splitOuter(own);
    if (reference !== undefined) {
      const name = reference.split('/').at(-1) ?? '';
      own = { ...ownObject(ownObject(root, '$defs'), name), ...outer };
      continue;
    }
    const choices = ownList(found, 'anyOf').filter((one) => ownText(one, 'type') !== 'null');
    if (choices.length !== 1) return own;
    own = { ...(ownObject({ one: choices[0] }, 'one') ?? {}), ...outer };
  }
  return own;
}

function splitOuter(schema: JsonObject): readonly [rest: JsonObject, outer: JsonObject] {
  const { description, default: given } = schema;
  return [
    schema,
    { ...(description !== undefined && { description }), ...(given !== undefined && { default: given }) },
  ];
}

/** The type of a schema without null; undefined where it may be several. */
export function typeOf(schema: JsonObject): string | undefined {
  const { type } = schema;
  if (typeof type === 'string') return type;
  const types = ownList(schema, 'type').filter((one): one is string => typeof one === 'string' && one !== 'null');
  return types.length === 1 ? types[0] : undefined;
}
