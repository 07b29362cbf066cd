/** The server: REST, event streams and WebSockets. */

export type { Log } from '../hosting/log.js';
export { describeSettings, readConfig, type ServerConfig, type SettingDescription } from './config.js';
export { createServer, type RunnelServer, type ServerOptions } from './server.js';
export type { ServerStores } from './server-parts.js';
