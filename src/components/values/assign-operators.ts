/** What each operator of VariableAssigner makes of a variable's value; nothing here changes what it is given. */
import type { Json } from '../../json.js';
import { jsonKind } from './json-kind.js';

/** What an operator gives: the new value, or why there is none. The words are RAGFlow's, as canvases compare them. */
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

const OPERATORS: ReadonlyMap<string, AssignOperator> = new Map<string, AssignOperator>([
  ['overwrite', { parameter: 'reference', apply: parameterItself }],
  ['set', { parameter: 'template', apply: parameterItself }],
  ['clear', { parameter: 'none', apply: (old) => ({ value: emptyOf(old) }) }],
  ['append', { parameter: 'value', apply: append }],
  ['extend', { parameter: 'value', apply: extend }],
  ['remove_first', { parameter: 'none', apply: (old) => onList(old, (list) => list.slice(1)) }],
  ['remove_last', { parameter: 'none', apply: (old) => onList(old, (list) => list.slice(0, -1)) }],
  ['+=', arithmetic((old, parameter) => old + parameter)],
  ['-=', arithmetic((old, parameter) => old - parameter)],
  ['*=', arithmetic((old, parameter) => old * parameter)],
  ['/=', arithmetic((old, parameter) => old / parameter, 'ERROR:DIVIDE_BY_ZERO')],
]);

/** The names of all operators, for messages and the editor. */
export const ASSIGN_OPERATORS: readonly string[] = [...OPERATORS.keys()];

/** Finds an operator by its exact name; undefined when there is none. */
export function findAssignOperator(name: string): AssignOperator | undefined {
  return OPERATORS.get(name);
}

/** The empty value of the kind that a value has; null for null. */
export function emptyOf(value: Json): Json {
  switch (jsonKind(value)) {
    case 'null':
      return null;
    case 'boolean':
      return false;
    case 'number':
      return 0;
    case 'text':
      return '';
    case 'list':
      return [];
    case 'object':
      return {};
  }
}

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
