import { defer, type Observable, of } from 'rxjs';
import { queryArgument } from '../fields.js';
import { defineTool, type ToolEvent, toolResult } from '../tool.js';
import { ARITHMETIC_HELP, evaluate, formatNumber } from './arithmetic.js';

/** Characters of an expression that the text of a result repeats. */
const MAX_SHOWN = 200;

/** Calculates. Errors: `TOOL_FAILED` as `evaluate`, for an expression that has no value. */
export const calculator = defineTool({
  component: 'Calculator',
  name: 'calculator',
  summary: 'Calculates the value of an arithmetic expression.',
  advice: `An expression has ${ARITHMETIC_HELP}; 20% is 0.2, angles are in radians, log has base 10.`,
  arguments: { expression: queryArgument('The expression, such as (3+5)*12.') },
  params: {},
  nodeDefaults: { expression: '{sys.query}' },
  outputs: {
    formalized_content: { type: 'string', description: 'The expression and its value.' },
    json: { type: 'object', description: '`expression` as it was given, and its `value`.' },
  },
  timeoutSeconds: 5,
  isCalculation: true,
  call({ expression }): Observable<ToolEvent> {
    if (expression.trim() === '') return of(toolResult('', { formalized_content: '', json: [] }));
    return defer(() => {
      const value = evaluate(expression);
      const isLong = expression.length > MAX_SHOWN;
      const shown = isLong ? `${expression.slice(0, MAX_SHOWN)}…` : expression.trim();
      const text = `${shown} = ${formatNumber(value)}`;
      return of(toolResult(text, { formalized_content: text, json: { expression: shown, value } }));
    });
  },
});
