/** Looking at a run: its trace with what nodes read and called, its state at any moment, and going on from there. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import { documentOf, ECHO, FORM } from '../../transport/support/documents.js';
import { engineEvents } from '../../transport/support/event-stream.js';
import type { TestServer } from '../../transport/support/server.js';
import { answering } from '../support/conversation.js';
import { hasChromium, named, openStudio } from '../support/studio.js';

/** Writes a line about each word. */
const LINES: JsonObject = {
  ...documentOf({
    begin: ['Begin', ['Iteration:Each'], { inputs: { words: { name: 'Words', type: 'line', optional: true } } }],
    'Iteration:Each': [
      'Iteration',
      ['Message:End'],
      { items_ref: 'begin@words', outputs: { lines: { ref: 'LLM:Write@content', type: 'Array<string>' } } },
    ],
    'IterationItem:Start': ['IterationItem', ['LLM:Write'], {}, 'Iteration:Each'],
    'LLM:Write': [
      'LLM',
      [],
      {
        llm_id: 'scripted',
        sys_prompt: 'Write about {item}, with {env.api_key}.',
        prompts: [{ role: 'user', content: '{sys.query}' }],
      },
      'Iteration:Each',
    ],
    'Message:End': ['Message', [], { content: ['That was it.'] }],
  }),
  variables: { api_key: { name: 'api_key', type: 'string', value: 'open sesame' } },
};

const ask = async (server: TestServer, agent: string, body: object): Promise<string> =>
  (await server.call('POST', `/api/v1/agents/${agent}/run`, body)).body.data.run_id;

/** Number of the event with which a node began for the last time. */
const lastStart = async (server: TestServer, agent: string, run: string, node: string): Promise<number> => {
  const events = await engineEvents(server.url, agent, run);
  return events.findLast((one) => one.type === 'node-started' && one.node === node)?.seq as number;
};

/** The page of a run about two words. */
async function openLines() {
  const studio = await openStudio({ models: answering(['A line.']) });
  const { server, agent } = studio;
  const id = await agent(LINES);
  const run = await ask(server, id, { query: 'be short', inputs: { words: ['one', 'two'] } });
  return { ...studio, id, run };
}

/** In a line of the trace; what lies further to the right may be a mark, which moves the scrubber. */
const ON_NAME = { x: 90, y: 12 };

const openTab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true }).click();
const scrubber = (page: Page) => page.getByRole('slider', { name: 'Moment of the run' });

describe.skipIf(!hasChromium)(named('the trace of a run'), () => {
  it('shows what a node read in each pass, without secrets, and what its model was asked and answered', async () => {
    const { page, open, id, run } = await openLines();
    await open(`/agents/${id}/runs/${run}`);
    await openTab(page, 'Trace');
    const lines = page.getByRole('row').filter({ hasText: /^doneLLM/ });
    await lines.last().click({ position: ON_NAME });
    const details = page.getByRole('region', { name: 'What LLM did' });
    await details.getByText('Iteration, pass 2').waitFor();
    const read = details.getByRole('region', { name: 'Read' });
    await read.getByRole('group', { name: 'item' }).getByText('two', { exact: true }).waitFor();
    await read.getByRole('group', { name: 'sys.query' }).getByText('be short').waitFor();
    await read.getByText('not shown: its name says that it is secret').waitFor();
    expect(await read.textContent()).not.toContain('sesame');
    await details.getByRole('tree', { name: 'Asked' }).getByText('Write about two', { exact: false }).waitFor();
    const wrote = details.getByRole('textbox', { name: 'LLM:Write@content' });
    await expect.poll(() => wrote.inputValue()).toBe('A line.');
    await lines.first().click({ position: ON_NAME });
    await details.getByText('Iteration, pass 1').waitFor();
    await read.getByRole('group', { name: 'item' }).getByText('one', { exact: true }).waitFor();
  });

  it('shows what a tool was asked and answered', async () => {
    const retriever = { search: async () => [] };
    const { page, open, agent, server } = await openStudio({
      models: JSON.stringify({
        scripted: {
          rules: [{ times: 1, tool_calls: [{ name: 'search_my_dateset_0', arguments: { query: 'bridges' } }] }],
          default: { reply: 'Nothing.' },
        },
      }),
      services: { retriever },
    });
    const id = await agent(
      documentOf({
        begin: ['Begin', ['Agent:Ask']],
        'Agent:Ask': [
          'Agent',
          ['Message:End'],
          {
            llm_id: 'scripted',
            sys_prompt: 'Search.',
            prompts: [{ role: 'user', content: '{sys.query}' }],
            tools: [{ component_name: 'Retrieval', name: 'Retrieval', params: { dataset_ids: ['ds'] } }],
          },
        ],
        'Message:End': ['Message', [], { content: ['{Agent:Ask@content}'] }],
      }),
    );
    const run = await ask(server, id, { query: 'find bridges' });
    await open(`/agents/${id}/runs/${run}`);
    await openTab(page, 'Trace');
    await page
      .getByRole('row')
      .filter({ hasText: /^doneAgent/ })
      .click({ position: ON_NAME });
    const details = page.getByRole('region', { name: 'What Agent did' });
    const call = details.getByRole('listitem').filter({ hasText: /^donesearch_my_dateset/ });
    await call.getByText('Asked', { exact: true }).click();
    await call.getByText('bridges').waitFor();
    await call.getByText('Answered', { exact: true }).click();
    await call.getByRole('tree', { name: 'Answered' }).waitFor();
  });
});

