/** How an author allows calls from outside to start an agent: the parameters of a Begin in the mode `Webhook`, as saved or as an editor holds them. */
import { EngineError } from '../../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { isTruthy } from '../http/input.js';

/** What may be in one part of a call; what is not declared is dropped. */
export interface PartSchema {
  /** Types by name, in the order of the document. */
  readonly types: ReadonlyMap<string, string>;
  readonly required: ReadonlySet<string>;
}

export interface WebhookConfig {
  /** In upper case; empty: all. */
  readonly methods: ReadonlySet<string>;
  /** In lower case; undefined: any. */
  readonly contentType: string | undefined;
  readonly query: PartSchema;
  readonly headers: PartSchema;
  readonly body: PartSchema;
  /** Undefined when nothing is configured. */
  readonly security: JsonObject | undefined;
  /** Whether the caller waits for the answer of the run. */
  readonly waits: boolean;
  readonly response: { readonly status: Json; readonly bodyTemplate: string };
}

/** Reads the configuration out of Begin's parameters; undefined unless they are a webhook's. */
export function readWebhookConfig(params: JsonObject | undefined): WebhookConfig | undefined {
  if (params === undefined || params.mode !== 'Webhook') return undefined;
  const schema = objectOf(params.schema);
  const response = objectOf(params.response);
  const { body_template: template } = response;
  return {
    methods: new Set(textsOf(params.methods).map((method) => method.toUpperCase())),
    contentType: textsOf(params.content_types)[0]?.toLowerCase(),
    query: readSchema(schema.query),
    headers: readSchema(schema.headers),
    body: readSchema(schema.body),
    security: isJsonObject(params.security) ? params.security : undefined,
    waits: params.execution_mode === 'Streaming',
    response: { status: response.status ?? 200, bodyTemplate: typeof template === 'string' ? template : '' },
  };
}

/** Saved documents hold `{properties, required}`, editors `[{key, type, required}]`. */
function readSchema(schema: Json | undefined): PartSchema {
  const types = new Map<string, string>();
  const required = new Set<string>();
  const add = (name: string, type: Json | undefined): void => {
    types.set(name, typeof type === 'string' ? type.trim().toLowerCase() : '');
  };
  if (Array.isArray(schema)) {
    for (const field of schema as readonly Json[]) {
      if (!isJsonObject(field) || typeof field.key !== 'string' || field.key === '') continue;
      add(field.key, field.type);
      if (isTruthy(field.required)) required.add(field.key);
    }
  } else if (isJsonObject(schema)) {
    for (const [name, field] of Object.entries(objectOf(schema.properties))) add(name, objectOf(field).type);
    for (const name of textsOf(schema.required)) required.add(name);
  }
  return { types, required };
}

export function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Texts of a list, of a list of `{value}` as editors store it, or one text alone. @throws EngineError BAD_REQUEST for anything else. */
export function textsOf(value: Json | undefined): readonly string[] {
  if (value === undefined || value === null || value === '') return [];
  const items = Array.isArray(value) ? (value as readonly Json[]) : [value];
  return items.flatMap((item) => {
    const text = isJsonObject(item) ? item.value : item;
    if (typeof text !== 'string')
      throw refuse('The webhook of this agent is not configured correctly: expected texts.');
    return text.trim() === '' ? [] : [text.trim()];
  });
}

/** A refusal of a webhook call; all of them are HTTP 400, in the words of RAGFlow where it has some. */
export function refuse(message: string): EngineError {
  return new EngineError('BAD_REQUEST', message);
}
