/** Looking at a run: which pass failed, what it was at an event, running on from there. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { axeFindings } from './support/axe.js';
import { hasChromium, named, type OpenedStudio, openStudio, type StudioOptions } from './support/studio.js';

const file = (name: string) => readFile(new URL(`../../examples/${name}`, import.meta.url), 'utf8');

/** For examples that call no model. */
const NO_MODELS = '{"scripted": {}}';

/** The loop of the examples, whose model fails when it checks the second draft. */
const FAILING = JSON.stringify({
  scripted: {
    rules: [
      { when: { system: 'You write', user: 'before: none' }, reply: 'A draft.' },
      { when: { system: 'You write' }, reply: 'A longer draft.' },
      { when: { system: 'You review', user: 'longer' }, error: 'the reviewer is ill' },
      { when: { system: 'You review' }, reply: 'Make it longer.' },
    ],
  },
});

interface Opened extends OpenedStudio {
  readonly agentId: string;
  readonly runId: string;
}

/** A finished run of an example, on its page. */
async function openRun(example: string, options: StudioOptions = {}, tab = 'trace'): Promise<Opened> {
  const models = options.models ?? (await file(`${example}/models.json`).catch(() => NO_MODELS));
  const studio = await openStudio({ ...options, models });
  const agentId = await studio.agent(JSON.parse(await file(`${example}/canvas.json`)) as JsonObject);
  const { headers } = await studio.server.call('POST', `/api/v1/agents/${agentId}/run`, { query: 'bridges' });
  const runId = String(headers.get('x-run-id'));
  await studio.open(`/agents/${agentId}/runs/${runId}?tab=${tab}`);
  return { ...studio, agentId, runId };
}

const trace = (page: Page) => page.getByRole('treegrid', { name: 'Trace' });
const scrubber = (page: Page) => page.getByRole('slider', { name: 'Moment of the run' });

describe.skipIf(!hasChromium)(named('the trace of a run'), () => {
  it('says which pass of a loop failed and why, in one click', async () => {
    const { page } = await openRun('loop', { models: FAILING });
    await page.getByRole('button', { name: 'First failure' }).click();
    const details = page.getByRole('region', { name: 'What Check did' });
    await details.getByText('Write until approved, pass 2').waitFor();
    await details.getByText('MODEL_UNAVAILABLE').waitFor();
    await details.getByRole('region', { name: 'Failed with' }).getByText('the reviewer is ill').waitFor();
    await trace(page)
      .getByRole('row', { name: /Pass 2/, selected: false })
      .waitFor();
    await trace(page).getByRole('row', { name: /Check/, selected: true }).waitFor();
  });

  it('is worked by keyboard alone', async () => {
    const { page } = await openRun('loop');
    await trace(page).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowLeft');
    await expect
      .poll(() =>
        trace(page)
          .getByRole('row', { name: /Pass 1/ })
          .count(),
      )
      .toBe(0);
    await page.keyboard.press('ArrowRight');
    await trace(page)
      .getByRole('row', { name: /Pass 1/ })
      .waitFor();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'What Begin did' }).waitFor();
  });

  it('has the same as a table', async () => {
    const { page } = await openRun('loop');
    await page.getByRole('button', { name: 'As a table' }).click();
    const table = page.getByRole('table', { name: 'Nodes in sum' });
    await table.getByRole('row', { name: /^Check done 3 / }).waitFor();
    const steps = page.getByRole('table', { name: 'Steps in the order in which they began' });
    await steps.getByRole('row', { name: /^Write Write until approved, pass 3 done/ }).waitFor();
  });

  it('shows a finished run at each of its events, also without the server', async () => {
    const { page, server } = await openRun('loop');
    await trace(page).waitFor();
    await scrubber(page).focus();
    await page.keyboard.press('Home');
    await expect.poll(() => page.url()).toMatch(/[?&]at=1(&|$)/);
    await page.getByText('Event 1 of').waitFor();
    const done = page.getByRole('region', { name: 'Canvas' }).getByText('done');
    await expect.poll(() => done.count()).toBe(0);
    await server.stop();
    await page.getByRole('button', { name: 'Last event' }).click();
    await page.getByRole('button', { name: 'Previous event' }).click();
    await expect.poll(() => scrubber(page).getAttribute('aria-valuetext')).toMatch(/^Event (\d+) of (?!\1)\d+$/);
    await page.getByRole('button', { name: 'End', exact: true }).click();
    await expect.poll(() => page.url()).not.toContain('at=');
    await expect.poll(() => done.count()).toBeGreaterThan(4);
  });

  it('plays a run again to its end', async () => {
    const { page } = await openRun('hello');
    await page.getByRole('button', { name: 'First event' }).click();
    await page.getByRole('combobox', { name: 'Speed' }).selectOption('16');
    await page.getByRole('button', { name: 'Play' }).click();
    await expect
      .poll(async () => {
        const text = (await scrubber(page).getAttribute('aria-valuetext')) ?? '';
        const [, at, of] = /^Event (\d+) of (\d+)$/.exec(text) ?? [];
        return at === of;
      })
      .toBe(true);
    await page.getByRole('button', { name: 'Play' }).waitFor();
  });

  it('lists the keys of the screen', async () => {
    const { page } = await openRun('loop');
    await trace(page).waitFor();
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keys' });
    await keys.getByText('Next event').waitFor();
    await keys.getByText('Zoom in').waitFor();
    await page.keyboard.press('Escape');
    await keys.waitFor({ state: 'detached' });
    await page.keyboard.press(',');
    await expect.poll(() => page.url()).toContain('at=');
  });

  it.each([
    ['light', 'en-US', 'Trace', 'State'],
    ['dark', 'zh-CN', '轨迹', '状态'],
  ] as const)('is accessible: %s, %s', async (colorScheme, locale, first, second) => {
    const { page } = await openRun('loop', { browser: { colorScheme, locale } });
    await page.getByRole('treegrid', { name: first }).getByRole('row').first().click();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('tab', { name: second }).click();
    await page.getByRole('tree').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});
