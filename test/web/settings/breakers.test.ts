/** The breakers of model routes on the screen of the settings. */
import { describe, expect, it } from 'vitest';
import { hasChromium, named, openStudio } from '../support/studio.js';

const ADMIN_KEY = 'a-key-for-the-administrator';
const admin = { authorization: `Bearer ${ADMIN_KEY}` };

describe.skipIf(!hasChromium)(named('the breakers of models'), () => {
  it('are shown as they are, and as they become', async () => {
    const { page, open, server } = await openStudio({
      env: { RUNNEL_ADMIN_KEY: ADMIN_KEY },
      models: JSON.stringify({ routes: { chat: ['a', 'b'] } }),
    });
    await open('/settings');
    const section = page.getByRole('region', { name: 'Model routes' });
    const line = section.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'a', exact: true }) });
    await line.getByText('closed: calls go there').waitFor();
    await line.getByText('0 succeeded, 0 failed').waitFor();
    const force = async (state: string) =>
      expect((await server.call('POST', '/api/v1/chat/router', { target: 'a', state }, admin)).body.code).toBe(0);
    await force('open');
    await line.getByText('open: no calls go there').waitFor();
    await line.getByText('opened by an administrator').waitFor();
    expect(await section.getByText('closed: calls go there').count()).toBe(1);
    await force('closed');
    await expect.poll(() => section.getByText('closed: calls go there').count()).toBe(2);
  });

  it('are none without routes', async () => {
    const { page, open } = await openStudio();
    await open('/settings');
    await page.getByText('The configuration names no routes', { exact: false }).waitFor();
  });
});
