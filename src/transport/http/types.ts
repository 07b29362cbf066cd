import type Router from '@koa/router';
import type { RouterContext } from '@koa/router';

/** What every request of the API knows once it is let in. */
export interface RequestState {
  tenant: string;
  /** Stands for the key that the request came with, in counters; never the key itself. */
  caller: string;
  /** The one agent that the key opens; absent: all of the tenant's. */
  boundAgent?: string;
}

/** A request and its answer. */
export type HttpExchange = RouterContext<RequestState>;

/** Adds its routes to a router below `/api/v1`. */
export type Routes = (router: Router<RequestState>) => void;
