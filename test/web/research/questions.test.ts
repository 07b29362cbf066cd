/** A research by sub-questions on its screen: it is changed while it works, stopped, lost and found again. */
import { describe, expect, it } from 'vitest';
import { startProxy } from '../support/proxy.js';
import { hasChromium, named } from '../support/studio.js';
import {
  answeringSome,
  failingReport,
  formAddress,
  holding,
  isSilent,
  openResearch,
  part,
  reported,
  STEPS,
  start,
} from './support/research-studio.js';

/** Holds the reading of the first step, so that the others are open. */
const atFirstStep = () => holding((name, text) => name === 'research_read' && text.includes(STEPS[0]));

describe.skipIf(!hasChromium)(named('a research by questions'), () => {
  it('is changed while it works: questions added, dropped, answered and ordered, a source left out, enough', async () => {
    const { model, release } = atFirstStep();
    const { page, open } = await openResearch({ model });
    await open(formAddress());
    await start(page);
    const steps = part(page, 'Steps');
    const first = steps.getByRole('listitem', { name: `${STEPS[0]}: reading` });
    await first.waitFor();
    const bar = part(page, 'Change the research');
    await bar.getByRole('button', { name: 'Add a question' }).click();
    await bar.getByRole('textbox', { name: 'A further question' }).fill('Who reads the atlas?');
    await bar.getByRole('button', { name: 'Send' }).click();
    await steps.getByRole('listitem', { name: /^Who reads the atlas\?: / }).waitFor();
    const [waiting, last] = ['In which town was {q1} born?', 'Who is the warden of {q3}?'];
    await steps.getByRole('button', { name: `Do “${last}” first` }).click();
    await expect.poll(() => steps.getByRole('listitem').first().getAttribute('aria-label')).toBe(`${last}: queued`);
    await steps.getByRole('button', { name: `Drop “${last}”` }).click();
    await steps.getByRole('listitem', { name: `${last}: dropped` }).waitFor();
    await steps.getByRole('button', { name: `Answer “${waiting}” yourself` }).click();
    await steps.getByRole('textbox', { name: `Your answer to “${waiting}”` }).fill('Marrow Bay');
    await steps.getByRole('button', { name: 'Send' }).click();
    const given = steps.getByRole('listitem', { name: /born\?: verified$/ });
    await given.getByText('given by a person').waitFor();
    await first.getByText(/^Evidence \(\d+\)$/).click();
    await first.getByRole('button', { name: 'Leave out the source book-0.txt' }).click();
    const changes = part(page, 'Changed by people');
    await changes.getByText('Left out: book-0.txt').waitFor();
    await changes.getByText('Added: Who reads the atlas?').waitFor();
    await changes.getByText(`Answered: ${waiting} – Marrow Bay`).waitFor();
    await bar.getByRole('button', { name: 'Enough, write the report' }).click();
    await page.getByRole('button', { name: 'Download as md' }).waitFor();
    await changes.getByText(/^Said enough/).waitFor();
    await part(page, 'What followed each round').waitFor();
    expect(await bar.count()).toBe(0);
    release();
  });

  it('shows its report while it is written, whose citations open what they cite, and takes back what counts no more', async () => {
    const { model, fail } = failingReport('Corwin Hale wrote The Salt Atlas [1]. It is');
    const { page, open } = await openResearch({ model });
    await open(formAddress());
    await start(page);
    const report = part(page, 'Report');
    const written = report.getByText('Corwin Hale wrote The Salt Atlas');
    await written.waitFor();
    await report.getByRole('button', { name: 'Evidence 1' }).click();
    await page.getByRole('dialog', { name: 'Evidence 1' }).getByText('is a book by Corwin Hale').waitFor();
    await page.keyboard.press('Escape');
    expect(await report.getAttribute('aria-busy')).toBe('true');
    fail();
    await page.getByRole('button', { name: 'Download as md' }).waitFor();
    await report.getByText('Cade Brennick').first().waitFor();
    expect(await written.count()).toBe(0);
  });

  it('ends with a report whose sources open their passages', async () => {
    const { page, open } = await openResearch();
    await open(formAddress());
    await start(page);
    await reported(page).waitFor();
    await part(page, 'Report').getByRole('button', { name: 'Evidence 1' }).click();
    await page.getByRole('dialog', { name: 'Evidence 1' }).getByText('is a book by Corwin Hale').waitFor();
    await page.keyboard.press('Escape');
    const source = part(page, 'Sources').getByRole('listitem', { name: 'Source 4' });
    await source.getByRole('link', { name: 'isle-1.txt' }).click();
    await page.getByText('Its warden is Cade Brennick').first().waitFor();
  });

  it('is stopped at once, or with a report', async () => {
    const { page, open } = await openResearch({ model: isSilent() });
    await open(formAddress());
    await start(page);
    const bar = part(page, 'Change the research');
    await bar.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop at once' }).click();
    await page.getByRole('alert').getByText('The research was stopped, without a report.').waitFor();
    await page.getByRole('status').getByText('cancelled').waitFor();

    await open(formAddress());
    await start(page);
    await bar.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop with a report' }).click();
    await page.getByRole('button', { name: 'Download as md' }).waitFor();
  });

  it('says that a change came too late', async () => {
    const { page, open, ask } = await openResearch({ model: isSilent() });
    // What the server tells behind the beginning does not reach the page.
    let isHeld = false;
    await page.routeWebSocket(/live$/, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((message) => {
        if (!isHeld) socket.send(message);
      });
    });
    await open(formAddress());
    await start(page);
    const bar = part(page, 'Change the research');
    await bar.waitFor();
    isHeld = true;
    const [{ id }] = await ask('GET', '/research');
    await ask('POST', `/research/${id}/cancel`, {});
    await bar.getByRole('button', { name: 'Enough, write the report' }).click();
    await bar
      .getByRole('alert')
      .getByText(/^This change was not taken: .* is over/)
      .waitFor();
  });

  it('goes on when its connection is lost, which the page says, and catches up', async () => {
    let cut = (): void => {};
    let mend = (): void => {};
    const { model, release } = atFirstStep();
    const { page, open } = await openResearch({
      model,
      address: async (server) => {
        const proxy = await startProxy({ target: () => server.url });
        ({ cut, mend } = proxy);
        return proxy.url;
      },
    });
    await open(formAddress());
    await start(page);
    await part(page, 'Steps')
      .getByRole('listitem', { name: `${STEPS[0]}: reading` })
      .waitFor();
    cut();
    await page.getByText('The connection to the server is lost.').waitFor();
    release();
    mend();
    await reported(page).waitFor();
    await page.getByText('Connected again, and caught up.').waitFor();
    expect(await reported(page).count()).toBe(1);
  });

  it('shows both sides where sources contradict each other', async () => {
    const model = answeringSome((name) =>
      name === 'research_validate'
        ? { sufficient: true, missing: [], contradictions: [{ a: 'q1', b: 'q2', why: 'They differ.' }] }
        : undefined,
    );
    const { page, open } = await openResearch({ model });
    await open(formAddress());
    await start(page);
    const pairs = part(page, 'Contradictions');
    await pairs.getByText('They differ.').waitFor();
    await pairs.getByRole('region', { name: 'One side' }).getByText('Corwin Hale').waitFor();
    await pairs.getByRole('region', { name: 'The other side' }).getByText('Marrow Bay').waitFor();
  });

  it('needs no model and no key', async () => {
    const { page, open } = await openResearch();
    await open('/research');
    await start(page, STEPS[0]);
    await page.getByRole('button', { name: 'Download as md' }).waitFor();
    await part(page, 'Sources').getByRole('link', { name: 'book-0.txt' }).waitFor();
  });
});
