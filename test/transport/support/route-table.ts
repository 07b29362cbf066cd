import { API_PREFIX, createApi } from '../../../src/transport/app.js';
import { routesBelow } from '../../../src/transport/http/route.js';

export interface Route {
  readonly method: string;
  /** As it is declared, prefix included. */
  readonly path: string;
}

/** Every route of the API, as it is declared. */
export function routeTable(): readonly Route[] {
  return routesBelow(API_PREFIX, createApi()).map(({ method, path }) => ({ method, path }));
}
