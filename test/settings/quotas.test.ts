import { describe, expect, it } from 'vitest';
import { DEFAULT_QUOTAS, QUOTA_WORDS, type QuotaName, requireRoom } from '../../src/records/quotas.js';
import { describeSettings } from '../../src/settings/read-settings.js';

const NAMES = Object.keys(DEFAULT_QUOTAS) as QuotaName[];

describe('quotas', () => {
  it.each(NAMES)('of %s are settings, which their refusals name', (name) => {
    const { setting } = QUOTA_WORDS[name];
    expect(describeSettings('stores')).toContainEqual(
      expect.objectContaining({ name: setting, shown: String(DEFAULT_QUOTAS[name]) }),
    );
    const refused = () => requireRoom({ ...DEFAULT_QUOTAS, [name]: 5 }, name, 4, 2);
    expect(refused).toThrow(expect.objectContaining({ code: 'QUOTA_EXCEEDED' }));
    expect(refused).toThrow(new RegExp(`has 4 .*of at most 5.*To make room, .*raise ${setting}`));
  });

  it('of 0 bound nothing, and what is full already takes what needs no room', () => {
    requireRoom({ ...DEFAULT_QUOTAS, files: 0 }, 'files', 1e9, 1);
    requireRoom({ ...DEFAULT_QUOTAS, files: 5 }, 'files', 7, 0);
    requireRoom({ ...DEFAULT_QUOTAS, files: 5 }, 'files', 4, 1);
  });
});
