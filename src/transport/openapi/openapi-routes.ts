import type { Routes } from '../http/types.js';
import { type ApiDescription, describeApi } from './describe-api.js';

/** `GET /openapi.json`: the description of the API below `prefix`. */
export function openapiRoutes(prefix: string): Routes {
  let description: ApiDescription | undefined;
  return (router) => {
    router.get('/openapi.json', (exchange) => {
      // Made when somebody asks first: it takes longer than starting the server.
      description ??= describeApi(prefix);
      exchange.body = description;
    });
  };
}
