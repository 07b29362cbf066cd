import { describe, expect, it } from 'vitest';
import { evaluate } from '../../src/tools/everyday/arithmetic.js';
import { calculator } from '../../src/tools/everyday/calculator.js';
import { errorOf, resultOf } from './support/upstream.js';

describe('arithmetic', () => {
  it.each<[string, number]>([
    ['(3+5)*12', 96],
    ['2^10/4', 256],
    ['100/8', 12.5],
    ['sqrt(144)+7', 19],
    ['20%*300', 60],
    ['15%*80', 12],
    ['3*(4+5)', 27],
    ['1,000 - 1', 999],
    ['1,234,567.5 + 0.5', 1_234_568],
    ['３×（４＋５）÷９', 3],
    ['7 % 3', 1],
    ['10%3', 1],
    ['50%', 0.5],
    ['50% + 1', 1.5],
    ['200*(1-20%)', 160],
    ['-2^2', -4],
    ['2^-1', 0.5],
    ['2^3^2', 512],
    ['2**8', 256],
    ['--3', 3],
    ['0.1+0.2', 0.3],
    ['.5*4', 2],
    ['1e3+1', 1_001],
    ['2e-2', 0.02],
    ['2pi', 6.28318530717959],
    ['2(3+4)', 14],
    ['e^0', 1],
    ['log(1000)', 3],
    ['log(8, 2)', 3],
    ['ln(e)', 1],
    ['exp(0)', 1],
    ['pow(2, 8)', 256],
    ['abs(-7.5)', 7.5],
    ['round(2.5)', 3],
    ['round(-2.5)', -3],
    ['round(1.005, 2)', 1.01],
    ['floor(-1.5)', -2],
    ['ceil(1.2)', 2],
    ['min(3, 1, 2)', 1],
    ['max(1,000)', 1],
    ['SIN(0) + cos(0) + tan(0)', 1],
    ['√9+√(16)', 7],
    ['[1+2]*{3}', 9],
    ['3+4=', 7],
    ['0*-1', 0],
  ])('takes %s for %d', (expression, value) => {
    expect(evaluate(expression)).toBe(value);
  });

  it.each<[string, string]>([
    ['1/0', 'division by zero'],
    ['5 % 0', 'division by zero'],
    ['0^-1', 'division by zero'],
    ['10^1000000', 'too large'],
    ['1e999', 'too large'],
    ['sqrt(-1)', 'not a real number'],
    ['ln(0)', 'too large'],
    ['(-8)^0.5', 'not a real number'],
    ['constructor', '"constructor" at character 1 is not known'],
    ['constructor(1)', '"constructor" at character 1 is not known'],
    ['__proto__', '"__proto__" at character 1 is not known'],
    ['toString()', '"tostring" at character 1 is not known'],
    ['1 + process.exit()', '"." at character 12'],
    ['2 + ', 'ends too early'],
    ['2 3', '"3" at character 3'],
    ['(1', 'never closed'],
    ['1)', 'closes nothing'],
    ['()', '")" at character 2'],
    ['pow(2)', 'pow() takes 2 values; received 1'],
    ['sin 2', 'needs its values in brackets'],
    ['1 = 2', '"="'],
    ['1 + "a"', 'is not part of arithmetic'],
    ['round(1, 99)', 'places'],
    ['   ', 'there is no expression'],
  ])('says what is wrong with %s', (expression, message) => {
    expect(() => evaluate(expression)).toThrowError(message);
  });

  it('refuses ten thousand brackets and as many signs without running out of stack', () => {
    for (const text of [
      `${'('.repeat(10_000)}1${')'.repeat(10_000)}`,
      '('.repeat(10_000),
      `${'-'.repeat(10_000)}1`,
      `${'2^'.repeat(10_000)}1`,
      `${'sqrt('.repeat(10_000)}1`,
      `${'2('.repeat(10_000)}1`,
      `${'√'.repeat(10_000)}1`,
    ]) {
      expect(() => evaluate(text)).toThrowError(/levels inside each other|in brackets|not known/);
    }
  });

  it('calculates what is long but flat, and refuses what is longer than its bound', () => {
    expect(evaluate('1+'.repeat(40_000).concat('1'))).toBe(40_001);
    expect(() => evaluate('1'.repeat(100_001))).toThrowError('100001 characters');
  });
});

describe('calculator', () => {
  it('gives the expression with its value', async () => {
    expect(await resultOf(calculator, '', { args: { expression: '(3+5)*12' } })).toEqual({
      type: 'result',
      text: '(3+5)*12 = 96',
      outputs: { formalized_content: '(3+5)*12 = 96', json: { expression: '(3+5)*12', value: 96 } },
    });
  });

  it('writes whole numbers in full', async () => {
    expect((await resultOf(calculator, '', { args: { expression: '2^64' } })).text).toBe('2^64 = 18446744073709551616');
  });

  it('fails as a tool, with words for the model', async () => {
    expect(await errorOf(calculator, '', { args: { expression: '1/0' } })).toMatchObject({
      code: 'TOOL_FAILED',
      message: 'Calculator error: a division by zero has no result',
    });
  });
});
