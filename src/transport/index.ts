/** The server: REST, event streams and WebSockets. */

export type { Log } from '../hosting/log.js';
export { readConfig, type ServerConfig } from '../settings/read-settings.js';
export {
  type Access,
  type AnswerKind,
  type BodyKind,
  type HttpExchange,
  type Method,
  type NoQuery,
  type PathRequest,
  type RequestState,
  type Route,
  type RouteGroup,
  type RouteRequest,
  type RouteSpec,
  route,
} from './http/route.js';
export { createServer, type RunnelServer, type ServerOptions } from './server.js';
export type { ServerParts, ServerStores } from './server-parts.js';
