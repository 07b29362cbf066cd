import { describe, expect, it } from 'vitest';
import { installProblems, productionPackages, typeProblems } from '../../scripts/check-package.js';

const entry = (version: string, more: object = {}) => ({ version, ...more });

describe('what an installation brings', () => {
  it('is what the lock file does not mark as for development, nested packages too', () => {
    const packages = productionPackages({
      packages: {
        '': entry('1.0.0'),
        'node_modules/a': entry('1.2.3', { engines: { node: '>=20' } }),
        'node_modules/a/node_modules/@b/c': entry('2.0.0', { hasInstallScript: true, engines: ['node >= 0.8'] }),
        'node_modules/d': entry('3.0.0', { dev: true }),
      },
    });
    expect(packages).toEqual([
      { name: 'a', folder: 'node_modules/a', version: '1.2.3', node: '>=20', hasInstallScript: false },
      { name: '@b/c', folder: 'node_modules/a/node_modules/@b/c', version: '2.0.0', node: '*', hasInstallScript: true },
    ]);
  });
});

describe('what keeps a package from being installed', () => {
  const one = (name: string, more: object = {}) => ({
    name,
    folder: `node_modules/${name}`,
    version: '1.0.0',
    node: '>=20',
    hasInstallScript: false,
    ...more,
  });

  it('is nothing for packages as they should be', () => {
    expect(installProblems([one('a'), one('b', { node: '^20.19.0 || >=22' })], { c: '1' }, '>=20.19')).toEqual([]);
  });

  it.each([
    ['an override', [one('a')], { a: '2' }, '>=20.19', /a@1\.0\.0: is overridden here/],
    ['an override within another package', [one('a')], { z: { a: '2' } }, '>=20.19', /a@1\.0\.0: is overridden here/],
    ['a newer Node', [one('a', { node: '>=22' })], {}, '>=20.19', /asks for Node ">=22", which 20\.19\.0 is not/],
    ['a script', [one('a', { hasInstallScript: true })], {}, '>=20.19', /runs a script/],
    ['a package that leaves out a version of Node itself', [], {}, '>=22', /leaves out Node 20\.19\.0/],
  ] as const)('is %s', (_, packages, overrides, node, expected) => {
    const problems = installProblems(packages, overrides, node);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(expected);
  });

  it('is not an override of a package for development that names others', () => {
    expect(installProblems([one('z')], { z: { a: '2' } }, '>=20.19')).toEqual([]);
  });
});

describe('the types of the entries', () => {
  it('lead to packages of an installation only, as far as an entry reaches', () => {
    const files = [
      { path: 'dist/index.d.ts', text: "import type { A } from './a.js';\nimport { z } from 'zod';\n" },
      { path: 'dist/a.d.ts', text: "/** import { x } from 'y'; */\nexport type A = import('docx').B;\n" },
      { path: 'dist/other.d.ts', text: "import 'exceljs';\n" },
    ];
    expect(typeProblems(files, ['dist/index.d.ts'], new Set(['zod']))).toEqual(['dist/a.d.ts: needs docx']);
  });
});
