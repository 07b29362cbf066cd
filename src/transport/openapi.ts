/** The OpenAPI document of declared routes. */
import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { type Access, type AnswerKind, type Method, type Route, type RouteGroup, route } from './http/route.js';

/** An OpenAPI document, as JSON. */
export type ApiDescription = ReturnType<OpenApiGeneratorV31['generateDocument']>;

const SECURITY: Readonly<Record<Access, NonNullable<RouteConfig['security']>>> = {
  open: [],
  key: [{ key: [] }],
  configured: [{ key: [] }],
  page: [{ key: [] }, { page: [] }],
  bot: [{ key: [] }, { page: [] }],
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

/** The OpenAPI 3.1 document of `groups` below `prefix`, made of the schemas by which requests are read. */
export function describeApi(prefix: string, groups: readonly RouteGroup[]): ApiDescription {
  const registry = new OpenAPIRegistry();
  for (const [name, description] of SCHEMES) {
    registry.registerComponent('securitySchemes', name, { type: 'http', scheme: 'bearer', description });
  }
  for (const { name, routes } of groups) {
    for (const route of routes) registry.registerPath(toPath(prefix, name, route));
  }
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Runnel',
      version: '1',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        'Agents as RAGFlow serves them. Business errors are HTTP 200 with a `code` other than 0; 400 (broken JSON), 401, 403, 404, 413, 429, 500 and 501 are what they say. Webhooks and the paths of OpenAI answer with real statuses.',
    },
    // The server that gives the document.
    servers: [{ url: '/' }],
    tags: groups.map(({ name, description }) => ({ name, description })),
  });
}

/** `GET /openapi.json`: the document of all `groups`, of which this is one. */
export function openapiRoutes(prefix: string, groups: () => readonly RouteGroup[]): RouteGroup {
  let text: string | undefined;
  return {
    name: 'openapi',
    description: 'This description.',
    routes: [
      route('GET /openapi.json', {
        summary: 'This description',
        access: 'open',
        answers: 'any',
        handle: ({ exchange }) => {
          // Made once, for anyone may ask, and with the first request: it takes longer than starting the server.
          text ??= JSON.stringify(describeApi(prefix, groups()));
          exchange.type = 'application/json';
          return text;
        },
      }),
    ],
  };
}

function toPath(prefix: string, tag: string, route: Route): RouteConfig {
  const { method, path, summary, query, access = 'key' } = route;
  const names = [...path.matchAll(/:([a-z_]+)/g)].map(([, name]) => name as string);
  const body = bodyOf(route);
  const lower = method.toLowerCase() as Lowercase<Method>;
  return {
    method: lower,
    path: `${prefix}${path.replace(/:([a-z_]+)/g, '{$1}')}`,
    operationId: `${lower}${path.replace(/[^A-Za-z]+(.)?/g, (_, next: string | undefined) => next?.toUpperCase() ?? '')}`,
    tags: [tag],
    summary,
    security: SECURITY[access],
    request: {
      ...(names.length === 0 ? {} : { params: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))) }),
      ...(query === undefined ? {} : { query }),
      ...(body === undefined ? {} : { body }),
    },
    responses: {
      200: answerOf(route),
      ...(access === 'open' ? {} : { 401: { description: 'There is no good key.', content: json(failure) } }),
      '4XX': { description: 'The request was refused.', content: json(failure) },
    },
  };
}

function bodyOf({ method, body, takes }: Route): NonNullable<RouteConfig['request']>['body'] {
  if (body === 'files') {
    const file = z.string().meta({ format: 'binary' }).describe('May be repeated.');
    return { content: { 'multipart/form-data': { schema: z.object({ file: file.optional() }) } } };
  }
  if (body === 'anything') return method === 'GET' ? undefined : { content: { '*/*': { schema: z.unknown() } } };
  const schema = takes ?? body;
  return schema === undefined ? undefined : { content: json(schema) };
}

function answerOf({ answers = 'envelope', data }: Route): RouteConfig['responses'][string] {
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
