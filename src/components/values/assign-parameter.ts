import { parseReference } from '../../dsl/reference.js';
import {
  type InterpolateOptions,
  interpolate,
  readReference,
  resolveParam,
  typedValue,
  type ValueSource,
} from '../../dsl/resolve.js';
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';
import { emptyOf, type ParameterRule } from './assign-operators.js';

/**
 * Reads the parameter of an assignment by the rule of its operator; `old` is what the variable holds before.
 *
 * Errors: REFERENCE_UNRESOLVED for a rule `reference` and a parameter that names nothing, beside what `onUnresolved` throws.
 */
export function readParameter(
  rule: ParameterRule,
  parameter: Json,
  old: Json,
  source: ValueSource,
  options: InterpolateOptions,
): Json {
  switch (rule) {
    case 'none':
      return null;
    case 'reference':
      return readNamed(parameter, source, options);
    case 'value':
      return resolveParam(parameter, source, options);
    case 'braced':
      return isBraced(parameter) ? resolveParam(parameter, source, options) : parameter;
    case 'template':
      if (parameter === null) return emptyOf(old);
      if (typeof old !== 'string') return resolveParam(parameter, source, options);
      return typeof parameter === 'string' ? interpolate(parameter, source, options) : parameter;
  }
}

function readNamed(parameter: Json, source: ValueSource, { onUnresolved }: InterpolateOptions): Json {
  const reference = typeof parameter === 'string' ? parseReference(parameter) : undefined;
  const lookup = reference === undefined ? undefined : readReference(reference, source);
  if (reference === undefined || lookup === undefined || lookup.status === 'unresolved') {
    throw new EngineError(
      'REFERENCE_UNRESOLVED',
      `Cannot copy ${JSON.stringify(parameter)}: it names no variable and no output of a node. Use "set" for a value.`,
    );
  }
  if (lookup.status === 'undeclared') onUnresolved?.(reference, lookup);
  return typedValue(reference, lookup);
}

function isBraced(parameter: Json): boolean {
  return typeof parameter === 'string' && parameter.trimStart().startsWith('{');
}