describe.skipIf(!hasChromium)(named('the waterfall of a run'), () => {
  const line = (page: Page, name: RegExp) => page.getByRole('treegrid', { name: 'Trace' }).getByRole('row', { name });

  it('unfolds passes and calls, by buttons and by keyboard, and sums up time and tokens', async () => {
    const { page, open, id, run } = await openLines();
    await open(`/agents/${id}/runs/${run}`);
    await openTab(page, 'Trace');
    await page
      .getByText(/^\d+ ms · \d+ steps · \d+ tokens in 2 calls$|^[\d.]+ s · \d+ steps · \d+ tokens in 2 calls$/)
      .waitFor();
    await line(page, /Pass 2/).waitFor();
    await page.getByRole('button', { name: 'Fold all', exact: true }).click();
    await line(page, /Pass 2/).waitFor({ state: 'detached' });
    expect(await line(page, /Iteration/).getAttribute('aria-expanded')).toBe('false');
    await page.getByRole('treegrid', { name: 'Trace' }).focus();
    for (const key of ['Home', 'ArrowDown', 'ArrowRight', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    await line(page, /Pass 1/)
      .and(page.locator('[aria-level="2"][aria-expanded="true"]'))
      .waitFor();
    await line(page, /LLM/).first().waitFor();
    expect(await line(page, /Pass 2/).getAttribute('aria-expanded')).toBe('false');
    await page.getByRole('button', { name: 'Unfold all', exact: true }).click();
    await expect.poll(() => line(page, /LLM/).count()).toBe(2);
    await page.getByRole('button', { name: 'As a table' }).click();
    const sum = page.getByRole('table', { name: 'Nodes in sum' }).getByRole('row', { name: /^LLM/ });
    await sum.getByRole('cell', { name: '2', exact: true }).waitFor();
  });

  it('marks the node of a line on the canvas, and moves the run to a mark', async () => {
    const { page, open, agent, server } = await openStudio({ models: answering(['A ', 'slow ', 'line.'], 150) });
    const id = await agent(LINES);
    const run = await ask(server, id, { query: 'x', inputs: { words: ['one'] } });
    const { length: last } = await engineEvents(server.url, id, run);
    await open(`/agents/${id}/runs/${run}`);
    await openTab(page, 'Trace');
    const node = page.getByRole('group', { name: /^LLM, LLM/ });
    await node.waitFor();
    expect(await node.getAttribute('aria-current')).not.toBe('true');
    await line(page, /LLM/).first().hover({ position: ON_NAME });
    await expect.poll(() => node.getAttribute('aria-current')).toBe('true');
    // Marks are there for pointers: lines and scrubber say the same to keyboards.
    await page
      .locator('g', { has: page.locator('> title', { hasText: /^text, after / }) })
      .last()
      .click();
    await expect.poll(() => page.url()).toMatch(/[?&]at=\d+/);
    const at = Number(/[?&]at=(\d+)/.exec(page.url())?.[1]);
    expect(await scrubber(page).getAttribute('aria-valuetext')).toBe(`Event ${at} of ${last}`);
    const events = await engineEvents(server.url, id, run);
    expect(events[at - 1]).toMatchObject({ seq: at, type: 'node-delta', node: 'LLM:Write' });
  });
});

describe.skipIf(!hasChromium)(named('the state of a run'), () => {
  it('says which node is at work in which pass, and what the pass is about', async () => {
    const { page, open, server, id, run } = await openLines();
    const at = await lastStart(server, id, run, 'LLM:Write');
    await open(`/agents/${id}/runs/${run}?at=${at}`);
    await openTab(page, 'State');
    const tokens = page.getByRole('region', { name: 'At work and waiting' });
    await tokens.getByRole('listitem').filter({ hasText: 'runningLLMIteration, pass 2' }).waitFor();
    expect(await tokens.getByRole('listitem').allTextContents()).toEqual([
      'runningIteration',
      'runningLLMIteration, pass 2',
    ]);
    const passes = page.getByRole('region', { name: 'Open passes' });
    await passes.getByRole('treeitem', { name: /item: "two"/ }).waitFor();
    await page.getByRole('button', { name: 'Previous event' }).click();
    await tokens.getByRole('listitem').filter({ hasText: 'queuedLLMIteration, pass 2' }).waitFor();
    await page.getByRole('button', { name: 'Last event' }).click();
    await tokens.waitFor({ state: 'detached' });
    expect(await passes.count()).toBe(0);
  });

  it('says what a run waits for', async () => {
    const { page, open, agent, server } = await openStudio();
    const id = await agent(FORM);
    await open(`/agents/${id}/runs/${await ask(server, id, { query: 'x' })}`);
    await openTab(page, 'State');
    const token = page.getByRole('region', { name: 'At work and waiting' }).getByRole('listitem');
    await token.getByText('waiting', { exact: true }).waitFor();
    await token.getByText('What it asks for').click();
    await token.getByText('Where to?').waitFor();
  });

  it('names what was too large to be shown', async () => {
    const { page, open, agent, server } = await openStudio();
    const id = await agent(
      documentOf({
        begin: ['Begin', ['Message:A'], { inputs: { text: { name: 'Text', type: 'line', optional: true } } }],
        'Message:A': ['Message', [], { content: ['short'] }],
      }),
    );
    const run = await ask(server, id, { query: 'x', inputs: { text: 'x'.repeat(5 * 1024 ** 2) } });
    await open(`/agents/${id}/runs/${run}`);
    await openTab(page, 'State');
    const omitted = page.getByRole('region', { name: 'Too large to be shown' });
    await omitted.getByText('outputs › Begin › text').waitFor();
    await omitted.getByText('5.0 MiB').waitFor();
  });

  it('is moved through by keyboard, step by step and to both ends', async () => {
    const { page, open, id, run, server } = await openLines();
    const { length: last } = await engineEvents(server.url, id, run);
    await open(`/agents/${id}/runs/${run}`);
    await openTab(page, 'State');
    await page.getByText(`After event ${last}`, { exact: true }).waitFor();
    await scrubber(page).focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByText(`After event ${last - 1}`, { exact: true }).waitFor();
    expect(await scrubber(page).getAttribute('aria-valuetext')).toBe(`Event ${last - 1} of ${last}`);
    await page.keyboard.press('Home');
    await page.getByText('After event 1', { exact: true }).waitFor();
    expect(page.url()).toMatch(/[?&]at=1$/);
    await page.getByRole('tab', { name: 'State' }).focus();
    await page.keyboard.press('.');
    await page.getByText('After event 2', { exact: true }).waitFor();
    await page.keyboard.press(',');
    await page.getByText('After event 1', { exact: true }).waitFor();
    await page.keyboard.press('Shift+End');
    await page.getByText(`After event ${last}`, { exact: true }).waitFor();
    expect(page.url()).not.toContain('at=');
    await page.reload();
    await page.getByText(`After event ${last}`, { exact: true }).waitFor();
  });
});

describe.skipIf(!hasChromium)(named('runs side by side'), () => {
  it('are any two of an agent, chosen by hand', async () => {
    const { page, open, agent, server } = await openStudio();
    const id = await agent(ECHO);
    const [a, b] = [await ask(server, id, { query: 'red' }), await ask(server, id, { query: 'blue' })];
    await open(`/agents/${id}/compare`);
    await page.getByText('Choose two runs to compare.').waitFor();
    await page.getByRole('combobox', { name: 'Run A' }).selectOption(a);
    await page.getByRole('combobox', { name: 'Run B' }).selectOption(b);
    const steps = page.getByRole('region', { name: 'Steps of both runs' });
    await steps.getByRole('row').filter({ hasText: 'Message' }).getByText('different').waitFor();
    const answer = page.getByRole('region', { name: 'Answer' });
    // Which nodes tell their text is known a moment later.
    await answer.locator('ins').waitFor();
    expect(await answer.locator('del, ins').allTextContents()).toEqual(['only in A: red', 'only in B: blue']);
    expect(page.url()).toContain(`a=${a}&b=${b}`);
    expect(await page.getByText('B goes on from event', { exact: false }).count()).toBe(0);
  });

  it('keep what was changed when the server refuses to run on, and say why', async () => {
    const { page, open, server, id, run } = await openLines();
    // The node is at work, and will replace what it has stored so far.
    const at = await lastStart(server, id, run, 'LLM:Write');
    await open(`/agents/${id}/runs/${run}?at=${at}`);
    await openTab(page, 'State');
    await page.getByRole('button', { name: 'Run on from here' }).click();
    const dialog = page.getByRole('dialog', { name: `Run on from event ${at}` });
    await dialog.getByRole('textbox', { name: 'Question' }).fill('be long');
    await dialog.getByRole('button', { name: 'Change Iteration:Each@lines' }).click();
    await dialog.getByRole('textbox', { name: 'Iteration:Each@lines' }).fill('["Another line."]');
    await dialog.getByRole('button', { name: 'Run on' }).click();
    const failure = dialog.getByRole('alert');
    await failure.getByText('Outputs of "Iteration:Each" cannot be changed', { exact: false }).waitFor();
    expect(await dialog.getByRole('textbox', { name: 'Iteration:Each@lines' }).inputValue()).toBe('["Another line."]');
    expect(await dialog.getByRole('textbox', { name: 'Question' }).inputValue()).toBe('be long');
    expect((await server.call('GET', '/api/v1/runs')).body.total).toBe(1);
    await dialog.getByRole('button', { name: 'Leave Iteration:Each@lines as it was' }).click();
    await dialog.getByRole('button', { name: 'Run on' }).click();
    await page.getByText(`B goes on from event ${at} of A.`, { exact: false }).waitFor();
  });
});
