/** The chat on its page: stages, short circuits, citations, coming back. */
import { describe, expect, it } from 'vitest';
import { answering, conversation, countedWords, say } from '../support/conversation.js';
import { openDatasets, pdfOf } from '../support/dataset-studio.js';
import { hasChromium, named, openStudio } from '../support/studio.js';

const stage = (name: string, state: string) => ({ name: new RegExp(`${name}\\s+${state}`) });

/** Documents of two pages: a chunk each, or one of each page. */
async function withLamps(options: Parameters<typeof openDatasets>[0] = {}, method = 'presentation') {
  const studio = await openDatasets(options);
  const dataset = await studio.dataset('Station', { chunk_method: method });
  await studio.ingest(dataset, 'lamps.pdf', await pdfOf('The lamp turns once in ten seconds.', 'It was lit in 1911.'));
  await studio.ingest(
    dataset,
    '泵站手册.pdf',
    await pdfOf('水泵每小时输送三十立方米的水。', '阀门在压力超过八巴时打开。'),
  );
  return { ...studio, lamps: dataset };
}

describe.skipIf(!hasChromium)(named('the chat'), () => {
  it('answers from an English and a Chinese PDF without any key; a citation leads to its page', async () => {
    const { page, open } = await withLamps({}, 'naive');
    await open('/agents');
    await page.getByRole('link', { name: 'Chat' }).click();
    await page.getByText('No model is set up, so answers repeat what was found.').waitFor();
    for (const [question, source, text] of [
      ['When was the lamp lit?', 'lamps.pdf', 'It was lit in 1911.'],
      ['阀门什么时候打开？', '泵站手册.pdf', '阀门在压力超过八巴时打开。'],
    ] as const) {
      await say(page, question);
      const turn = conversation(page).getByRole('article').filter({ hasText: question }).last();
      await turn.getByText(/^took /).waitFor();
      await turn.getByRole('button', stage('Search', 'done')).waitFor();
      await turn.getByText(/^first token after/).waitFor();
      await turn.getByRole('button', { name: 'Evidence 1' }).first().click();
      const evidence = page.getByRole('dialog', { name: 'Evidence 1' });
      await evidence.getByRole('heading', { name: source }).waitFor();
      await evidence.getByText('document', { exact: true }).waitFor();
      // The chunk stands on both pages: the page of the answer is named, and stands where it begins.
      await evidence.getByText('passage: pages 1 to 2').waitFor();
      await evidence.getByRole('paragraph').getByText('page 2', { exact: true }).waitFor();
      expect(await evidence.locator('blockquote').textContent()).toContain(`page 2${text}`);
      await evidence.getByText(/^score \d\.\d{3}/).waitFor();
      await evidence.getByRole('link', { name: 'Open in the document' }).click();
      const chunk = page.getByRole('article').filter({ hasText: text });
      await chunk.getByText('page 1, 2').waitFor();
      await page.goBack();
      await conversation(page)
        .getByText(/^took /)
        .first()
        .waitFor();
    }
  });

  it('shows the passages before and after a source, as its document has them', async () => {
    const { page, open, lamps, ingest } = await withLamps();
    await ingest(
      lamps,
      'pumps.pdf',
      await pdfOf('Pumps are old.', 'A crane lifts forty tonnes.', 'Pipes are long.', 'Valves are round.'),
    );
    await open('/chat');
    await say(page, 'How much does a crane lift?');
    await conversation(page)
      .getByText(/^took /)
      .waitFor();
    await page.getByText(/^Evidence \(\d+\)/).click();
    const source = page.getByRole('listitem', { name: 'Evidence 1', exact: true });
    await source.getByRole('heading', { name: 'pumps.pdf' }).waitFor();
    await source.getByText('Before and after it in the document').click();
    const told = source.getByRole('definition');
    await told.first().waitFor();
    // The source has the passages next to what was found already.
    expect(await source.locator('blockquote').textContent()).toContain('Pumps are old.');
    expect(await told.allTextContents()).toEqual(['The document begins with it.', 'Valves are round.']);
  });

  it('shows a greeting as short circuit B, with the stages that were left out', async () => {
    const { page, open } = await withLamps();
    await open('/chat');
    await say(page, 'hello');
    await page.getByRole('button', stage('Direct answer', 'short circuit')).waitFor();
    await page.getByText(/^Short circuit B: /).waitFor();
    await page.getByRole('button', stage('Search', 'skipped')).waitFor();
    await page.getByRole('button', stage('Memory', 'done')).click();
    await page.getByRole('dialog', { name: 'Details of Memory' }).waitFor();
  });

  it('comes whole to a page that is loaded again in the middle, and stops when told to', async () => {
    const words = countedWords(40);
    const { page, open, tab } = await withLamps({ models: answering(words, 150) });
    await open('/chat?mode=SYSTEM');
    await say(page, 'Please write a line about lighthouses');
    for (const word of ['w2.', 'w6.', 'w12.']) {
      await conversation(page).getByText(word).waitFor();
      await page.reload();
    }
    const whole = conversation(page).getByText(words.join('').trim(), { exact: true });
    await whole.waitFor();
    expect(await whole.count()).toBe(1);
    const second = await tab();
    await second.open(new URL(page.url()).hash.slice(1));
    await conversation(second.page).getByText(words.join('').trim(), { exact: true }).waitFor();
    await say(page, 'Please write another line');
    await conversation(page).getByText('w2.').nth(1).waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await conversation(page)
      .getByText(/^Stopped after/)
      .waitFor();
    await page.getByRole('button', stage('Answer', 'cut off')).waitFor();
    await page.getByRole('button', { name: 'Ask again', exact: true }).click();
    await conversation(page).getByRole('article').nth(2).getByText('w2.').waitFor();
  });

  it('keeps conversations, and opens one again', async () => {
    const { page, open } = await withLamps();
    await open('/chat');
    await say(page, 'When was the lamp lit?');
    await conversation(page)
      .getByText(/^took /)
      .waitFor();
    await page.getByRole('link', { name: 'New conversation' }).click();
    await page.getByText('Ask your documents something.').waitFor();
    await page.getByRole('link', { name: /^When was the lamp lit/ }).click();
    await conversation(page)
      .getByText(/^took /)
      .waitFor();
    const conversations = page.getByRole('navigation', { name: 'Conversations' });
    expect(await conversations.getByRole('listitem').count()).toBe(1);
  });

  it('asks an edited question in a conversation of its own, which leads back to the other one', async () => {
    const { page, open } = await withLamps();
    const turns = conversation(page).getByRole('article');
    const answered = (turn: number) =>
      turns
        .nth(turn)
        .getByText(/^took /)
        .waitFor();
    await open('/chat');
    for (const [turn, question] of ['hello', 'When was the lamp lit?', 'thanks'].entries()) {
      await say(page, question);
      await answered(turn);
    }
    await turns.nth(1).getByRole('button', { name: 'Edit and ask again' }).click();
    const field = page.getByRole('textbox', { name: 'Message' });
    await page.getByText('Your question begins a conversation of its own', { exact: false }).waitFor();
    await expect.poll(() => field.inputValue()).toBe('When was the lamp lit?');
    await field.fill('How often does the lamp turn?');
    await field.press('Enter');
    await conversation(page).getByText('Goes on from another conversation', { exact: false }).waitFor();
    await answered(1);
    await page.reload();
    await answered(1);
    expect(await turns.count()).toBe(2);
    await turns.first().getByText('hello').first().waitFor();
    // What was taken over shows its stages, too.
    await turns.first().getByRole('button', { name: 'Show how it came about' }).click();
    await turns.first().getByRole('button', stage('Direct answer', 'short circuit')).waitFor();
    expect(await conversation(page).getByText('When was the lamp lit?').count()).toBe(0);
    await page.getByRole('link', { name: /^How often does the lamp turn/ }).waitFor();
    await page.getByRole('link', { name: 'Open that one' }).click();
    await turns.nth(2).waitFor();
    await conversation(page).getByText('When was the lamp lit?', { exact: true }).waitFor();
    expect(await conversation(page).getByText('How often does the lamp turn?').count()).toBe(0);
  });

  it('asks in the same conversation when an edit is given up, and keeps the question when it cannot be forked', async () => {
    const { page, open } = await withLamps();
    await open('/chat');
    await say(page, 'hello');
    const turns = conversation(page).getByRole('article');
    await turns
      .first()
      .getByText(/^took /)
      .waitFor();
    await page.route('**/fork', (route) =>
      route.fulfill({ status: 200, json: { code: 102, message: 'No room for another session.' } }),
    );
    await turns.first().getByRole('button', { name: 'Edit and ask again' }).click();
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('good day');
    await field.press('Enter');
    await page.getByRole('alert').getByText('No room for another session.').waitFor();
    expect(await field.inputValue()).toBe('good day');
    await page.getByRole('button', { name: 'Ask here instead' }).click();
    await field.press('Enter');
    await turns
      .nth(1)
      .getByText(/^took /)
      .waitFor();
    expect(await turns.count()).toBe(2);
  });

  it('leads to other conversations from a menu where there is no room beside it', async () => {
    const { page, open } = await withLamps({ browser: { viewport: { width: 800, height: 900 } } });
    await open('/chat');
    await say(page, 'hello');
    await conversation(page)
      .getByText(/^took /)
      .waitFor();
    await page.getByRole('button', { name: 'Conversations' }).click();
    await page.getByRole('menuitem', { name: 'New conversation' }).click();
    await page.getByText('Ask your documents something.').waitFor();
    await page.getByRole('button', { name: 'Conversations' }).click();
    await page.getByRole('menuitem', { name: /^hello/ }).click();
    await conversation(page)
      .getByText(/^took /)
      .waitFor();
  });

  it('searches the chosen datasets alone, which the address names', async () => {
    const { page, open, dataset, ingest } = await withLamps();
    const other = await dataset('Other');
    await ingest(other, 'cats.txt', 'Cats sleep all day.');
    await open('/chat');
    await page.getByText('Datasets: those of the assistant').click();
    await page.getByLabel('Other', { exact: true }).check();
    await page.getByText('Datasets: 1 chosen').waitFor();
    expect(page.url()).toContain(`datasets=${other}`);
    await say(page, 'When was the lamp lit?');
    await page.getByText(/^Short circuit C: /).waitFor();
  });

  it('is not offered by a server without chats', async () => {
    const { page, open } = await openStudio();
    await page.route('**/system/info', async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      body.data.parts = ['agents', 'runs'];
      await route.fulfill({ response, json: body });
    });
    await open('/agents');
    await page.getByRole('heading', { name: 'Agents' }).waitFor();
    await page.getByRole('link', { name: 'Settings' }).waitFor();
    expect(await page.getByRole('link', { name: 'Chat' }).count()).toBe(0);
  });
});
