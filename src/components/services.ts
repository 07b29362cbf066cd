/** What components ask of the process around a run; handed to `run` as `services`. */
import type { CanvasTool, CanvasToolEvent, CanvasTools, MemoryEntry, Services } from '../agents/call-context.js';
import type { Activation } from '../graph/node.js';
import { requireObject } from '../operators/invalid-option.js';
import { type Files, requireService, type StoredFile } from '../tools/tool-services.js';

export type { SystemMetrics, SystemReading } from '../tools/tool-services.js';

export type { CanvasTool, CanvasToolEvent, CanvasTools, Files, MemoryEntry, Services, StoredFile };

/** The services that a node can do without. */
export type OptionalServices = Partial<Services>;

/** The services of the run that an activation belongs to; none when the run was started without. */
export function optionalServices({ services }: Activation): OptionalServices {
  return typeof services === 'object' && services !== null ? services : {};
}

/**
 * A service of the run that an activation belongs to.
 *
 * @throws EngineError CONFIG_INVALID when the run was started without it.
 */
export function serviceOf<K extends keyof Services>(activation: Activation, name: K): NonNullable<Services[K]> {
  requireObject('serviceOf', 'activation', activation, 'an activation');
  const { node } = activation;
  return requireService(optionalServices(activation), name, `Node "${node}"`, { node }) as NonNullable<Services[K]>;
}
