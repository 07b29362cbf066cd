import { describe, expect, it } from 'vitest';
import { didYouMean, nearestName } from '../src/nearest-name.js';

const NAMES = [
  'query',
  'inputs',
  'files',
  'session_id',
  'temperature',
  'sys_prompt',
  'run',
  'validate',
  'LLM',
  'top_n',
];

describe('the nearest name', () => {
  it.each([
    ['qury', 'query'],
    ['rn', 'run'],
    ['temprature', 'temperature'],
    ['sys_promt', 'sys_prompt'],
    ['sysPrompt', 'sys_prompt'],
    ['session-id', 'session_id'],
    ['SESSION_ID', 'session_id'],
    ['vaildate', 'validate'],
    ['LMM', 'LLM'],
    ['inptus', 'inputs'],
  ])('of %s is %s', (given, name) => {
    expect(nearestName(given, NAMES)).toBe(name);
  });

  it.each(['', '_', 'parameter', 'output_structure', 'x', 'q'.repeat(1_000)])('of %j is none', (given) => {
    expect(nearestName(given, NAMES)).toBeUndefined();
    expect(didYouMean(given, NAMES)).toBe('');
  });

  it('is the nearest one, the first of several', () => {
    expect(nearestName('ab', ['abcd', 'abc', 'aa'])).toBe('abc');
  });

  it('is put as a question', () => {
    expect(didYouMean('qury', NAMES)).toBe(' Did you mean "query"?');
  });
});
