/** The server: REST, event streams and WebSockets. */

export type { Log } from '../hosting/host-options.js';
export { readConfig } from '../settings/read-settings.js';
export { createServer, type RunnelServer } from './server.js';
export type { ServerStores } from './server-parts.js';
