/** A chat that is asked what one search may not answer offers a research. */
import { describe, expect, it } from 'vitest';
import { conversation, say } from '../support/conversation.js';
import { openDatasets } from '../support/dataset-studio.js';
import { hasChromium, named } from '../support/studio.js';

const COMPARES = 'What is the difference between lamp A & lamp B?';

describe.skipIf(!hasChromium)(named('a chat that offers a research'), () => {
  it('links to the page of researches with the question, and to simple questions not', async () => {
    const studio = await openDatasets();
    const dataset = await studio.dataset('Station');
    await studio.ingest(dataset, 'lamps.txt', 'Lamp A was lit in 1911, lamp B in 1912.');
    const { page, open } = studio;
    await open('/chat');
    await say(page, COMPARES);
    const first = conversation(page).getByRole('article').first();
    const link = first.getByRole('link', { name: 'Research this' });
    await link.waitFor();
    await first.getByText('This question compares.').waitFor();
    const address = new URLSearchParams((await link.getAttribute('href'))?.replace('#/research?', ''));
    expect(address.get('question')).toBe(COMPARES);
    expect(address.get('datasets')).toBeNull();
    await say(page, 'When was lamp A lit?');
    const second = conversation(page).getByRole('article').nth(1);
    await second.getByText(/^took /).waitFor();
    expect(await second.getByRole('link', { name: 'Research this' }).count()).toBe(0);
  });

  it('leads to the form with the question and the datasets of the chat', async () => {
    const studio = await openDatasets();
    const [chosen] = [await studio.dataset('Station'), await studio.dataset('Other')];
    await studio.ingest(chosen, 'lamps.txt', 'Lamp A was lit in 1911, lamp B in 1912.');
    const { page, open } = studio;
    await open(`/chat?datasets=${chosen}`);
    await say(page, COMPARES);
    await conversation(page).getByRole('link', { name: 'Research this' }).click();
    const form = page.getByRole('form', { name: 'New research' });
    await form.getByRole('checkbox', { name: 'Station', checked: true }).waitFor();
    expect(await form.getByRole('checkbox', { name: 'Other' }).isChecked()).toBe(false);
    expect(await form.getByLabel('What is to be found out?').inputValue()).toBe(COMPARES);
  });
});
