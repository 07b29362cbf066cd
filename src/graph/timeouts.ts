/** How long an activation may take: RAGFlow's resolver of four levels, plus a level for the whole run. */
import { EngineError } from '../errors.js';

/** Gives the clock of a node in milliseconds; undefined: none. `declared` is the component's `timeoutSeconds`. */
export type TimeoutResolver = (type: string, declared: number | null | undefined) => number | undefined;

export interface TimeoutOptions {
  /** One timeout for every node, before anything else. */
  readonly overrideSeconds?: number;
  /** Where `COMPONENT_EXEC_TIMEOUT` and `COMPONENT_EXEC_TIMEOUT_<TYPE>` are looked up, in whole seconds. @default none */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Seconds for a node whose type declares none and for which the environment says nothing. */
const DEFAULT_SECONDS = 600;

/**
 * First hit wins: the override, `COMPONENT_EXEC_TIMEOUT_<TYPE>`, what the component declares, `COMPONENT_EXEC_TIMEOUT`, 600 s.
 *
 * A value of the environment that is not a whole number above 0 is passed over, so that bad input never widens a limit. A
 * component that declares `null` (a form, a container) has no clock, whatever the environment says.
 *
 * @throws EngineError OPTION_INVALID for an override that is not above 0.
 */
export function createTimeoutResolver(options: TimeoutOptions = {}): TimeoutResolver {
  const { overrideSeconds, environment = {} } = options;
  if (overrideSeconds !== undefined && !(overrideSeconds > 0)) {
    const message = `createTimeoutResolver: "overrideSeconds" must be above 0; received ${overrideSeconds}.`;
    throw new EngineError('OPTION_INVALID', message);
  }
  return (type, declared) => {
    if (declared === null) return undefined;
    const seconds =
      overrideSeconds ??
      wholeSeconds(environment[`COMPONENT_EXEC_TIMEOUT_${type.toUpperCase()}`]) ??
      declared ??
      wholeSeconds(environment.COMPONENT_EXEC_TIMEOUT) ??
      DEFAULT_SECONDS;
    return seconds * 1000;
  };
}

function wholeSeconds(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? '';
  if (!/^\d+$/.test(trimmed)) return undefined;
  const seconds = Number(trimmed);
  return seconds > 0 ? seconds : undefined;
}
