/** What the settings show. */
import { describe, expect, it } from 'vitest';
import { axeFindings } from './support/axe.js';
import { hasChromium, named, openStudio } from './support/studio.js';

const KEY = 'a-key-of-twenty-four-chars';

describe.skipIf(!hasChromium)(named('the settings'), () => {
  it('say what the server has and takes, and how it is', async () => {
    const { page, open } = await openStudio();
    await open('/settings');
    await page.getByRole('region', { name: 'Health' }).getByText('answers').first().waitFor();
    await page
      .getByRole('region', { name: 'Models' })
      .getByRole('row', { name: /^scripted/ })
      .waitFor();
    await page.getByRole('region', { name: 'Limits' }).getByText('Steps of a run').waitFor();
    await page.getByText('This server needs no keys').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  it('change language and theme', async () => {
    const { page, open } = await openStudio();
    await open('/settings');
    await page.getByRole('combobox', { name: 'Theme' }).selectOption('dark');
    await page.getByRole('combobox', { name: 'Language' }).selectOption('zh');
    await page.getByRole('heading', { name: '设置' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
    await page.getByRole('region', { name: '健康状况' }).getByRole('tree').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  it('say where the key is, never which, and forget it', async () => {
    const { page, open } = await openStudio({ env: { RUNNEL_API_KEYS: KEY } });
    await open('/settings');
    const login = page.getByRole('dialog', { name: 'This server needs a key' });
    await login.getByLabel('Key', { exact: true }).fill(KEY);
    await login.getByLabel('Keep on this device').check();
    await login.getByRole('button', { name: 'Enter' }).click();
    await page.getByText('A key is kept on this device').waitFor();
    expect(await page.content()).not.toContain(KEY);
    await page.getByRole('button', { name: 'Forget the key' }).click();
    await login.waitFor();
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain(KEY);
  });
});
