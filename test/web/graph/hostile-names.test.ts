/** Names of entities, relations and kinds that would run, or push the page apart, if it let them. */
import { describe, expect, it } from 'vitest';
import { hasChromium, named } from '../support/studio.js';
import { openGraph } from './support/graph-studio.js';

const EVIL = '"><img src=x onerror=alert(1)><svg onload=alert(2)>';

describe.skipIf(!hasChromium)(named('a graph with hostile names'), () => {
  it('shows them as they were written, within their places', async () => {
    const { page, open, address, ask, path } = await openGraph({ 'a.md': 'Orion uses Kafka.' });
    await ask('PUT', path, {
      nodes: [
        { id: 'a', name: `Evil ${EVIL}`, type: `<script>${EVIL}`, descriptions: [`${EVIL} \u202Etxt`] },
        { id: 'b', name: '\u202Egnp.exe', aliases: [EVIL] },
        { id: 'c', name: 'W'.repeat(120), descriptions: ['V'.repeat(2_000)] },
        { id: 'd', name: '__proto__', type: 'constructor' },
      ],
      edges: [
        { source: 'a', target: 'b', relation: `<b>${EVIL}</b>`, descriptions: [EVIL] },
        { source: 'a', target: 'c', relation: 'constructor' },
        { source: 'a', target: 'd', relation: '__proto__' },
      ],
    });
    await open(address);
    const table = page.getByRole('table', { name: 'Entities' });
    await table.getByRole('button', { name: `Evil ${EVIL}` }).click();
    await page
      .getByRole('region', { name: `Evil ${EVIL}` })
      .getByText(`<b>${EVIL}</b>`)
      .waitFor();
    await page.locator('canvas').first().waitFor();
    expect(await page.locator('main').locator('img, script, svg[onload], b').count()).toBe(0);
    const isWide = 'document.querySelector("main").scrollWidth > document.querySelector("main").clientWidth';
    expect(await page.evaluate(isWide)).toBe(false);
  });
});
