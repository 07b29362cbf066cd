/** Fields for code and JSON in the editor. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { axeFindings } from '../support/axe.js';
import { example } from '../support/conversation.js';
import { hasChromium, named, openStudio } from '../support/studio.js';

const SCRIPT = 'def main(arg1: str) -> dict:\n    return {"result": arg1}';

async function openCode(page: Page, open: (path: string) => Promise<unknown>, id: string) {
  await open(`/agents/${id}`);
  await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
  await page.getByRole('button', { name: 'CodeExec', exact: true }).waitFor();
  await page.getByRole('group', { name: /, CodeExec$/ }).focus();
  await page.keyboard.press('Enter');
  await page.locator('[data-code]').first().waitFor();
}

describe.skipIf(!hasChromium)(named('a field for code'), () => {
  it.each(['light', 'dark'] as const)('is written, left by keyboard and coloured, %s', async (colorScheme) => {
    const dsl = JSON.parse(JSON.stringify(await example('hello')));
    dsl.components['CodeExec:Run'] = {
      obj: { component_name: 'CodeExec', params: { lang: 'python', script: SCRIPT, arguments: { arg1: 'sys.query' } } },
      downstream: [],
      upstream: [],
    };
    const studio = await openStudio({ browser: { colorScheme } });
    const { page, server } = studio;
    const id = await studio.agent(dsl);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await openCode(page, studio.open, id);
    expect(asked.filter((url) => url.includes('lang-javascript'))).toEqual([]);
    const script = page.getByRole('textbox', { name: 'Script' });
    await expect.poll(() => script.textContent()).toBe(SCRIPT.replaceAll('\n', ''));
    const colourOf = (text: string) =>
      script
        .getByText(text, { exact: true })
        .first()
        .evaluate((span) => getComputedStyle(span).color);
    await expect.poll(async () => (await colourOf('def')) === (await colourOf('"result"'))).toBe(false);
    expect(await axeFindings(page)).toEqual([]);
    await script.press('Control+End');
    await page.keyboard.type('  # once');
    await page.keyboard.press('Control+d');
    const paramsOf = async () => {
      const { body } = await server.call('GET', `/api/v1/agents/${id}`);
      return (body.data.dsl.components['CodeExec:Run'].obj as JsonObject).params;
    };
    await expect.poll(paramsOf).toMatchObject({ script: `${SCRIPT}  # once` });
    // Tab indents; behind Escape it leaves.
    await page.keyboard.press('Tab');
    await expect.poll(paramsOf).toMatchObject({ script: expect.stringContaining('\n        return') });
    await expect
      .poll(() =>
        script.evaluate(
          (element) => element === (element.getRootNode() as unknown as { activeElement: unknown }).activeElement,
        ),
      )
      .toBe(true);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    await expect
      .poll(() =>
        script.evaluate(
          (element) => element === (element.getRootNode() as unknown as { activeElement: unknown }).activeElement,
        ),
      )
      .toBe(false);
    await page.getByRole('complementary').getByRole('button', { name: 'Parameters as JSON' }).click();
    const json = page.getByRole('textbox', { name: 'Parameters, as JSON' });
    await expect.poll(() => json.textContent()).toContain('"lang": "python"');
    expect(await axeFindings(page)).toEqual([]);
  });
});
