/** The server: REST, event streams and WebSockets. */
export { describeSettings, readConfig, type ServerConfig, type SettingDescription } from './config.js';
export type { Log } from './log.js';
export { createServer, type RunnelServer, type ServerOptions } from './server.js';
export type { ServerStores } from './server-parts.js';
