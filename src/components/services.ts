/** What components ask of the process around a run; handed to `run` as `services`. */

import type { EgressClient } from '../adapters/egress/egress-client.js';
import type { MemoryEntry, Services } from '../agents/call-context.js';
import { EngineError } from '../errors.js';
import type { Activation } from '../graph/component.js';
import type { Files, StoredFile } from '../tools/tool-services.js';

export type { Files, MemoryEntry, Services, StoredFile };

/**
 * The services of the run that an activation belongs to.
 *
 * @throws EngineError CONFIG_INVALID when the run was started without models.
 */
export function servicesOf(activation: Activation): Services {
  const { services } = activation;
  if (typeof services === 'object' && services !== null && 'models' in services) return services as Services;
  throw new EngineError(
    'CONFIG_INVALID',
    `Node "${activation.node}" needs a model, but the run was started without services; pass { services: { models } }.`,
    { node: activation.node },
  );
}

/** The services that a node can do without. */
export type OptionalServices = Partial<Services>;

/** The services of the run that an activation belongs to; none when the run was started without. */
export function optionalServices({ services }: Activation): OptionalServices {
  return typeof services === 'object' && services !== null ? services : {};
}

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
