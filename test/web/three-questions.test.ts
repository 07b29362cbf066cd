/**
 * The three questions that people bring to a run, each answered on the page with its clicks and typed fields counted, and without
 * a model that is called twice.
 */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import type { ScriptInput } from '../../src/models/scripted.js';
import { countingModels } from '../transport/support/counting-models.js';
import { documentOf } from '../transport/support/documents.js';
import { hasChromium, named, openStudio } from './support/studio.js';

const asks = (system: string, prompt: string) => ({
  llm_id: 'm',
  sys_prompt: system,
  prompts: [{ role: 'user', content: prompt }],
});

const ECHOING: ScriptInput = { default: { reply: '<$user>' } };

/** The same document with names for its components: the ends of their ids. */
function withNames(document: JsonObject): JsonObject {
  const nodes = Object.keys(document.components as JsonObject).map((id) => ({
    id,
    data: { label: id.split(':')[0] ?? '', name: id.split(':')[1] ?? id },
  }));
  return { ...document, graph: { nodes, edges: [] } };
}

/** Reads a fact wrongly, and answers from it. */
const WRONG = withNames(
  documentOf({
    begin: ['Begin', ['LLM:Read']],
    'LLM:Read': ['LLM', ['LLM:Write'], asks('Read.', 'read {sys.query}')],
    'LLM:Write': ['LLM', ['Message:End'], asks('Write.', 'write {LLM:Read@content}')],
    'Message:End': ['Message', [], { content: ['{LLM:Write@content}'] }],
  }),
);

/** A pass for each word. */
const PASSES = withNames(
  documentOf({
    begin: ['Begin', ['Iteration:Each'], { inputs: { words: { name: 'Words', type: 'line', optional: true } } }],
    'Iteration:Each': [
      'Iteration',
      ['Message:End'],
      { items_ref: 'begin@words', outputs: { lines: { ref: 'LLM:Tell@content', type: 'Array<string>' } } },
    ],
    'IterationItem:Start': ['IterationItem', ['LLM:Tell'], {}, 'Iteration:Each'],
    'LLM:Tell': ['LLM', [], asks('Write.', 'about {item}'), 'Iteration:Each'],
    'Message:End': ['Message', [], { content: ['That was it.'] }],
  }),
);

interface Counted {
  clicks: number;
  fields: Set<EventTarget | null>;
}

/** Counts in the page what a person does: trusted clicks, and fields that are typed into. */
async function countActions(page: Page): Promise<() => Promise<{ readonly clicks: number; readonly fields: number }>> {
  await page.evaluate(() => {
    const counted: Counted = { clicks: 0, fields: new Set() };
    const target = globalThis as unknown as { counted: Counted } & EventTarget;
    target.counted = counted;
    const click = ({ isTrusted }: Event): void => {
      if (isTrusted) counted.clicks += 1;
    };
    target.addEventListener('pointerdown', click, true);
    target.addEventListener('input', (event) => void counted.fields.add(event.target), true);
  });
  return () =>
    page.evaluate(() => {
      const { counted } = globalThis as unknown as { counted: Counted };
      return { clicks: counted.clicks, fields: counted.fields.size };
    });
}

/** The page of a run that is over, before anything is done there. */
async function openRun(dsl: JsonObject, script: ScriptInput, body: JsonObject) {
  const models = countingModels(script);
  const studio = await openStudio({ services: models.services });
  const id = await studio.agent(dsl);
  const run: string = (await studio.server.call('POST', `/api/v1/agents/${id}/run`, body)).body.data.run_id;
  await studio.open(`/agents/${id}/runs/${run}`);
  await studio.page.getByRole('tab', { name: 'Trace', exact: true }).waitFor();
  const counted = await countActions(studio.page);
  return { ...studio, models, counted };
}

const expectValue = (field: Locator, value: string): Promise<void> => expect.poll(() => field.inputValue()).toBe(value);

/** A node on the canvas. */
const node = (page: Page, name: RegExp) => page.getByRole('region', { name: 'Canvas' }).getByRole('group', { name });

describe.skipIf(!hasChromium)(named('three questions to a run'), () => {
  it('why is this answer wrong: one click shows what a node read, what its model was asked and what it said', async () => {
    const { page, models, counted } = await openRun(WRONG, ECHOING, { query: 'x' });
    await node(page, /^Write, LLM/).click();
    const details = page.getByRole('region', { name: 'What Write did' });
    await details.getByRole('group', { name: 'LLM:Read@content' }).getByText('<read x>').waitFor();
    await details.getByRole('tree', { name: 'Asked' }).getByText('write <read x>', { exact: false }).waitFor();
    await expectValue(details.getByRole('textbox', { name: 'LLM:Write@content' }), '<write <read x>>');
    expect(await counted()).toEqual({ clicks: 1, fields: 0 });
    expect(models.calls).toHaveLength(2);
  });

  it('which pass of the loop failed: it is said where the answer would be, and one click shows what it did', async () => {
    const script = { rules: [{ when: { user: 'about two' }, error: 'it broke' }], default: { reply: 'fine' } };
    const { page, models, counted } = await openRun(PASSES, script, { query: 'x', inputs: { words: ['one', 'two'] } });
    const failure = page.getByRole('log', { name: 'Conversation' }).getByRole('alert');
    await failure.getByText('The run failed in Each, pass 2 › Tell').waitFor();
    await failure.getByText('it broke', { exact: false }).first().waitFor();
    expect(await counted()).toEqual({ clicks: 0, fields: 0 });
    await failure.getByRole('button', { name: 'Show the step' }).click();
    const details = page.getByRole('region', { name: 'What Tell did' });
    await details.getByText('Each, pass 2').waitFor();
    await details.getByRole('group', { name: 'item' }).getByText('two', { exact: true }).waitFor();
    await details.getByText('it broke', { exact: false }).first().waitFor();
    expect(await counted()).toEqual({ clicks: 1, fields: 0 });
    expect(models.calls).toHaveLength(2);
  });

  it('with another value: one click, a field and Ctrl+Enter, and only what comes behind it is asked', async () => {
    const { page, server, models, counted } = await openRun(WRONG, ECHOING, { query: 'x' });
    await node(page, /^Read, LLM/).click();
    const value = page
      .getByRole('region', { name: 'What Read did' })
      .getByRole('textbox', { name: 'LLM:Read@content' });
    await value.fill('RIGHT');
    await page.keyboard.press('Control+Enter');
    await page.getByText('B goes on from event', { exact: false }).waitFor();
    await expect.poll(async () => (await server.call('GET', '/api/v1/runs?status=succeeded')).body.total).toBe(2);
    expect(models.calls.map(({ user }) => user)).toEqual(['read x', 'write <read x>', 'write RIGHT']);
    expect(await counted()).toEqual({ clicks: 1, fields: 1 });
  });
});
