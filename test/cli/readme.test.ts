import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  CONFIGURATION_PAGE,
  configurationPage,
  SETTING_GROUPS,
  settingRow,
} from '../../scripts/generate-configuration-docs.js';
import { call } from './fake-terminal.js';

const README = readFileSync(path.resolve(import.meta.dirname, '../../README.md'), 'utf8');

describe('the README', () => {
  it('describes settings as they are', () => {
    const rows = SETTING_GROUPS.flatMap(([, settings]) => settings).map(settingRow);
    const shown = README.split('\n').filter((line) => /^\| `[A-Z_]+` \|/.test(line));
    expect(shown.length).toBeGreaterThan(5);
    expect(rows).toEqual(expect.arrayContaining(shown));
  });

  it.each(['serve', 'run', 'chat', 'validate', 'convert', 'draw', 'trace', 'components', 'prune'])(
    'shows the call of %s',
    async (name) => {
      const usage = /^Usage: runnel (.*)$/m.exec((await call(['help', name])).out)?.[1] as string;
      expect(README).toContain(`| \`runnel ${usage.replaceAll('|', '\\|')}\` |`);
    },
  );
});

describe('docs/configuration.md', () => {
  it('is what `npm run docs:configuration` writes', () => {
    expect(readFileSync(CONFIGURATION_PAGE, 'utf8')).toBe(configurationPage());
  });
});
