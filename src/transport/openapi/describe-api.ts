import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { agentOperations, templateOperations, versionOperations } from './agent-operations.js';
import { botOperations, fileOperations, runOperations, sessionOperations } from './conversation-operations.js';
import type { Access, AnswerKind, Operation, OperationGroup } from './operation.js';
import { mcpOperations, systemOperations, webhookOperations } from './service-operations.js';

/** An OpenAPI document, as JSON. */
export type ApiDescription = ReturnType<OpenApiGeneratorV31['generateDocument']>;

const GROUPS: readonly OperationGroup[] = [
  agentOperations,
  versionOperations,
  sessionOperations,
  runOperations,
  fileOperations,
  botOperations,
  webhookOperations,
  mcpOperations,
  templateOperations,
  systemOperations,
];

const SECURITY: Readonly<Record<Access, NonNullable<RouteConfig['security']>>> = {
  open: [],
  key: [{ key: [] }],
  page: [{ key: [] }, { page: [] }],
  admin: [{ admin: [] }],
};

const SCHEMES: readonly (readonly [name: string, description: string])[] = [
  ['key', 'A key of the API. A server without keys, which listens on loopback only, needs none.'],
  ['page', 'A beta token, for chat pages.'],
  ['admin', 'The key of the administrator.'],
];

const failure = z
  .looseObject({ code: z.number().int(), message: z.string() })
  .describe('A failure; `code` says of which kind: 101 argument, 102 data, 103 not allowed, 500 inside.');

/** The OpenAPI 3.1 description of everything below `prefix`, made of the schemas by which requests are read. */
export function describeApi(prefix: string): ApiDescription {
  const registry = new OpenAPIRegistry();
  for (const [name, description] of SCHEMES) {
    registry.registerComponent('securitySchemes', name, { type: 'http', scheme: 'bearer', description });
  }
  for (const { name, operations } of GROUPS) {
    for (const operation of operations) registry.registerPath(toRoute(prefix, name, operation));
  }
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Runnel',
      version: '1',
      description:
        'Agents as RAGFlow serves them. Business errors are HTTP 200 with a `code` other than 0; 400 (broken JSON), 401, 403, 404, 413, 429, 500 and 501 are what they say. Webhooks and the paths of OpenAI answer with real statuses.',
    },
    tags: GROUPS.map(({ name, description }) => ({ name, description })),
  });
}

function toRoute(prefix: string, tag: string, operation: Operation): RouteConfig {
  const { method, path, summary, query, access = 'key' } = operation;
  const names = [...path.matchAll(/:([a-z_]+)/g)].map(([, name]) => name as string);
  const body = bodyOf(operation);
  return {
    method,
    path: `${prefix}${path.replace(/:([a-z_]+)/g, '{$1}')}`,
    operationId: `${method}${path.replace(/[^A-Za-z]+(.)?/g, (_, next: string | undefined) => next?.toUpperCase() ?? '')}`,
    tags: [tag],
    summary,
    security: SECURITY[access],
    request: {
      ...(names.length === 0 ? {} : { params: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))) }),
      ...(query === undefined ? {} : { query }),
      ...(body === undefined ? {} : { body }),
    },
    responses: {
      200: answerOf(operation),
      ...(access === 'open' ? {} : { 401: { description: 'There is no good key.', content: json(failure) } }),
    },
  };
}

function bodyOf({ body, uploads, takesAnything }: Operation): NonNullable<RouteConfig['request']>['body'] {
  if (uploads === true) {
    const file = z.string().meta({ format: 'binary' }).describe('May be repeated.');
    return { content: { 'multipart/form-data': { schema: z.object({ file: file.optional() }) } } };
  }
  if (takesAnything === true) return { content: { '*/*': { schema: z.unknown() } } };
  return body === undefined ? undefined : { content: json(body) };
}

function answerOf({ answers = 'envelope', data }: Operation): RouteConfig['responses'][string] {
  const envelope = z.looseObject({
    code: z.number().int().describe('0: success.'),
    message: z.string().optional(),
    ...(data === undefined ? {} : { data: data.optional() }),
  });
  const contents: Readonly<Record<AnswerKind, Record<string, { schema: z.ZodType }>>> = {
    envelope: json(envelope),
    page: json(envelope.extend({ total: z.number().int().optional().describe('Length of the whole list.') })),
    events: { ...json(envelope), 'text/event-stream': { schema: z.string() } },
    openai: { ...json(z.looseObject({})), 'text/event-stream': { schema: z.string() } },
    file: { '*/*': { schema: z.string().meta({ format: 'binary' }) } },
    text: { 'text/plain': { schema: z.string() } },
    any: { '*/*': { schema: z.unknown() } },
  };
  return { description: 'The answer, or a failure in an envelope.', content: contents[answers] };
}

function json(schema: z.ZodType): Record<string, { schema: z.ZodType }> {
  return { 'application/json': { schema } };
}
