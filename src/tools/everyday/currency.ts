import { catchError, map, type Observable, of, throwError } from 'rxjs';
import { z } from 'zod';
import { toolFailed } from '../../adapters/failures.js';
import { ownObject } from '../../dsl/json-copy.js';
import { EngineError } from '../../errors.js';
import type { Json } from '../../json.js';
import { entered } from '../fields.js';
import { defineTool, type ToolEvent, toolResult } from '../tool.js';
import { askJson, baseUrlOf, numberAt, textAt } from '../upstream.js';
import { formatNumber } from './arithmetic.js';

const BASE_URL = 'https://api.frankfurter.dev';

/** Largest amount that is converted: what is more would lose cents. */
const MAX_AMOUNT = 1e12;

const code = (description: string) =>
  z
    .string()
    .trim()
    .toUpperCase()
    .regex(/^[A-Z]{3}$/, 'must be a code of three letters, such as USD')
    .describe(description);

/**
 * Converts an amount by the reference rates of central banks, through Frankfurter, which needs no key. Errors: `TOOL_FAILED` for a currency
 * that Frankfurter does not know and when it cannot be asked.
 */
export const currency = defineTool({
  component: 'Currency',
  name: 'currency',
  summary: "Converts an amount between two currencies by the last working day's reference rates.",
  advice: 'Leave out the amount for the rate itself.',
  arguments: {
    amount: z
      .preprocess(entered, z.coerce.number().min(-MAX_AMOUNT).max(MAX_AMOUNT).default(1))
      .describe('How much; default 1.'),
    from: code('Code of the currency that the amount is in, such as USD.'),
    to: code('Code of the currency that is wanted, such as CNY.'),
  },
  params: {},
  outputs: {
    formalized_content: { type: 'string', description: 'The amount in both currencies, the rate and its date.' },
    json: {
      type: 'object',
      description: '`amount`, `from`, `to`, `rate`, `result` and `date` (empty for the same currency).',
    },
  },
  timeoutSeconds: 12,
  call({ amount, from, to }, call): Observable<ToolEvent> {
    if (from === to) return of(resultOf({ amount, from, to, rate: 1, date: '' }));
    return askJson(currency, call, {
      url: `${baseUrlOf(currency, call.services, BASE_URL)}/v1/latest`,
      query: { base: from, symbols: to },
      timeoutSeconds: 6,
      attempts: 2,
    }).pipe(
      map((answer) => resultOf({ amount, from, to, rate: rateIn(answer, to), date: textAt(answer, 'date') })),
      catchError((error: unknown) => throwError(() => withCurrencies(error, from, to))),
    );
  },
});

function rateIn(answer: Json, to: string): number {
  const rate = numberAt(ownObject(answer, 'rates'), to);
  if (rate === undefined) throw toolFailed('the answer holds no rate');
  return rate;
}

/** Frankfurter does not say which of the two it does not know. */
function withCurrencies(error: unknown, from: string, to: string): unknown {
  if (!EngineError.is(error)) return error;
  const { status } = (error.details ?? {}) as { readonly status?: number };
  if (status !== 404 && status !== 422) return error;
  return toolFailed(`there is no rate from ${from} to ${to}: ${error.message}`);
}

interface Conversion {
  readonly amount: number;
  readonly from: string;
  readonly to: string;
  readonly rate: number;
  readonly date: string;
}

function resultOf({ amount, from, to, rate, date }: Conversion) {
  const result = Number((amount * rate).toFixed(Math.abs(amount * rate) < 1 ? 6 : 2));
  const day = date === '' ? '' : `, ${date}`;
  const text = `${formatNumber(amount)} ${from} = ${formatNumber(result)} ${to} (1 ${from} = ${formatNumber(rate)} ${to}${day})`;
  return toolResult(text, { formalized_content: text, json: { amount, from, to, rate, result, date } });
}
