import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ENGINE_SETTINGS, STORE_SETTINGS, TELEMETRY_SETTINGS } from '../../src/cli/settings.js';
import { describeSettings } from '../../src/transport/index.js';
import { call } from './fake-terminal.js';

const README = readFileSync(path.resolve(import.meta.dirname, '../../README.md'), 'utf8');

describe('the README', () => {
  it.each(
    [...describeSettings(), ...STORE_SETTINGS, ...ENGINE_SETTINGS, ...TELEMETRY_SETTINGS].map(
      (setting) => [setting.name, setting] as const,
    ),
  )('describes %s as it is', (_name, { name, default: value, meaning }) => {
    expect(README.split('\n')).toContain(`| \`${name}\` | ${value} | ${meaning} |`);
  });

  it.each(['serve', 'run', 'validate', 'convert', 'draw', 'trace', 'components', 'prune'])(
    'shows the call of %s',
    async (name) => {
      const usage = /^Usage: runnel (.*)$/m.exec((await call(['help', name])).out)?.[1] as string;
      expect(README).toContain(`| \`runnel ${usage.replaceAll('|', '\\|')}\` |`);
    },
  );
});
