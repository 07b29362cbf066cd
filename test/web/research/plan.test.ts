/** A research by a plan on its screen: the plan is changed and approved, carried out, and becomes a report whose citations open their passages. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { hasChromium, named } from '../support/studio.js';
import {
  answeringSome,
  formAddress,
  holding,
  openResearch,
  part,
  QUESTION,
  reported,
  STEPS,
  start,
} from './support/research-studio.js';

describe.skipIf(!hasChromium)(named('a research by a plan'), () => {
  it('is changed, refused with its problems, approved and carried out; its report opens what it cites', async () => {
    const { page, open, ask } = await openResearch();
    await open(formAddress());
    await page.getByRole('checkbox', { name: 'World' }).check();
    await page.getByRole('checkbox', { name: 'Make a plan of tasks' }).check();
    await start(page);
    const plan = part(page, 'Plan');
    const steps = part(page, 'Steps');
    await plan.getByText('The plan waits for you').waitFor();
    await steps.getByRole('listitem', { name: `${STEPS[0]}: queued` }).waitFor();

    await plan.getByRole('button', { name: 'Change the plan' }).click();
    const editor = plan.getByRole('form', { name: 'Tasks of the plan' });
    await editor.getByRole('button', { name: 'Add a task' }).click();
    const added = editor.getByRole('group', { name: 'Task task_005' });
    const first = editor.getByRole('group', { name: 'Task task_001' });
    await added.getByRole('textbox', { name: 'Description' }).fill('How old is the lighthouse?');
    await first.getByRole('checkbox', { name: 'task_004' }).check();
    await editor.getByRole('button', { name: 'Save the plan' }).click();
    await editor.getByRole('alert').getByText('The plan was not taken.').waitFor();
    // The tasks wait for each other, which is said beside the one that was changed.
    await first.getByText('depends_on', { exact: false }).first().waitFor();
    expect(await added.getByRole('listitem').count()).toBe(0);
    await first.getByRole('checkbox', { name: 'task_004' }).uncheck();
    await first.getByRole('spinbutton').fill('2');
    await editor.getByRole('button', { name: 'Save the plan' }).click();
    await steps.getByRole('listitem', { name: 'How old is the lighthouse?: queued' }).waitFor();

    await steps.getByRole('button', { name: 'Drop “How old is the lighthouse?”' }).click();
    await steps.getByRole('listitem', { name: 'How old is the lighthouse?: dropped' }).waitFor();
    await plan.getByRole('button', { name: 'Approve the plan' }).click();
    await reported(page).waitFor();
    await steps.getByRole('listitem', { name: `${STEPS[3]}: verified` }).waitFor();
    // It can be changed until the report is checked, which is behind its last piece.
    await plan.waitFor({ state: 'detached' });

    // What was found, where, and what it stands on.
    const last = steps.getByRole('listitem', { name: `${STEPS[3]}: verified` });
    await last
      .getByText(/documents: \d+ found in/)
      .first()
      .waitFor();
    await last.getByText('Cade Brennick').first().waitFor();
    await last.getByText(/^Evidence \(\d+\)$/).click();
    await last.getByText('The answer stands on it').waitFor();
    await part(page, 'Budget')
      .getByText(/ of 60,000$/)
      .waitFor();

    const report = part(page, 'Report');
    await report.getByRole('button', { name: 'Evidence 4' }).click();
    const evidence = page.getByRole('dialog', { name: 'Evidence 4' });
    await evidence.getByText('Its warden is Cade Brennick').waitFor();
    await evidence.getByRole('link', { name: 'Open in the document' }).click();
    await page.getByText('Its warden is Cade Brennick').first().waitFor();
    expect(page.url()).toContain('/documents/');
    await page.goBack();

    await reported(page).waitFor();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download as pdf' }).click();
    const bytes = await readFile(await (await saving).path());
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');
    // The list tells of it, and the same is asked again with the same settings.
    const [{ id }] = await ask('GET', '/research');
    await page.getByRole('link', { name: 'Research again with these settings' }).click();
    expect(await page.getByRole('textbox', { name: 'What is to be found out?' }).inputValue()).toBe(QUESTION);
    await expect.poll(() => page.getByRole('checkbox', { name: 'World' }).isChecked()).toBe(true);
    expect(await page.getByRole('checkbox', { name: 'Make a plan of tasks' }).isChecked()).toBe(true);
    const line = part(page, 'Researches').getByRole('row', { name: QUESTION });
    await line.getByText('succeeded').waitFor();
    await line.getByRole('link').click();
    await reported(page).waitFor();
    expect(page.url()).toContain(`/research/${id}`);
  });

  it('is the same behind a reload and in a second tab, and tasks that have begun stay as they are', async () => {
    const { model, release } = holding((name, text) => name === 'research_read' && text.includes('Marrow Bay?'));
    const { page, open, tab } = await openResearch({ model });
    await open(formAddress('plan=yes&approve=no'));
    await start(page);
    const steps = part(page, 'Steps');
    const reading = (of: typeof steps) => of.getByRole('listitem', { name: `${STEPS[2]}: reading` });
    await reading(steps).waitFor();
    await page.reload();
    await reading(steps).waitFor();
    const second = await tab();
    await second.open(new URL(page.url()).hash.slice(1));
    await reading(part(second.page, 'Steps')).waitFor();
    const textOf = async (name: string) => [
      await part(page, name).textContent(),
      await part(second.page, name).textContent(),
    ];
    const [one, other] = await textOf('Steps');
    expect(one).toBe(other);

    await page.getByRole('button', { name: 'Change the plan' }).click();
    const editor = page.getByRole('form', { name: 'Tasks of the plan' });
    const begun = editor.getByRole('group', { name: 'Task task_003' });
    await begun.getByText('It has begun').waitFor();
    expect(await begun.getByRole('textbox', { name: 'Description' }).isDisabled()).toBe(true);
    await editor
      .getByRole('group', { name: 'Task task_004' })
      .getByRole('textbox', { name: 'Description' })
      .fill('Who is the warden of {task_003}? ');
    await editor.getByRole('button', { name: 'Save the plan' }).click();
    await editor.waitFor({ state: 'detached' });
    release();
    await reported(page).waitFor();
    await reported(second.page).waitFor();
    for (const name of ['Steps', 'Report', 'Sources']) {
      const [here, there] = await textOf(name);
      expect(here).toBe(there);
    }
  });

  it('has arguments for tasks of tools, as JSON that is checked before it is saved', async () => {
    const { page, open, ask } = await openResearch();
    await open(formAddress('plan=yes&approve=yes'));
    await start(page);
    const plan = part(page, 'Plan');
    await plan.getByRole('button', { name: 'Change the plan' }).click();
    const editor = plan.getByRole('form', { name: 'Tasks of the plan' });
    const first = editor.getByRole('group', { name: 'Task task_001' });
    const args = (of: typeof first) => of.getByRole('textbox', { name: /^Arguments of the tool/ });
    // A search has its description alone.
    expect(await args(editor).count()).toBe(0);
    await editor.getByRole('button', { name: 'Add a task' }).click();
    const added = editor.getByRole('group', { name: 'Task task_005' });
    await added.getByRole('textbox', { name: 'Description' }).fill('How much is that?');
    await added.getByRole('combobox', { name: 'Tool' }).selectOption('calculator');
    expect(await args(added).inputValue()).toBe('');
    await args(added).fill('{\n  "expression": }');
    await added.getByRole('status').getByText('This is no JSON from line 2, column 17 on.').waitFor();
    expect(await args(added).getAttribute('aria-invalid')).toBe('true');
    await editor.getByRole('button', { name: 'Save the plan' }).click();
    await editor.getByRole('alert').getByText('The plan was not saved').waitFor();
    await args(added).fill('["6 * 7"]');
    await added.getByRole('status').getByText('Arguments are a JSON object').waitFor();
    const [{ id }] = await ask('GET', '/research');
    expect((await ask('GET', `/research/${id}/plan`)).plan.tasks).toHaveLength(4);

    await args(added).fill('{"expression": "6 * 7"}');
    await expect.poll(() => editor.getByRole('alert').count()).toBe(0);
    await editor.getByRole('button', { name: 'Save the plan' }).click();
    await part(page, 'Steps').getByRole('listitem', { name: 'How much is that?: queued' }).waitFor();
    expect((await ask('GET', `/research/${id}/plan`)).plan.tasks[4].args).toEqual({ expression: '6 * 7' });
    await plan.getByRole('button', { name: 'Change the plan' }).click();
    expect(JSON.parse(await args(added).inputValue())).toEqual({ expression: '6 * 7' });
    await args(added).fill('{');
    // Another tool has none of them.
    await added.getByRole('combobox', { name: 'Tool' }).selectOption('kb_search');
    expect(await args(added).count()).toBe(0);
    await editor.getByRole('button', { name: 'Leave it as it was' }).click();
    await plan.getByRole('button', { name: 'Approve the plan' }).click();
    await part(page, 'Steps')
      .getByRole('listitem', { name: 'How much is that?: verified' })
      .getByText('42')
      .first()
      .waitFor();
  });

  it('asks what the question means, in place', async () => {
    const asked: string[] = [];
    const model = answeringSome((name, { text }) => {
      if (name === 'research_decompose') asked.push(text);
      return name === 'research_clarify'
        ? { needs_clarification: true, questions: ['Which edition of the atlas?', 'Which century?'] }
        : undefined;
    });
    const { page, open } = await openResearch({ model });
    await open(formAddress('plan=yes&approve=no&clarify=yes'));
    await start(page);
    const form = page.getByRole('form', { name: 'The research asks' });
    await form.getByRole('textbox', { name: 'Which edition of the atlas?' }).fill('the first edition');
    await form.getByRole('button', { name: 'Answer' }).click();
    await form.waitFor({ state: 'detached' });
    await part(page, 'Report').getByText(/\S/).nth(1).waitFor();
    await page.getByRole('button', { name: 'Download as md' }).waitFor();
    expect(asked.join()).toContain('the first edition');
  });

  it('is not carried out when its user does not want it', async () => {
    const { page, open } = await openResearch();
    await open(formAddress('plan=yes'));
    await start(page);
    await part(page, 'Plan').getByRole('button', { name: 'Do not carry it out' }).click();
    await page.getByRole('button', { name: 'Download as md' }).waitFor();
    await part(page, 'Steps')
      .getByRole('listitem', { name: `${STEPS[0]}: skipped` })
      .waitFor();
  });
});
