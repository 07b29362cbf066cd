import type { EgressClient } from '../adapters/egress/egress-client.js';
import { EngineError } from '../errors.js';
import type { Activation } from '../graph/component.js';
import { optionalServices } from './optional-services.js';

/**
 * The HTTP client of the run that an activation belongs to. Needs no models, unlike `servicesOf`.
 *
 * @throws EngineError CONFIG_INVALID when the run was started without one.
 */
export function httpOf(activation: Activation): EgressClient {
  const { http } = optionalServices(activation);
  if (http !== undefined) return http;
  throw new EngineError(
    'CONFIG_INVALID',
    `Node "${activation.node}" calls a server, but the run was started without an HTTP client; pass { services: { http: createEgressClient() } }.`,
    { node: activation.node },
  );
}
