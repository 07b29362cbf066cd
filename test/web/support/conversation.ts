/** What tests of running agents do on the page. */
import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import type { JsonObject } from '../../../src/json.js';
import { documentOf } from '../../transport/support/documents.js';

/** The canvas of an example. */
export const example = async (name: string): Promise<JsonObject> =>
  JSON.parse(await readFile(new URL(`../../../examples/${name}/canvas.json`, import.meta.url), 'utf8'));

/** The script of an example's models, as the file of `RUNNEL_MODELS`. */
export const exampleModels = (name: string): Promise<string> =>
  readFile(new URL(`../../../examples/${name}/models.json`, import.meta.url), 'utf8');

/** Says what a model answers. */
export const ASKING = documentOf({
  begin: ['Begin', ['LLM:Say']],
  'LLM:Say': [
    'LLM',
    ['Message:Reply'],
    { llm_id: 'scripted', sys_prompt: 'Count.', prompts: [{ role: 'user', content: '{sys.query}' }] },
  ],
  'Message:Reply': ['Message', [], { content: ['{LLM:Say@content}'] }],
});

/** A script in which the model answers in pieces, each after a pause. */
export const answering = (pieces: readonly string[], delayMs = 0): string =>
  JSON.stringify({ scripted: { default: { reply_stream: pieces, delay_ms: delayMs } } });

/** `w1 w2 w3 …` */
export const countedWords = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `w${index + 1}. `);

export const messageField = (page: Page): Locator => page.getByRole('textbox', { name: 'Message' });
export const conversation = (page: Page): Locator => page.getByRole('log', { name: 'Conversation' });

/** Sends a message. */
export async function say(page: Page, text: string): Promise<void> {
  await messageField(page).fill(text);
  await messageField(page).press('Enter');
}
