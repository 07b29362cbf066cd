import type Router from '@koa/router';
import type { RouterContext } from '@koa/router';

/** What every request of the API knows once it is let in. */
export interface RequestState {
  tenant: string;
}

/** A request and its answer. */
export type HttpExchange = RouterContext<RequestState>;

/** Adds its routes to the router of `/api/v1`. */
export type Routes = (router: Router<RequestState>) => void;
