/** Which clock a node gets: the first hit of five. */
import { describe, expect, it } from 'vitest';
import { createTimeoutResolver, type TimeoutOptions } from '../../src/canvas/compile.js';

describe('createTimeoutResolver', () => {
  it.each([
    { claim: '600 s when nothing is set', options: {}, declared: undefined, expected: 600_000 },
    { claim: 'what the component declares', options: {}, declared: 12, expected: 12_000 },
    {
      claim: 'the default below what is declared',
      options: { defaultSeconds: 30 },
      declared: 12,
      expected: 12_000,
    },
    {
      claim: 'the default instead of 600 s',
      options: { defaultSeconds: 30 },
      declared: undefined,
      expected: 30_000,
    },
    {
      claim: 'the seconds of the type above what is declared',
      options: { secondsByType: { LLM: 40 } },
      declared: 12,
      expected: 40_000,
    },
    {
      claim: 'not the seconds of another type',
      options: { secondsByType: { AGENT: 40 } },
      declared: 12,
      expected: 12_000,
    },
    {
      claim: 'the override above all',
      options: { secondsByType: { LLM: 40 } },
      override: 5,
      declared: 12,
      expected: 5_000,
    },
    {
      claim: 'no clock for what declares none',
      options: { secondsByType: { LLM: 40 } },
      override: 5,
      declared: null,
      expected: undefined,
    },
  ])('takes $claim', ({ declared, expected, ...given }) => {
    const { options, override } = given as { options: TimeoutOptions; override?: number };
    const resolve = createTimeoutResolver({
      ...options,
      ...(override === undefined ? {} : { overrideSeconds: override }),
    });
    expect(resolve('Llm', declared)).toBe(expected);
  });

  it.each([0, -1, Number.NaN])('refuses an override of %s', (overrideSeconds) => {
    expect(() => createTimeoutResolver({ overrideSeconds })).toThrowError(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining(String(overrideSeconds)) }),
    );
  });
});
