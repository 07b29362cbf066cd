import { describe, expect, it } from 'vitest';
import { readFileResults } from '../../scripts/support/test-results.js';
import { isFine, testsByTool, toolLines } from '../../scripts/test-tools.js';

const file = (name: string, tests: Record<string, string>, status = 'passed') => ({
  name: `/project/${name}`,
  status,
  assertionResults: Object.entries(tests).map(([fullName, one]) => ({ fullName, status: one })),
});

const REPORT = JSON.stringify({
  testResults: [
    file('test/tools/tavily-search.test.ts', { 'a works': 'passed', 'b works': 'passed', 'c waits': 'skipped' }),
    file('test/tools/email.test.ts', { 'sends a mail': 'failed', 'has words': 'passed' }, 'failed'),
    file('test/tools/qweather.test.ts', {}, 'failed'),
    file('test/tools/code-exec.test.ts', { 'runs code': 'passed' }),
    file('test/tools/references.test.ts', { 'makes ids': 'passed' }),
    file('test/tools/http/email.test.ts', { 'is no tool': 'passed' }),
  ],
});
const TOOLS = [
  { component: 'TavilySearch', name: 'tavily_search' },
  { component: 'Email', name: 'email' },
  { component: 'QWeather', name: 'qweather' },
  { component: 'TuShare', name: 'tushare' },
  { component: 'CodeExec', name: 'execute_code', aliases: ['code_exec'] },
];

describe('npm run test:tools', () => {
  it('has one line for each tool, and one for what they share', () => {
    expect(toolLines(testsByTool(readFileResults(REPORT), TOOLS))).toEqual([
      'FAILED email           2 tests, 1 failed',
      'ok     execute_code    1 tests',
      'FAILED qweather        0 tests, 1 failed',
      'ok     tavily_search   2 tests',
      'FAILED tushare         0 tests',
      'ok     (shared parts)  2 tests',
    ]);
  });

  it('names what failed', () => {
    const [email, _code, qweather, tavily] = testsByTool(readFileResults(REPORT), TOOLS);
    expect(email?.failed).toEqual(['sends a mail']);
    expect(qweather?.failed).toEqual(['qweather.test.ts could not be run']);
    expect(tavily && isFine(tavily)).toBe(true);
  });

  it('takes nothing else for a report', () => {
    expect(() => readFileResults('{"testResults": [1]}')).toThrow();
  });
});
