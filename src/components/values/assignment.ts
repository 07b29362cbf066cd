/** What each operator of VariableAssigner makes of a variable's value; nothing here changes what it is given. */

import { emptyLike } from '../../dsl/globals.js';
import { type AliasName, parseReference, type Reference } from '../../dsl/reference.js';
import {
  type InterpolateOptions,
  interpolate,
  type Lookup,
  readReference,
  resolveParam,
  typedValue,
  type ValueSource,
  writePath,
} from '../../dsl/resolve.js';
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';
import { jsonKind } from './comparison.js';

/** The result of an operator: the new value, or why there is none. The words are RAGFlow's, as canvases compare them. */
export type Assigned = { readonly value: Json } | { readonly error: AssignError };

export type AssignError =
  | 'ERROR:VARIABLE_NOT_LIST'
  | 'ERROR:PARAMETER_NOT_LIST'
  | 'ERROR:PARAMETER_NOT_LIST_ELEMENT_TYPE'
  | 'ERROR:VARIABLE_NOT_NUMBER or PARAMETER_NOT_NUMBER'
  | 'ERROR:DIVIDE_BY_ZERO'
  | 'ERROR:RESULT_NOT_FINITE';

/**
 * How a parameter is read.
 *
 * `reference`: it must name a value. `value`: a reference gives what it names, other text is a template, the rest is
 * itself. `template`: the same, but always text while the variable holds text. `braced`: only a reference in braces is
 * read. `none`: there is no parameter.
 */
export type ParameterRule = 'reference' | 'value' | 'template' | 'braced' | 'none';

export interface AssignOperator {
  readonly parameter: ParameterRule;
  apply(old: Json, parameter: Json): Assigned;
}

const parameterItself = (_old: Json, parameter: Json): Assigned => ({ value: parameter });

/** The operators by their exact names. */
export const ASSIGN_OPERATORS: ReadonlyMap<string, AssignOperator> = new Map<string, AssignOperator>([
  ['overwrite', { parameter: 'reference', apply: parameterItself }],
  ['set', { parameter: 'template', apply: parameterItself }],
  ['clear', { parameter: 'none', apply: (old) => ({ value: emptyLike(old) }) }],
  ['append', { parameter: 'value', apply: append }],
  ['extend', { parameter: 'value', apply: extend }],
  ['remove_first', { parameter: 'none', apply: (old) => onList(old, (list) => list.slice(1)) }],
  ['remove_last', { parameter: 'none', apply: (old) => onList(old, (list) => list.slice(0, -1)) }],
  ['+=', arithmetic((old, parameter) => old + parameter)],
  ['-=', arithmetic((old, parameter) => old - parameter)],
  ['*=', arithmetic((old, parameter) => old * parameter)],
  ['/=', arithmetic((old, parameter) => old / parameter, 'ERROR:DIVIDE_BY_ZERO')],
]);

function append(old: Json, parameter: Json): Assigned {
  return onList(old ?? [], (list) =>
    list.length > 0 && !isSameKind(list[0], parameter) ? 'ERROR:PARAMETER_NOT_LIST_ELEMENT_TYPE' : [...list, parameter],
  );
}

function extend(old: Json, parameter: Json): Assigned {
  return onList(old ?? [], (list) => {
    if (!Array.isArray(parameter)) return 'ERROR:PARAMETER_NOT_LIST';
    const more: readonly Json[] = parameter;
    // As in RAGFlow, the first items speak for their lists.
    const mismatch = list.length > 0 && more.length > 0 && !isSameKind(list[0], more[0] ?? null);
    return mismatch ? 'ERROR:PARAMETER_NOT_LIST_ELEMENT_TYPE' : [...list, ...more];
  });
}

function onList(old: Json, change: (list: readonly Json[]) => readonly Json[] | AssignError): Assigned {
  if (!Array.isArray(old)) return { error: 'ERROR:VARIABLE_NOT_LIST' };
  const result = change(old);
  return typeof result === 'string' ? { error: result } : { value: result };
}

function isSameKind(first: Json | undefined, value: Json): boolean {
  return jsonKind(first ?? null) === jsonKind(value);
}

function arithmetic(compute: (old: number, parameter: number) => number, onZero?: AssignError): AssignOperator {
  const apply = (old: Json, parameter: Json): Assigned => {
    if (typeof old !== 'number' || typeof parameter !== 'number') {
      return { error: 'ERROR:VARIABLE_NOT_NUMBER or PARAMETER_NOT_NUMBER' };
    }
    if (parameter === 0 && onZero !== undefined) return { error: onZero };
    const value = compute(old, parameter);
    return Number.isFinite(value) ? { value } : { error: 'ERROR:RESULT_NOT_FINITE' };
  };
  return { parameter: 'braced', apply };
}

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
      if (parameter === null) return emptyLike(old);
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

/** Values that are written but not yet settled, laid over those of a source; the source itself never changes. */
export class OverlaySource implements ValueSource {
  readonly #below: ValueSource;
  /** By `component@name` or by the key of a variable; the second never holds an `@`. */
  readonly #written = new Map<string, Lookup>();

  constructor(below: ValueSource) {
    this.#below = below;
  }

  output(component: string, name: string): Lookup {
    return this.#written.get(`${component}@${name}`) ?? this.#below.output(component, name);
  }

  variable(key: string): Lookup {
    return this.#written.get(key) ?? this.#below.variable(key);
  }

  alias(name: AliasName): Lookup {
    return this.#below.alias(name);
  }

  /**
   * Makes later reads of `to` give `value`.
   *
   * @throws EngineError REFERENCE_READ_ONLY for an alias or a key that cannot be written, REFERENCE_UNRESOLVED for a
   * position that a list does not have.
   */
  write(to: Reference, value: Json): void {
    if (to.kind === 'output') {
      this.#set(`${to.component}@${to.name}`, this.output(to.component, to.name), to.path, value);
    } else if (to.kind === 'variable') {
      const key = this.#rootOf(to.key);
      const path = key === to.key ? [] : to.key.slice(key.length + 1).split('.');
      this.#set(key, this.variable(key), path, value);
    } else {
      throw new EngineError(
        'REFERENCE_READ_ONLY',
        `Cannot write "${to.name}": the current item of a body is read-only. Write an env variable or an output instead.`,
      );
    }
  }

  #set(key: string, before: Lookup, path: readonly string[], value: Json): void {
    const root = before.status === 'found' ? before.value : undefined;
    this.#written.set(key, { status: 'found', value: writePath(root, path, value) });
  }

  /** The longest part of a key that names a variable, as reading finds it; the key itself when none does. */
  #rootOf(key: string): string {
    const firstDot = key.indexOf('.');
    for (let cut = key.length; cut > firstDot; cut = key.lastIndexOf('.', cut - 1)) {
      const part = key.slice(0, cut);
      if (this.variable(part).status !== 'unresolved') return part;
    }
    return key;
  }
}
