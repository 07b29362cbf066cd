/** The server: REST, event streams and WebSockets. */

export type { Log } from '../hosting/log.js';
export { readConfig, type ServerConfig } from '../settings/read-settings.js';
export { createServer, type RunnelServer, type ServerOptions } from './server.js';
export type { ServerStores } from './server-parts.js';
