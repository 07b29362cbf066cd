import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { pickSteps, STEPS, summary } from '../../scripts/check.js';
import { auditProblems, readAudit } from '../../scripts/check-advisories.js';
import { findCanvases } from '../../scripts/check-examples.js';
import { countTests, failedTests } from '../../scripts/support/test-results.js';
import { componentPage } from '../../src/components/catalogue.js';
import { defineComponent } from '../../src/components/component.js';

describe('the advisory gate', () => {
  const via = (severity: string) => ({ title: 'Bad thing', url: 'https://example.org/1', severity, range: '<1.2.3' });
  const audit = (vulnerabilities: object): string => JSON.stringify({ auditReportVersion: 2, vulnerabilities });

  it('names package, range, advisory and fix of what is severe', () => {
    const fixAvailable = { name: 'a', version: '1.2.3', isSemVerMajor: false };
    expect(readAudit(audit({ a: { severity: 'high', via: [via('high'), via('low')], fixAvailable } }))).toEqual({
      findings: ['a <1.2.3: high: Bad thing https://example.org/1 (fixed by a@1.2.3)'],
    });
  });

  it.each([
    ['nothing found', {}],
    ['something moderate', { a: { severity: 'moderate', via: [via('moderate')], fixAvailable: true } }],
    ['a package that only depends on another', { b: { severity: 'critical', via: ['a'], fixAvailable: false } }],
  ])('passes with %s', (_, vulnerabilities) => {
    expect(readAudit(audit(vulnerabilities))).toEqual({ findings: [] });
  });

  it.each([
    ['no output', '', 'npm gave no report'],
    ['a refusal', '{"message":"405 Method Not Allowed","error":{"summary":"","detail":""}}', '405 Method Not Allowed'],
    ['no network', '{"error":{"code":"ENOTFOUND","summary":"request failed"}}', 'request failed'],
    ['another form', '{"advisories":{}}', 'npm gave a report of an unknown form'],
  ])('says why it could not look: %s', (_, output, unavailable) => {
    expect(readAudit(output)).toEqual({ unavailable });
  });

  it('fails a release without a report, and no run of the tests', () => {
    const result = readAudit('');
    expect(auditProblems(result, false)).toEqual([]);
    expect(auditProblems(result, true)).toEqual([
      'advisories were not checked, which a release needs: npm gave no report',
    ]);
    expect(auditProblems({ findings: [] }, true)).toEqual([]);
    expect(auditProblems({ findings: ['a'] }, false)).toEqual(['a']);
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
    expect(scripts['check:release']).toBe('tsx scripts/check-advisories.ts --required');
    expect(scripts.prepublishOnly).toBe('npm run check:release');
  });

  it('installs in CI what the lockfile names, and runs no scripts of packages', () => {
    expect(readFileSync('.ci/run', 'utf8')).toMatch(/^npm ci --ignore-scripts$/m);
    expect(readFileSync('.ci/run', 'utf8')).not.toMatch(/npm (?:install|i)\b/);
  });
});

describe('the count of tests', () => {
  const results = (numPassedTests: number, numFailedTests: number, testResults: object[] = []): string =>
    JSON.stringify({ numPassedTests, numFailedTests, testResults });
  const stillborn = { status: 'failed', assertionResults: [] };

  it.each([
    ['all passed', results(3, 0), true, { passed: 3, failed: 0 }],
    ['some failed', results(3, 2), false, { passed: 3, failed: 2 }],
    ['a file that cannot be loaded', results(3, 1, [stillborn]), false, { passed: 3, failed: 2 }],
    ['an unhandled error', results(3, 0), false, { passed: 3, failed: 1 }],
    ['a crash without a report', undefined, false, { passed: 0, failed: 1 }],
  ])('%s', (_, json, succeeded, counts) => {
    expect(countTests(json, succeeded)).toEqual(counts);
  });
});

