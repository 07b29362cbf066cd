import { once } from 'node:events';
import type { Server } from 'node:net';
import { EngineError } from '../errors.js';
import type { ServerConfig } from '../settings/read-settings.js';

/** Lets a server listen where the settings say. @throws EngineError CONFIG_INVALID when it cannot. */
export async function listenOn(server: Server, { host, port }: Pick<ServerConfig, 'host' | 'port'>): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new EngineError('CONFIG_INVALID', `Cannot listen on ${host}, port ${port}: ${why}.`, { cause: error });
  }
}
