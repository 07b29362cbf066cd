/** Steps of runs: which one stands for a node, which one ended a run, and how one is chosen, named and given another value. */
import type { Locator, Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { RunPicture } from '../../../src/canvas/picture/picture.js';
import { PictureFold } from '../../../src/canvas/picture/picture-fold.js';
import type { JsonObject } from '../../../src/json.js';
import { endingStep, readStep, stepNumbered, stepOfNode } from '../../../web/trace/steps.js';
import { documentOf, ECHO } from '../../transport/support/documents.js';
import { answering, conversation, say } from '../support/conversation.js';
import { RunScript } from '../support/run-script.js';
import { hasChromium, named, openStudio } from '../support/studio.js';

const pictureOf = ({ events }: RunScript): RunPicture => {
  const fold = new PictureFold();
  for (const event of events) fold.add(event);
  return fold.picture;
};

/** Three times the same node, of which the second time fails and is handled; then another failure ends the run. */
function handledFailure(): RunPicture {
  const script = new RunScript();
  script.settle(script.start('read', 'loop/0'), 10);
  script.fail(script.start('read', 'loop/1'), 10, 'The first one.');
  script.settle(script.start('read', 'loop/2'), 10);
  script.fail(script.start('write', 'loop/2'), 10, 'The last one.');
  const error = { code: 'NODE_FAILED', message: 'The last one.' } as const;
  const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, calls: 0 };
  script.add({ type: 'run-failed', error, elapsedMs: 40, input: {}, usage });
  return pictureOf(script);
}

describe('steps', () => {
  it.each([
    ['step=12', 12],
    ['step=0', 0],
    ['step=-1', undefined],
    ['step=x', undefined],
    ['step=9999999999999999', undefined],
    ['at=3', undefined],
  ])('are read from the query %j as %j', (query, step) => {
    expect(readStep(new URLSearchParams(query))).toBe(step);
  });

  it('stand for their node: the first that failed, of those that had begun', () => {
    const picture = handledFailure();
    const [first, failed] = picture.nodes.get('read')?.activations ?? [];
    expect(stepOfNode(picture, 'read')).toBe(failed);
    expect(stepOfNode(picture, 'read', (failed?.startSeq ?? 0) - 1)).toBe(first);
    expect(stepOfNode(picture, 'read', 1)).toBeUndefined();
    expect(stepOfNode(picture, 'elsewhere')).toBeUndefined();
    expect(stepNumbered(picture, failed?.ordinal ?? -1)).toBe(failed);
    expect(stepNumbered(picture, 1_000)).toBeUndefined();
  });

  it('ended a run when their error is its error, whatever failed and was handled before', () => {
    const picture = handledFailure();
    expect(endingStep(picture)).toBe(picture.nodes.get('write')?.activations[0]);
    const { error: _, ...withoutError } = picture;
    expect(endingStep(withoutError)).toBeUndefined();
    expect(
      endingStep({ ...picture, error: { code: 'MODEL_UNAVAILABLE', message: 'It took too long.' } }),
    ).toBeUndefined();
  });
});

/** A node on the canvas. */
const node = (page: Page, name: RegExp): Locator =>
  page.getByRole('region', { name: 'Canvas' }).getByRole('group', { name });
const details = (page: Page, name: string): Locator => page.getByRole('region', { name: `What ${name} did` });
const form = (page: Page): Locator => page.getByRole('complementary', { name: 'Form of Message' });

const oneOf = (container: string): JsonObject =>
  documentOf({
    begin: ['Begin', [`${container}:Each`], { inputs: { words: { name: 'Words', type: 'line', optional: true } } }],
    [`${container}:Each`]: [
      container,
      ['Message:End'],
      { items_ref: 'begin@words', outputs: { lines: { ref: 'LLM:Write@content', type: 'Array<string>' } } },
    ],
    'IterationItem:Start': ['IterationItem', ['LLM:Write'], {}, `${container}:Each`],
    'LLM:Write': [
      'LLM',
      [],
      { llm_id: 'scripted', sys_prompt: 'Write.', prompts: [{ role: 'user', content: '{item}' }] },
      `${container}:Each`,
    ],
    'Message:End': ['Message', [], { content: [`{${container}:Each@lines}`] }],
  });

async function openRun(dsl: JsonObject, body: JsonObject, prepare?: (page: Page) => Promise<unknown>) {
  const studio = await openStudio({ models: answering(['A line.']) });
  await prepare?.(studio.page);
  const id = await studio.agent(dsl);
  const run: string = (await studio.server.call('POST', `/api/v1/agents/${id}/run`, body)).body.data.run_id;
  await studio.open(`/agents/${id}/runs/${run}`);
  const runs = async (): Promise<number> => (await studio.server.call('GET', '/api/v1/runs')).body.total;
  return { ...studio, id, run, runs };
}