describe('the names of failed tests', () => {
  const test = (fullName: string, failureMessages?: string[]) => ({
    fullName,
    status: failureMessages === undefined ? 'passed' : 'failed',
    failureMessages,
  });
  const report = (testResults: object[]): string => JSON.stringify({ testResults });

  it('come with what each said first, files that could not be loaded included', () => {
    const file = (name: string, rest: object) => ({ name: `${process.cwd()}/test/${name}`, status: 'failed', ...rest });
    const json = report([
      file('a.test.ts', {
        assertionResults: [test('adds'), test('divides', ['\u001b[31mError: by 0\u001b[39m\n at x'])],
      }),
      file('b.test.ts', { message: 'no such module\nat y', assertionResults: [] }),
    ]);

    expect(failedTests(json)).toEqual(['test/a.test.ts: divides: Error: by 0', 'test/b.test.ts: no such module']);
  });

  it('are thirty at most, and none without a report', () => {
    const assertionResults = Array.from({ length: 33 }, (_, at) => test(`t${at}`, ['x'.repeat(900)]));
    const lines = failedTests(report([{ name: 'a', status: 'failed', assertionResults }]));

    expect(lines).toHaveLength(31);
    expect(lines.at(-1)).toBe('… and 3 more');
    expect(failedTests(undefined)).toEqual([]);
  });
});

describe('the check', () => {
  it('ends with the plain count, failures of other steps included', () => {
    const lines = summary([
      { name: 'style', isFine: false, seconds: 0.51, counts: undefined },
      { name: 'unit', isFine: true, seconds: 12, counts: { passed: 40, failed: 0 } },
      { name: 'marble', isFine: false, seconds: 2, counts: { passed: 7, failed: 2 }, failures: ['a: b', 'a: c'] },
    ]);
    expect(lines).toEqual([
      'FAILED style        0.5 s',
      'ok     unit         12.0 s',
      'FAILED marble       2.0 s',
      'marble: a: b',
      'marble: a: c',
      'failed: style, marble',
      '47 passed, 3 failed',
    ]);
  });

  it('runs everything unless steps are named, in its own order', () => {
    expect(pickSteps([])).toBe(STEPS);
    expect(pickSteps(['types', 'style']).map(({ name }) => name)).toEqual(['style', 'types']);
    expect(() => pickSteps(['typos'])).toThrow(/no such step: typos; there are style, /);
  });

  it('tells canvases from other JSON among the examples', () => {
    const component = { obj: { component_name: 'Begin', params: {} } };
    const found = findCanvases([
      { path: 'examples/v1.json', text: JSON.stringify({ components: { begin: component } }) },
      { path: 'examples/v2.json', text: '{"version":2}' },
      { path: 'examples/data.json', text: '[1, 2]' },
      { path: 'examples/broken.json', text: '{' },
    ]);
    expect(found.canvases).toEqual(['examples/v1.json', 'examples/v2.json']);
    expect(found.broken).toEqual([expect.stringMatching(/^examples\/broken\.json: /)]);
  });
});

describe('the component page', () => {
  const echo = defineComponent({
    type: 'Echo',
    aliases: ['Repeat'],
    summary: 'Says a text again.',
    params: z.looseObject({
      text: z.string().default('hi').describe('What to say, a | b.'),
      mode: z.enum(['loud', 'soft']).describe('How.'),
      words: z.array(z.number()).optional(),
    }),
    outputs: { content: { type: 'string', description: 'The text.' } },
    create: () => () => ({}),
  });

  it('lists parameters with type and default, and outputs', () => {
    const page = componentPage([echo as never]);
    for (const line of [
      '## Echo',
      'Says a text again. Also known as `Repeat`.',
      '| `text` | string | `"hi"` | What to say, a \\| b. |',
      '| `mode` | `"loud"` or `"soft"` |  | How. |',
      '| `words` | array of number |  |  |',
      '| `content` | string | The text. |',
    ]) {
      expect(page.split('\n')).toContain(line);
    }
  });
});
