import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPackages, licenceProblems, licenceTable } from '../../scripts/check-licences.js';
import { parseLicence, satisfies } from '../../scripts/support/spdx.js';

describe('licence expressions', () => {
  const accepts = (id: string): boolean => id === 'MIT' || id === 'ISC';

  it.each([
    ['MIT', true],
    ['GPL-3.0-only', false],
    ['(MIT)', true],
    ['MIT OR GPL-3.0-only', true],
    ['MIT AND GPL-3.0-only', false],
    ['MIT and ISC', true],
    ['GPL-2.0-only OR MIT AND ISC', true],
    ['(GPL-2.0-only OR MIT) AND ISC', true],
    ['(GPL-2.0-only OR MIT) AND AGPL-3.0-only', false],
    ['((MIT))', true],
    ['MIT WITH some-exception', true],
    ['MIT+', false],
  ])('%s: %s', (text, isMet) => {
    const expression = parseLicence(text);
    expect(expression && satisfies(expression, accepts)).toBe(isMet);
  });

  it.each(['', 'SEE LICENSE IN terms.txt', 'MIT OR', 'AND MIT', '(MIT', 'MIT)', 'MIT, ISC', 'MIT ISC'])(
    'refuses to read "%s"',
    (text) => expect(parseLicence(text)).toBeUndefined(),
  );
});

describe('the licence gate', () => {
  const one = (licence: string, texts = '') => [{ name: 'thing', version: '1.0.0', licence, texts }];

  it.each([
    ['AGPL-3.0-only', ''],
    ['AGPL-3.0-or-later', ''],
    ['SSPL-1.0', ''],
    ['BUSL-1.1', ''],
    ['UNLICENSED', ''],
    ['SEE LICENSE IN LICENSE.md', ''],
    ['', 'a text that names nothing'],
    ['MIT', '"Commons Clause" License Condition v1.0'],
    ['MIT', 'Server Side Public License\nVERSION 1'],
    ['MIT', 'Business Source License 1.1'],
    ['MIT', 'GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3'],
    ['MIT OR Apache-2.0', 'This program is under the terms of the GNU Affero General Public License.'],
  ])('refuses "%s" with the text "%s"', (licence, texts) => {
    expect(licenceProblems(one(licence, texts))).toEqual([expect.stringMatching(/^thing@1\.0\.0: /)]);
  });

  it.each([
    ['MIT', 'Permission is hereby granted'],
    ['AGPL-3.0-only OR MIT', ''],
    ['MPL-2.0', '"Secondary License" means the GNU Affero General Public License, Version 3.0'],
  ])('accepts "%s" with the text "%s"', (licence, texts) => {
    expect(licenceProblems(one(licence, texts))).toEqual([]);
  });

  it('lets an exception stand for one version only', () => {
    const exceptions = new Map([['thing@1.0.0', 'its author allowed it by letter']]);
    expect(licenceProblems(one(''), exceptions)).toEqual([]);
    expect(licenceProblems([{ name: 'thing', version: '1.0.1', licence: '', texts: '' }], exceptions)).toHaveLength(1);
  });

  it('counts packages by licence', () => {
    expect(licenceTable([...one('ISC'), ...one('MIT'), ...one('MIT'), ...one('')])).toEqual([
      '     2  MIT',
      '     1  (none)',
      '     1  ISC',
    ]);
  });

  it('finds nested, scoped and merely locked packages, in old and new forms', () => {
    const root = mkdtempSync(path.join(tmpdir(), 'runnel-licences-'));
    const add = (folder: string, manifest: object, licence?: string): void => {
      mkdirSync(path.join(root, folder), { recursive: true });
      writeFileSync(path.join(root, folder, 'package.json'), JSON.stringify(manifest));
      if (licence !== undefined) writeFileSync(path.join(root, folder, 'LICENCE.txt'), licence);
    };
    try {
      add('node_modules/a', { name: 'a', version: '1.0.0', license: 'MIT' }, 'the text');
      add('node_modules/a/node_modules/@s/b', { name: '@s/b', version: '2.0.0', license: { type: 'ISC' } });
      add('node_modules/c', { name: 'c', version: '3.0.0', licenses: [{ type: 'MIT' }, { type: 'Apache-2.0' }] });
      const packages = {
        '': { name: 'root', version: '0.0.0' },
        'node_modules/a': { version: '1.0.0', license: 'MIT' },
        'node_modules/a/node_modules/@other/os': { version: '4.0.0', license: 'BUSL-1.1', optional: true },
      };
      writeFileSync(path.join(root, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
      expect(findPackages(root)).toEqual([
        { name: 'a', version: '1.0.0', licence: 'MIT', texts: 'the text' },
        { name: '@s/b', version: '2.0.0', licence: 'ISC', texts: '' },
        { name: 'c', version: '3.0.0', licence: 'MIT OR Apache-2.0', texts: '' },
        { name: '@other/os', version: '4.0.0', licence: 'BUSL-1.1', texts: '' },
      ]);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});
