/** Routes as data: each is declared once, and the router, the parsing, the guards and the OpenAPI document are made from that. */
import type { ParsedUrlQuery } from 'node:querystring';
import type { ParameterizedContext } from 'koa';
import type { z } from 'zod';
import type { EngineError } from '../../errors.js';
import { invalidOption, requireObject } from '../../operators/invalid-option.js';
import type { Caller } from '../access/callers.js';
import type { RouteParts, ServerParts } from '../server-parts.js';

/** A method of HTTP that routes may have. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call a route: anyone; keys of the API; of these only the ones of the settings; those and the keys of chat pages; the same, refused in the words that chat
 * pages know; the administrator (such a route exists only on a server with an administrator's key).
 */
export type Access = 'open' | 'key' | 'configured' | 'page' | 'bot' | 'admin';

/** What a route answers with, for its description. */
export type AnswerKind =
  /** RAGFlow's envelope around `data`. */
  | 'envelope'
  /** The envelope around one page of a list, with the length of the whole list in `total`. */
  | 'page'
  /** A stream of events, or the envelope when the client does not stream. */
  | 'events'
  | 'openai'
  | 'file'
  | 'text'
  | 'any';

/** What a body can be beside JSON that a schema reads: multipart with files in the field `file`, or bytes of any type. */
export type BodyKind = 'files' | 'anything';

/** What every request knows after its key was checked. */
export type RequestState = Caller;

/** A request and its answer, as Koa has them. */
export type HttpExchange = ParameterizedContext<RequestState> & {
  /** Parameters of the path. */
  params: Readonly<Record<string, string>>;
};

/** Names of the parameters in a path: `id` and `run` of `/agents/:id/runs/:run`. */
export type NamesIn<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<Rest>
  : P extends `${string}:${infer Name}`
    ? Name
    : never;

/** The query of a route that declares none. */
export type NoQuery = z.ZodObject<Record<never, never>>;

/** What is known of a request before its query and body are read. */
export interface PathRequest<Name extends string> extends Readonly<RequestState> {
  /** Parameters of the path. Those that name records have 1 to 255 characters and no control characters. */
  readonly params: Readonly<Record<Name, string>>;
}

/** A request whose parameters, query and body were parsed by the route's declaration. */
export interface RouteRequest<
  Name extends string,
  Q extends z.ZodType = NoQuery,
  B extends z.ZodType = z.ZodUnknown,
  Found = undefined,
> extends PathRequest<Name> {
  /** What `finds` of the declaration gave. */
  readonly found: Found;
  readonly query: z.output<Q>;
  readonly body: z.output<B>;
  /** Headers, sockets and the answer, for what the rest does not cover. */
  readonly exchange: HttpExchange;
}

/** How routes read what clients send, and in which words they refuse it. All of it may throw an EngineError. */
export interface Dialect {
  /** The refusal of a request without a valid key. */
  readonly noKey: (message: string) => EngineError;
  /** Reads a query as it came. */
  readonly query: <Q extends z.ZodObject>(schema: Q, query: ParsedUrlQuery) => z.output<Q>;
  /** Refuses a body by its head, before it is read. */
  readonly checkBody: (exchange: HttpExchange) => void;
  /** The value of the text of a body; the text is empty when there is no body. */
  readonly parse: (text: string) => unknown;
  /** Reads that value. */
  readonly body: <B extends z.ZodType>(schema: B, value: unknown) => z.output<B>;
}

/** What a route declares beside its method and path. */
export interface RouteSpec<Name extends string, Q extends z.ZodObject, B extends z.ZodType, Found, Parts = RouteParts> {
  readonly summary: string;
  /** @default 'key' */
  readonly access?: Access;
  /** Finds the record that the path names, or refuses; a malformed query or body of a record that is not the caller's is not read. */
  readonly finds?: (request: PathRequest<Name>, parts: Parts) => Promise<Found>;
  /** Reads the query: repeated parameters count once (the last one), empty ones are absent. @default nothing of it */
  readonly query?: Q;
  /** Reads the body. @default JSON that no schema checks */
  readonly body?: B | BodyKind;
  /** Describes a JSON body of which the handler reads more than `body` does, because several forms are possible. */
  readonly takes?: z.ZodType;
  /** @default 'envelope' */
  readonly answers?: AnswerKind;
  /** Bytes that are read for an answer at most, mostly: it is begun when so many are free, see `AnswersInFlight`. @default small */
  readonly reserves?: number;
  /** What `data` holds in the envelope. */
  readonly data?: z.ZodType;
  /** @default that of this server: JSON by a guard, and every mismatch in one sentence */
  readonly dialect?: Dialect;
  /** Answers what is thrown on this route, also by its guards. @default RAGFlow's envelope */
  readonly refuse?: (exchange: HttpExchange, error: unknown, parts: Parts) => void;
  /** Gives the body of the answer; undefined: the handler has answered through the exchange. */
  readonly handle: (request: RouteRequest<Name, Q, B, Found>, parts: Parts) => unknown;
}

/** A declared route with its handler. Made by `route`. */
export interface Route extends RouteSpec<string, z.ZodObject, z.ZodType, unknown> {
  readonly method: Method;
  /** Below the prefix of the API: segments that are fixed, or `:` and a name. A fixed one wins over a parameter, whatever the order of declaration. */
  readonly path: string;
}

/** The routes of one resource. */
export interface RouteGroup {
  readonly name: string;
  readonly description: string;
  readonly routes: readonly Route[];
}

/** Declares a route, such as `GET /agents/:id`; the handler gets what the declaration parses, and `Parts`. */
export type DeclareRoute<Parts> = <
  P extends string,
  Q extends z.ZodObject = NoQuery,
  B extends z.ZodType = z.ZodUnknown,
  Found = undefined,
>(
  address: `${Method} ${P}`,
  spec: RouteSpec<NamesIn<P>, Q, B, Found, Parts>,
) => Route;

const ADDRESS = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) \/\S*$/;

/** For the routes of this server. */
export const route: DeclareRoute<ServerParts> = declare;

/** For the routes of an embedder, who imports it as `route`: they work with the parts that are public. */
export const embedderRoute: DeclareRoute<RouteParts> = declare;

/** @throws EngineError OPTION_INVALID */
function declare(address: string, spec: object): Route {
  if (!ADDRESS.test(address))
    throw invalidOption('route', 'address', 'a method and a path, such as "GET /things/:id"', address);
  requireObject('route', 'spec', spec, 'an object with "summary" and "handle"');
  const [method, path] = address.split(' ', 2) as [Method, string];
  // Requests are parsed by the schemas that the handler was typed by.
  return { ...(spec as RouteSpec<string, z.ZodObject, z.ZodType, unknown>), method, path };
}

/** The routes of groups, below a prefix. */
export function routesBelow(prefix: string, groups: readonly RouteGroup[]): readonly Route[] {
  return groups.flatMap(({ routes }) => routes.map((one) => ({ ...one, path: `${prefix}${one.path}` })));
}
