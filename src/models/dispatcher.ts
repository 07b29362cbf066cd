import { Agent } from 'undici';

/**
 * Connections to providers: kept alive, closed by `destroy()`. Connecting may take 10 s.
 *
 * No limit of connections: the limiter of model calls has one. Loaded with the first call only, as the client
 * takes a quarter of the start of a process that calls nobody.
 */
export function createDispatcher(): Agent {
  return new Agent({ connect: { timeout: 10_000 }, keepAliveTimeout: 10_000 });
}
