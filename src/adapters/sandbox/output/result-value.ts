import { readLiteral } from '../../../dsl/python-literal.js';
import type { Json } from '../../../json.js';
import type { CodeResult } from '../code-runner.js';
import { isTooDeep } from '../json-depth.js';

/** What a script gave: its structured result; else what it printed, read as JSON or a Python literal; else that text. */
export function resultValue({ result, stdout }: Pick<CodeResult, 'result' | 'stdout'>): Json {
  if (result !== undefined) return result.value;
  const text = stdout.trim();
  if (text === '') return '';
  const literal = isTooDeep(text) ? undefined : readLiteral(text);
  return literal === undefined ? text : literal;
}
