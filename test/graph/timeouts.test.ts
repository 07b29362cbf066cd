/** Which clock a node gets: the first hit of five. */
import { describe, expect, it } from 'vitest';
import { createTimeoutResolver } from '../../src/graph/timeouts.js';

describe('createTimeoutResolver', () => {
  it.each([
    { claim: '600 s when nobody says anything', options: {}, declared: undefined, expected: 600_000 },
    { claim: 'what the component declares', options: {}, declared: 12, expected: 12_000 },
    {
      claim: 'the general variable below what is declared',
      environment: { COMPONENT_EXEC_TIMEOUT: '30' },
      declared: 12,
      expected: 12_000,
    },
    {
      claim: 'the general variable above 600 s',
      environment: { COMPONENT_EXEC_TIMEOUT: '30' },
      declared: undefined,
      expected: 30_000,
    },
    {
      claim: 'the variable of the type above what is declared',
      environment: { COMPONENT_EXEC_TIMEOUT_LLM: '40' },
      declared: 12,
      expected: 40_000,
    },
    {
      claim: 'not the variable of another type',
      environment: { COMPONENT_EXEC_TIMEOUT_AGENT: '40' },
      declared: 12,
      expected: 12_000,
    },
    {
      claim: 'the override above all',
      environment: { COMPONENT_EXEC_TIMEOUT_LLM: '40' },
      override: 5,
      declared: 12,
      expected: 5_000,
    },
    {
      claim: 'no clock for who declares none',
      environment: { COMPONENT_EXEC_TIMEOUT_LLM: '40' },
      override: 5,
      declared: null,
      expected: undefined,
    },
    {
      claim: 'blanks around the number',
      environment: { COMPONENT_EXEC_TIMEOUT: ' 30 ' },
      declared: undefined,
      expected: 30_000,
    },
    ...['', '0', '-5', '1.5', '1e3', 'soon', '0x10', 'Infinity'].map((text) => ({
      claim: `nothing of "${text}"`,
      environment: { COMPONENT_EXEC_TIMEOUT_LLM: text, COMPONENT_EXEC_TIMEOUT: text },
      declared: undefined,
      expected: 600_000,
    })),
  ])('takes $claim', ({ declared, expected, ...given }) => {
    const { environment, override } = given as { environment?: Record<string, string>; override?: number };
    const resolve = createTimeoutResolver({
      ...(environment === undefined ? {} : { environment }),
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
