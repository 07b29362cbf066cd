/** The server: REST, event streams and WebSockets. */

export { readConfig } from '../settings/read-settings.js';
export { createServer, type RunnelServer } from './server.js';
export type { ServerStores } from './server-parts.js';