describe.skipIf(!hasChromium)(named('a step of a run'), () => {
  it('is shown by a click on its node, stands in the address, and is there again after a reload', async () => {
    const { page } = await openRun(ECHO, { query: 'red' });
    await conversation(page).getByText('you said red').waitFor();
    await node(page, /^Message, /).click();
    await details(page, 'Message').getByText('you said red').waitFor();
    const address = page.url();
    expect(address).toMatch(/tab=trace&step=\d+$/);
    await page.reload();
    await details(page, 'Message').getByText('you said red').waitFor();
    expect(page.url()).toBe(address);
    await node(page, /^Begin, /).click();
    await details(page, 'Begin').waitFor();
    expect(page.url()).not.toBe(address);
  });

  it('leaves the form of its node a double click away, and a click where the run was begun on the page', async () => {
    const { page } = await openRun(ECHO, { query: 'red' });
    await conversation(page).getByText('you said red').waitFor();
    await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
    await node(page, /^Message, /).dblclick();
    await form(page).waitFor();
    await details(page, 'Message').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Run', exact: true }).click();
    await say(page, 'blue');
    await conversation(page).getByText('you said blue').waitFor();
    await node(page, /^Begin, /).click();
    await page.getByRole('complementary', { name: 'Form of Begin' }).waitFor();
    expect(await page.getByRole('tab', { name: 'Run', exact: true }).getAttribute('aria-selected')).toBe('true');
  });

  it.each<[string, (page: Page) => Promise<void>]>([
    ['a double click', (page) => node(page, /^Message, /).dblclick()],
    ['Enter', (page) => node(page, /^Message, /).press('Enter')],
  ])('opens the form that %s asked for before the editor had come', async (_, ask) => {
    let come = (): void => {};
    const comes = new Promise<void>((resolve) => {
      come = resolve;
    });
    const hold = async (route: Route): Promise<void> => {
      await comes;
      await route.continue();
    };
    const { page } = await openRun(ECHO, { query: 'red' }, (unopened) => unopened.route('**/studio/editor-*.js', hold));
    await conversation(page).getByText('you said red').waitFor();
    await ask(page);
    await details(page, 'Message').waitFor();
    expect(await form(page).count()).toBe(0);
    come();
    await form(page).waitFor();
  });

  it('takes another list as JSON, says what is none, and can be left as it was', async () => {
    const { page, runs } = await openRun(oneOf('Iteration'), { query: 'x', inputs: { words: ['one', 'two'] } });
    await conversation(page).getByText('A line.', { exact: false }).waitFor();
    await node(page, /^Iteration, /).click({ position: { x: 20, y: 12 } });
    const step = details(page, 'Iteration');
    await step.getByRole('tree', { name: 'Iteration:Each@lines' }).waitFor();
    await step.getByRole('button', { name: 'Change Iteration:Each@lines' }).click();
    const field = step.getByRole('textbox', { name: 'Iteration:Each@lines' });
    await field.fill('["no end"');
    await step.getByText('This is no JSON.', { exact: false }).waitFor();
    expect(await step.getByRole('button', { name: 'Run on with this value' }).isDisabled()).toBe(true);
    await field.press('Control+Enter');
    await step.getByRole('button', { name: 'Leave it as it was' }).click();
    await step.getByRole('tree', { name: 'Iteration:Each@lines' }).waitFor();
    await step.getByRole('button', { name: 'Change Iteration:Each@lines' }).click();
    await field.fill('["Another one."]');
    expect(await runs()).toBe(1);
    await step.getByRole('button', { name: 'Run on with this value' }).click();
    await page.getByText('B goes on from event', { exact: false }).waitFor();
    await page.getByRole('region', { name: 'Answer' }).locator('ins', { hasText: 'Another' }).first().waitFor();
    expect(await runs()).toBe(2);
  });

  it('in a pass with values of its own takes no other value: the server says why, and starts nothing', async () => {
    const { page, runs } = await openRun(oneOf('Parallel'), { query: 'x', inputs: { words: ['one', 'two'] } });
    await conversation(page).getByText('A line.', { exact: false }).waitFor();
    await node(page, /^LLM, /).click();
    const step = details(page, 'LLM');
    await step.getByText('Parallel, pass 2').waitFor();
    await step.getByRole('textbox', { name: 'LLM:Write@content' }).fill('Another one.');
    await page.keyboard.press('Control+Enter');
    await step.getByRole('alert').getByText('it ran in a pass with values of its own', { exact: false }).waitFor();
    expect(await runs()).toBe(1);
    expect(await step.getByRole('textbox', { name: 'LLM:Write@content' }).inputValue()).toBe('Another one.');
  });
});
