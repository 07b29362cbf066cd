/** How long an activation may take: RAGFlow's resolver of four levels, plus a level for the whole run. */
import { EngineError } from '../errors.js';

/** Gives the clock of a node in milliseconds; undefined: none. `declared` is the component's `timeoutSeconds`. */
export type TimeoutResolver = (type: string, declared: number | null | undefined) => number | undefined;

export interface TimeoutOptions {
  /** One timeout for every node, before anything else. */
  readonly overrideSeconds?: number;
  /** Seconds for nodes of a type, by its name in capitals; wins over what the component declares. @default none */
  readonly secondsByType?: Readonly<Record<string, number>>;
  /** Seconds for nodes whose type declares none. @default 600 */
  readonly defaultSeconds?: number | undefined;
}

/**
 * First hit wins: the override, the seconds of the type, what the component declares, the default. A component that declares `null` (a
 * form, a container) has no clock, whatever the options are.
 *
 * @throws EngineError OPTION_INVALID for an override that is not above 0.
 */
export function createTimeoutResolver(options: TimeoutOptions = {}): TimeoutResolver {
  const { overrideSeconds, secondsByType = {}, defaultSeconds = 600 } = options;
  if (overrideSeconds !== undefined && !(overrideSeconds > 0)) {
    const message = `createTimeoutResolver: "overrideSeconds" must be above 0; received ${overrideSeconds}.`;
    throw new EngineError('OPTION_INVALID', message);
  }
  return (type, declared) => {
    if (declared === null) return undefined;
    const key = type.toUpperCase();
    const ofType = Object.hasOwn(secondsByType, key) ? secondsByType[key] : undefined;
    return (overrideSeconds ?? ofType ?? declared ?? defaultSeconds) * 1000;
  };
}
