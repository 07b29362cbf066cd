/** Editing an agent on its page. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { axeFindings } from '../support/axe.js';
import { conversation, example, say } from '../support/conversation.js';
import { startProxy } from '../support/proxy.js';
import { hasChromium, named, type OpenedStudio, openStudio } from '../support/studio.js';

const node = (page: Page, name: string | RegExp) => page.getByRole('group', { name, exact: true });
const palette = (page: Page) => page.getByRole('region', { name: 'Components' });
const form = (page: Page, name: string) => page.getByRole('complementary', { name: `Form of ${name}` });
const saved = (page: Page) => page.getByText(/^Draft, saved/);
const undo = (page: Page) => page.getByRole('button', { name: 'Undo' });

interface StoredEntry {
  readonly downstream: readonly string[];
  readonly obj: { readonly component_name: string; readonly params: JsonObject };
}

/** The draft that the server has. */
async function stored({ server }: OpenedStudio, id: string) {
  const { body } = await server.call('GET', `/api/v1/agents/${id}`);
  const dsl = body.data.dsl as { components: Record<string, StoredEntry> } & JsonObject;
  return {
    dsl,
    updateTime: body.data.update_time as number,
    types: Object.values(dsl.components).map(({ obj }) => obj.component_name),
  };
}

async function openEditor(name: string, options: Parameters<typeof openStudio>[0] = {}) {
  const studio = await openStudio(options);
  const dsl = await example(name);
  const id = await studio.agent(dsl);
  await studio.open(`/agents/${id}`);
  await node(studio.page, /^Begin, Begin/).waitFor();
  await paletteReady(studio.page);
  return { ...studio, id, dsl };
}

/** The palette has come with its types. */
async function paletteReady(page: Page): Promise<void> {
  await palette(page).getByRole('button', { name: 'LLM', exact: true }).waitFor();
}

const type = (page: Page, name: string) => palette(page).getByRole('button', { name, exact: true });
const toolbar = (page: Page) => page.getByRole('toolbar', { name: 'Tools of the editor' });
const close = (page: Page) => page.getByRole('button', { name: 'Close the form' });

/** Whether all nodes of the canvas lie in what is seen of it. */
const seesWhole = (page: Page): Promise<boolean> =>
  page.evaluate(() => {
    const seen = document.querySelector('.react-flow')?.getBoundingClientRect();
    const nodes = [...document.querySelectorAll('.react-flow__node')].map((one) => one.getBoundingClientRect());
    return seen !== undefined && nodes.every(({ left, right }) => left >= seen.left && right <= seen.right);
  });

