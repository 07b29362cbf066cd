import type { Activation } from '../graph/component.js';
import type { Services } from './services.js';

/** The services that a node can do without. */
export type OptionalServices = Partial<Services>;

/** The services of the run that an activation belongs to; none when the run was started without. */
export function optionalServices({ services }: Activation): OptionalServices {
  return typeof services === 'object' && services !== null ? services : {};
}
