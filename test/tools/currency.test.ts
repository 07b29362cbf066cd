import { describe, expect, it } from 'vitest';
import { currency } from '../../src/tools/everyday/currency.js';
import { errorOf, itBehavesAsUpstreamTool, type Routes, resultOf, startUpstream } from './support/upstream.js';

const routes: Routes = {
  'GET /v1/latest': { json: { amount: 1, base: 'USD', date: '2026-11-20', rates: { CNY: 7.1234 } } },
};
const args = { amount: 100, from: 'USD', to: 'CNY' };

itBehavesAsUpstreamTool({ tool: currency, calling: { args }, routes, attempts: 2 });

describe('currency', () => {
  it('converts by the rate of the last working day', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(currency, upstream.origin, { args });
    expect(upstream.asked.map(({ query }) => query)).toEqual([{ base: 'USD', symbols: 'CNY' }]);
    expect(found.text).toBe('100 USD = 712.34 CNY (1 USD = 7.1234 CNY, 2026-11-20)');
    expect(found.outputs.json).toEqual({ ...args, rate: 7.1234, result: 712.34, date: '2026-11-20' });
  });

  it('takes one for the amount, and codes in any case', async () => {
    const upstream = await startUpstream(routes);
    const found = await resultOf(currency, upstream.origin, { args: { from: 'usd', to: ' cny ' } });
    expect(found.outputs.json).toMatchObject({ amount: 1, from: 'USD', to: 'CNY', result: 7.12 });
  });

  it('keeps small results, and asks for no rate of a currency to itself', async () => {
    const upstream = await startUpstream({ 'GET /v1/latest': { json: { rates: { USD: 0.00006123 } } } });
    const small = await resultOf(currency, upstream.origin, { args: { amount: 3, from: 'IDR', to: 'USD' } });
    expect(small.outputs.json).toMatchObject({ result: 0.000184 });
    const same = await resultOf(currency, upstream.origin, { args: { amount: 5, from: 'EUR', to: 'EUR' } });
    expect(same.text).toBe('5 EUR = 5 EUR (1 EUR = 1 EUR)');
    expect(upstream.asked).toHaveLength(1);
  });

  it('says that a currency has no rate', async () => {
    const upstream = await startUpstream({ 'GET /v1/latest': { status: 404, json: { message: 'not found' } } });
    const error = await errorOf(currency, upstream.origin, { args: { from: 'USD', to: 'XXX' } });
    expect(error.message).toBe(
      'Currency error: there is no rate from USD to XXX: the service answered with status 404: not found',
    );
  });

  it.each([{ from: 'dollars', to: 'CNY' }, { from: 'USD' }, { ...args, amount: 'many' }, { ...args, amount: 1e13 }])(
    'refuses %j',
    async (bad) => {
      expect(await errorOf(currency, '', { args: bad as never })).toMatchObject({ code: 'TOOL_ARGUMENTS' });
    },
  );
});