describe.skipIf(!hasChromium)(named('the editor'), () => {
  it('adds what the palette offers behind what is selected, saves it, and takes it back', async () => {
    const studio = await openEditor('hello');
    const { page, id } = studio;
    await node(page, 'Greet, Message').click();
    await palette(page).getByRole('searchbox').fill('string');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await node(page, /^StringTransform_0, StringTransform/).waitFor();
    await page.getByRole('group', { name: 'Greet → StringTransform_0' }).waitFor({ state: 'attached' });
    await saved(page).waitFor();
    expect((await stored(studio, id)).types).toEqual(['Begin', 'Message', 'StringTransform']);
    await undo(page).click();
    await node(page, /^StringTransform_0/).waitFor({ state: 'detached' });
    await expect.poll(async () => (await stored(studio, id)).types).toEqual(['Begin', 'Message']);
    await page.getByRole('button', { name: 'Redo' }).click();
    await node(page, /^StringTransform_0, StringTransform/).waitFor();
  });

  it('changes no byte by looking', async () => {
    const { page, id, server } = await openEditor('branch');
    const before = await server.call('GET', `/api/v1/agents/${id}`);
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PATCH') sent.push(request.url());
    });
    await node(page, 'Topic, Switch').click();
    await form(page, 'Topic')
      .getByText('More')
      .or(form(page, 'Topic').getByText(/^\d+ more$/))
      .first()
      .click();
    await form(page, 'Topic').getByRole('button', { name: 'Parameters as JSON' }).click();
    await page.getByRole('button', { name: 'Close the form' }).click();
    await page.getByRole('button', { name: 'New conversation' }).click();
    await page.goto(`${page.url().split('#')[0]}#/agents`);
    await page.getByRole('button', { name: 'New agent' }).waitFor();
    expect(sent).toEqual([]);
    const after = await server.call('GET', `/api/v1/agents/${id}`);
    expect(after.body.data).toEqual(before.body.data);
  });

  it('writes parameters by the form, a typed text as one step, and runs what was typed', async () => {
    const studio = await openEditor('hello');
    const { page, id } = studio;
    await node(page, 'Greet, Message').click();
    const content = form(page, 'Greet')
      .getByRole('textbox', { name: /^Content/ })
      .first();
    await content.fill('Good evening, ');
    await content.press('End');
    await form(page, 'Greet')
      .getByRole('button', { name: /^Insert a reference: Content/ })
      .or(form(page, 'Greet').getByRole('button', { name: /^Insert a reference/ }))
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'sys.query' }).click();
    await expect.poll(() => content.inputValue()).toContain('{sys.query}');
    await say(page, 'sailor');
    await conversation(page).getByText('Good evening, sailor').waitFor();
    while (await undo(page).isEnabled()) await undo(page).click();
    await expect.poll(async () => JSON.stringify((await stored(studio, id)).dsl)).not.toContain('Good evening');
  });

  it('folds the palette while a run is shown, until it is wanted or the conversation is left', async () => {
    const { page } = await openEditor('hello');
    await say(page, 'sailor');
    await conversation(page).getByText('You said "sailor"').waitFor();
    await palette(page).waitFor({ state: 'detached' });
    await expect.poll(() => seesWhole(page)).toBe(true);
    await page.getByRole('button', { name: 'Components' }).click();
    await paletteReady(page);
    await expect.poll(() => seesWhole(page)).toBe(true);
    await page.getByRole('button', { name: 'Close the palette' }).click();
    await palette(page).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New conversation' }).click();
    await paletteReady(page);
  });

  it('keeps the palette beside a run in a window that has room for both', async () => {
    const { page } = await openEditor('hello', { browser: { viewport: { width: 1680, height: 900 } } });
    await say(page, 'sailor');
    await conversation(page).getByText('You said "sailor"').waitFor();
    await paletteReady(page);
  });

  it('connects by the form, says why other connections are refused, and takes them away', async () => {
    const studio = await openEditor('hello');
    const { page, id } = studio;
    await page.getByRole('button', { name: 'Close the palette' }).click();
    await page.getByRole('button', { name: 'Components' }).click();
    await type(page, 'LLM').click();
    await node(page, /^LLM_0, LLM/).waitFor();
    const ways = form(page, 'LLM_0').getByRole('region', { name: 'Leads to' });
    const connect = ways.getByRole('combobox', { name: 'Connect Next to' });
    await expect
      .poll(() => connect.getByRole('option', { name: /^Begin: Nothing can lead to/ }).isDisabled())
      .toBe(true);
    await connect.selectOption({ label: 'Greet' });
    // A level line has no height, and so cannot be seen.
    await page.getByRole('group', { name: 'LLM_0 → Greet' }).waitFor({ state: 'attached' });
    await expect
      .poll(async () => Object.values((await stored(studio, id)).dsl.components).map(({ downstream }) => downstream))
      .toEqual([['Message:Greet'], [], ['Message:Greet']]);
    await ways.getByRole('button', { name: 'Disconnect Greet' }).click();
    await page.getByRole('group', { name: 'LLM_0 → Greet' }).waitFor({ state: 'detached' });
  });

  it('draws edges by pointer, and a loose end asks what comes', async () => {
    const { page } = await openEditor('hello');
    const ends = async (name: string) => {
      const box = await node(page, name).boundingBox();
      const y = box!.y + (30 * box!.height) / 100;
      return { entry: { x: box!.x + 1, y }, exit: { x: box!.x + box!.width, y } };
    };
    const { exit } = await ends('Greet, Message');
    await page.mouse.move(exit.x, exit.y);
    await page.mouse.down();
    await page.mouse.move(exit.x + 60, exit.y + 90, { steps: 5 });
    await page.mouse.move(exit.x + 40, exit.y + 160, { steps: 5 });
    await page.mouse.up();
    const picker = page.getByRole('region', { name: 'Add a component' });
    await picker.getByRole('searchbox').fill('Switch');
    await page.keyboard.press('Enter');
    await page.getByRole('group', { name: 'Greet → Switch_0' }).waitFor({ state: 'attached' });
    await page.getByText('else', { exact: true }).first().waitFor();
    await close(page).click();
    await page.getByRole('button', { name: 'Show all' }).click();
    // From an exit to the start, which nothing can lead to.
    const [from, to] = [(await ends('Greet, Message')).exit, (await ends('Begin, Begin')).entry];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x + 60, to.y + 60, { steps: 8 });
    await page.mouse.move(to.x, to.y, { steps: 4 });
    await page.mouse.up();
    await page.getByRole('status').getByText('Nothing can lead to "Begin": runs start there.').waitFor();
  });

  it('copies to another tab and pastes there, deletes with the body, all by keyboard', async () => {
    const { page, tab, agent } = await openEditor('loop', {
      browser: { permissions: ['clipboard-read', 'clipboard-write'] },
    });
    const loop = page.getByRole('group', { name: /, Loop$/ });
    await loop.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => loop.getAttribute('aria-current')).toBe('true');
    await page.keyboard.press('Control+C');
    const other = await tab();
    await other.open(`/agents/${await agent(await example('hello'))}`);
    await toolbar(other.page).waitFor();
    await node(other.page, 'Greet, Message').focus();
    await other.page.keyboard.press('Control+V');
    const pasted = other.page.getByRole('group', { name: /, Loop$/ });
    await pasted.waitFor();
    await other.page
      .getByRole('group', { name: /, LLM$/ })
      .first()
      .waitFor();
    await pasted.focus();
    await other.page.keyboard.press('Delete');
    await pasted.waitFor({ state: 'detached' });
    expect(await other.page.getByRole('group', { name: /, LLM$/ }).count()).toBe(0);
    await other.page.keyboard.press('Control+Z');
    await pasted.waitFor();
    await other.page.keyboard.press('Control+Shift+Z');
    await pasted.waitFor({ state: 'detached' });
  });

  it('moves and wraps by keyboard, and keeps the places over a reload', async () => {
    const studio = await openEditor('hello');
    const { page, id } = studio;
    await node(page, 'Greet, Message').focus();
    await page.keyboard.press('Enter');
    await close(page).click();
    await node(page, 'Greet, Message').focus();
    await page.keyboard.press('ArrowDown');
    await saved(page).waitFor();
    await page
      .getByRole('toolbar', { name: 'Tools of Greet' })
      .getByRole('button', { name: 'Put into a container' })
      .click();
    await page.getByRole('menuitem', { name: 'Put into a Loop' }).click();
    await page.getByRole('group', { name: /^Loop_0, Loop/ }).waitFor();
    await expect
      .poll(async () => (await stored(studio, id)).types.toSorted())
      .toEqual(['Begin', 'Loop', 'LoopItem', 'Message']);
    await expect.poll(() => saved(page).count()).toBe(1);
    await page.reload();
    await page.getByRole('group', { name: /^Loop_0, Loop/ }).waitFor();
    await page.getByRole('group', { name: 'Begin → Loop_0' }).waitFor({ state: 'attached' });
  });

  it('leads from a problem to the field that it is about', async () => {
    const { page } = await openEditor('hello');
    await type(page, 'Retrieval').or(type(page, 'Invoke')).first().waitFor();
    await type(page, 'Invoke').click();
    await node(page, /^Invoke_0/).waitFor();
    await close(page).click();
    await page.getByRole('button', { name: /^\d+ problems?$/ }).click();
    await page.getByRole('menuitem', { name: /Invoke_0 › url/ }).click();
    await expect
      .poll(() =>
        form(page, 'Invoke_0')
          .getByRole('textbox', { name: /^URL/ })
          .evaluate((element) => element === document.activeElement),
      )
      .toBe(true);
  });

  it('shows references as chips, broken ones with the reason, and lets them follow a new id', async () => {
    const studio = await openEditor('agent');
    const { page, id } = studio;
    await node(page, 'Guide, Agent').click();
    const field = form(page, 'Guide').getByRole('textbox', { name: 'Id', exact: true });
    await field.fill('Agent:Leader');
    await field.press('Enter');
    await expect.poll(async () => JSON.stringify((await stored(studio, id)).dsl)).toContain('{Agent:Leader@content}');
    await close(page).click();
    await node(page, 'Reply, Message').click();
    const chips = form(page, 'Reply').getByRole('list', { name: 'References' });
    await chips.getByText('Guide › content').waitFor();
    await form(page, 'Reply')
      .getByRole('textbox', { name: /^Content/ })
      .first()
      .fill('{Nowhere:A@content}');
    await chips.getByText('There is no such component.').waitFor({ state: 'attached' });
  });

  it('writes parameters as JSON, and never shows a secret', async () => {
    const dsl = JSON.parse(JSON.stringify(await example('hello')));
    dsl.components['TavilySearch:Find'] = {
      obj: { component_name: 'TavilySearch', params: { query: '{sys.query}', api_key: 'tvly-top-secret' } },
      downstream: [],
      upstream: [],
    };
    const studio = await openStudio();
    const { page } = studio;
    const id = await studio.agent(dsl);
    await studio.open(`/agents/${id}`);
    await toolbar(page).waitFor();
    await node(page, /, TavilySearch$/).click();
    await page.getByText('set, and not shown').waitFor();
    await page.getByRole('button', { name: 'Parameters as JSON' }).click();
    const json = page.getByRole('textbox', { name: 'Parameters, as JSON' });
    await page.locator('[data-code]').waitFor();
    expect(await json.textContent()).toContain('••••••••');
    await json.fill('{ "query": ');
    await page.getByText(/^This is no JSON: /).waitFor();
    await json.fill(JSON.stringify({ query: 'news', api_key: '••••••••' }));
    await expect
      .poll(async () => (await stored(studio, id)).dsl.components['TavilySearch:Find']?.obj.params)
      .toEqual({ query: 'news', api_key: 'tvly-top-secret' });
    expect(await page.content()).not.toContain('tvly-top-secret');
  });

  it('keeps what is typed while the server is away, over a reload too, and saves it when it is back', async () => {
    let proxy: Awaited<ReturnType<typeof startProxy>> | undefined;
    const studio = await openStudio({
      address: async ({ url }) => {
        proxy = await startProxy({ target: () => url });
        return proxy.url;
      },
    });
    const { page } = studio;
    const id = await studio.agent(await example('hello'));
    await studio.open(`/agents/${id}`);
    await toolbar(page).waitFor();
    await node(page, 'Greet, Message').click();
    const name = form(page, 'Greet').getByRole('textbox', { name: 'Name', exact: true });
    // Its form is drawn by files of the server, which is away behind that.
    await name.waitFor();
    proxy!.cut();
    await name.fill('Written while away');
    await page.getByText('The server is away: kept in this tab').waitFor();
    proxy!.mend();
    await page.reload();
    await node(page, 'Written while away, Message').waitFor();
    await expect.poll(async () => JSON.stringify((await stored(studio, id)).dsl)).toContain('Written while away');
    const kept = 'Object.keys(sessionStorage).filter((name) => name.startsWith("runnel.editor."))';
    await expect.poll(() => page.evaluate(kept)).toEqual([]);
  });

  it('does not write over what was changed elsewhere: keeps mine, or loads the other one', async () => {
    const studio = await openEditor('hello');
    const { page, id, server } = studio;
    const elsewhere = async (title: string) => {
      const { dsl } = await stored(studio, id);
      const changed = JSON.parse(JSON.stringify(dsl));
      changed.components['Message:Greet'].obj.params.content = [title];
      await server.call('PATCH', `/api/v1/agents/${id}`, { dsl: changed });
    };
    await elsewhere('theirs 1');
    await node(page, 'Greet, Message').click();
    const name = page.getByRole('complementary').getByRole('textbox', { name: 'Name', exact: true });
    await name.fill('Mine');
    await page.getByRole('alert').getByText('This draft was changed elsewhere.').waitFor();
    expect(JSON.stringify((await stored(studio, id)).dsl)).toContain('theirs 1');
    await page.getByRole('button', { name: 'Keep mine' }).click();
    await saved(page).waitFor();
    expect(JSON.stringify((await stored(studio, id)).dsl)).toContain('Mine');
    await elsewhere('theirs 2');
    await name.fill('Mine again');
    await page.getByRole('button', { name: 'Load the other one' }).click();
    await node(page, 'Mine, Message').click();
    await page.getByRole('complementary').getByText('theirs 2').waitFor();
    expect(JSON.stringify((await stored(studio, id)).dsl)).not.toContain('Mine again');
  });

  it('tries one component with the values of the last run', async () => {
    const { page } = await openEditor('hello');
    await say(page, 'ahoy');
    await conversation(page)
      .getByText(/You said "ahoy"/)
      .waitFor();
    await node(page, /^Greet, Message/).click();
    await page.getByRole('button', { name: 'Try this component' }).click();
    const trial = page.getByRole('region', { name: 'Try it alone' });
    const query = trial.getByRole('textbox', { name: 'sys.query' });
    await expect.poll(() => query.inputValue()).toBe('ahoy');
    await query.fill('land in sight');
    await trial.getByRole('button', { name: 'Run it' }).click();
    await trial.getByText(/You said \\?"land in sight/).waitFor();
  });

  it('publishes, and says why a draft that cannot run is not published', async () => {
    const { page, id, server } = await openEditor('hello');
    const dialog = page.getByRole('dialog', { name: 'Publish this draft' });
    await page.getByRole('button', { name: 'Publish' }).click();
    await dialog.getByRole('textbox', { name: 'Title of the version' }).fill('First');
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await dialog.getByText(/^Published\./).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    const versions = await server.call('GET', `/api/v1/agents/${id}/versions`);
    expect(versions.body.data.map(({ title }: { title: string }) => title)).toEqual(['First']);
    await type(page, 'Invoke').click();
    await node(page, /^Invoke_0/).waitFor();
    await page.getByRole('button', { name: 'Publish' }).click();
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await dialog.getByRole('alert').getByText(/url/).waitFor();
  });

  it.each(['light', 'dark'] as const)('has no serious fault of accessibility, %s', async (colorScheme) => {
    const { page } = await openEditor('agent', { browser: { colorScheme } });
    expect(await axeFindings(page)).toEqual([]);
    await node(page, 'Guide, Agent').click();
    await form(page, 'Guide').waitFor();
    for (const summary of await form(page, 'Guide').locator('summary').all()) await summary.click();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Variables of the canvas' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});
