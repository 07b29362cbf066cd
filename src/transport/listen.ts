/** Where a server listens: on one address, or on both of this machine's own. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { EngineError } from '../errors.js';
import type { ServerConfig } from '../settings/read-settings.js';

/** The name that means both addresses of loopback. */
const BOTH = 'localhost';

/** How often another free port is tried when it is free on one of two addresses only. */
const MAX_TRIES = 10;

/** What a machine without IPv6 says. */
const NO_SUCH_FAMILY: ReadonlySet<unknown> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT']);

/**
 * Lets a server listen where the settings say; `localhost` means 127.0.0.1 and, where the machine has IPv6, ::1 with the same port, and `::` means every
 * address of both kinds. Gives what closes the second address, which passes its connections on to the server.
 *
 * @throws EngineError CONFIG_INVALID when it cannot.
 */
export async function listenOn(
  server: Server,
  { host, port }: Pick<ServerConfig, 'host' | 'port'>,
): Promise<() => Promise<void>> {
  try {
    if (host.toLowerCase() !== BOTH) {
      await listening(server, port, host);
      return async () => {};
    }
    return await listenOnBoth(server, port);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new EngineError('CONFIG_INVALID', `Cannot listen on ${host}, port ${port}: ${why}.`, { cause: error });
  }
}

async function listenOnBoth(server: Server, port: number): Promise<() => Promise<void>> {
  for (let left = MAX_TRIES; ; left -= 1) {
    await listening(server, port, '127.0.0.1');
    // As an HTTP server makes its own sockets.
    const second = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket));
    try {
      await listening(second, (server.address() as AddressInfo).port, '::1');
      return () => closed(second);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (NO_SUCH_FAMILY.has(code)) return async () => {};
      await closed(server);
      if (port !== 0 || code !== 'EADDRINUSE' || left === 0) throw error;
    }
  }
}

async function listening(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
}

/** Resolves when it takes no more connections, and those that it took are over. */
async function closed(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}
