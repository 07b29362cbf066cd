/** Running an agent on its page. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { documentOf, ECHO, FORM } from '../transport/support/documents.js';
import {
  ASKING,
  answering,
  conversation,
  countedWords,
  example,
  exampleModels,
  messageField,
  say,
} from './support/conversation.js';
import { hasChromium, named, openStudio } from './support/studio.js';

/** Holds what a page asks for until it is released. */
async function held(
  page: Page,
  url: RegExp,
): Promise<{ readonly asked: Promise<unknown>; readonly release: () => void }> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(url, async (route) => {
    await released;
    await route.continue().catch(() => {});
  });
  return { asked: page.waitForRequest(url), release };
}

describe.skipIf(!hasChromium)(named('the page of an agent'), () => {
  it('runs an example and shows its answer, on the canvas as well', async () => {
    const { page, open, agent } = await openStudio();
    await open(`/agents/${await agent(await example('hello'))}`);
    await conversation(page).getByText('Say something.').waitFor();
    await say(page, 'Good day');
    await conversation(page).getByText('Hello! You said "Good day", and this is turn 1.').waitFor();
    await page.getByText('Greet, Message, done').waitFor({ state: 'attached' });
    expect(page.url()).toMatch(/#\/agents\/[^/]+\/runs\/[0-9a-f]{32}$/);
    expect(await messageField(page).inputValue()).toBe('');
  });

  it('asks once which types of components there are, though its parts come one by one', async () => {
    const { page, open, agent } = await openStudio();
    let asked = 0;
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    await page.route('**/api/v1/components', async (route) => {
      asked += 1;
      await arrived;
      await route.continue().catch(() => {});
    });
    await open(`/agents/${await agent(await example('hello'))}`);
    await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
    arrive();
    const palette = page.getByRole('region', { name: 'Components' });
    await palette.getByRole('button', { name: 'LLM', exact: true }).waitFor();
    expect(asked).toBe(1);
  });

  it('asks for its run, and for the files of its screen, before the files that draw it are there', async () => {
    const { page, open, agent, server } = await openStudio();
    const id = await agent(ECHO);
    const { run_id: run } = (await server.call('POST', `/api/v1/agents/${id}/run`, { query: 'x' })).body.data;
    const frame = await held(page, /\/studio\/frame-.*\.js$/);
    const screen = await held(page, /\/studio\/run-\w.*\.js$/);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const [first, theRun] = [`/api/v1/agents/${id}`, `/api/v1/agents/${id}/runs/${run}`];
    const opened = open(`/agents/${id}/runs/${run}`);
    // What draws the frame has not arrived, and the screen is asked for; its files have not, and its run is.
    await screen.asked;
    await frame.asked;
    const arrive = Promise.all([first, theRun, '/api/v1/components'].map((path) => page.waitForRequest(`**${path}*`)));
    frame.release();
    await arrive;
    screen.release();
    await opened;
    await conversation(page).getByText('you said x').waitFor();
    await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
    const times = (path: string) => asked.filter((one) => one === path).length;
    expect([first, theRun, '/api/v1/components'].map(times)).toEqual([1, 1, 1]);
  });

  it('reads a run that has ended before it loads the editor', async () => {
    const { page, open, agent, server } = await openStudio();
    const id = await agent(ECHO);
    const { run_id: run } = (await server.call('POST', `/api/v1/agents/${id}/run`, { query: 'x' })).body.data;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.routeWebSocket(/\/agents\/[^/]+\/live$/, (socket) => {
      const upstream = socket.connectToServer();
      upstream.onMessage((message) => void released.then(() => socket.send(message)));
    });
    let isAsked = false;
    page.on('request', (request) => {
      if (/\/studio\/editor-/.test(request.url())) isAsked = true;
    });
    await open(`/agents/${id}/runs/${run}`);
    await page.locator('.react-flow__node').first().waitFor();
    await conversation(page).getByRole('article').waitFor();
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
    expect(isAsked).toBe(false);
    release();
    await conversation(page).getByText('you said x').waitFor();
    await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
    expect(isAsked).toBe(true);
  });

  it('opens the form of a node that was chosen before the editor came', async () => {
    const { page, open, agent, server } = await openStudio();
    const id = await agent(ECHO);
    const { run_id: run } = (await server.call('POST', `/api/v1/agents/${id}/run`, { query: 'x' })).body.data;
    // The events of the run never come.
    await page.routeWebSocket(/\/agents\/[^/]+\/live$/, (socket) => void socket.connectToServer().onMessage(() => {}));
    await open(`/agents/${id}/runs/${run}`);
    const node = page.locator('.react-flow__node[data-id="begin"]');
    await node.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
    await page.getByRole('complementary').getByRole('textbox', { name: 'Name', exact: true }).waitFor();
  });

  it('breaks the line with Shift and Enter, and keeps what is written over a reload', async () => {
    const { page, open, agent } = await openStudio();
    await open(`/agents/${await agent(await example('hello'))}`);
    await messageField(page).fill('one');
    await messageField(page).press('Shift+Enter');
    await page.keyboard.type('two');
    await page.reload();
    await messageField(page).waitFor();
    expect(await messageField(page).inputValue()).toBe('one\ntwo');
  });

  it('keeps a conversation: the next turn goes on, and another tab opens it from the list', async () => {
    const { page, open, agent, tab } = await openStudio();
    const id = await agent(await example('hello'));
    await open(`/agents/${id}`);
    await say(page, 'first');
    await conversation(page).getByText('this is turn 1').waitFor();
    await say(page, 'second');
    await conversation(page).getByText('You said "second", and this is turn 2.').waitFor();
    const other = await tab();
    await other.open(`/agents/${id}`);
    await other.page.getByRole('button', { name: 'Conversations' }).click();
    await other.page.getByRole('menuitem', { name: /^first/ }).click();
    await conversation(other.page).getByText('this is turn 2').waitFor();
    await conversation(other.page).getByText('this is turn 1').waitFor();
    await say(other.page, 'third');
    await conversation(other.page).getByText('You said "third", and this is turn 3.').waitFor();
    await other.page.getByRole('button', { name: 'New conversation' }).click();
    await expect.poll(() => conversation(other.page).getByRole('article').count()).toBe(0);
  });

  it('asks with a form where the run waits, says what is wrong in it, and goes on', async () => {
    const { page, open, agent } = await openStudio();
    await open(`/agents/${await agent(await example('form'))}`);
    await say(page, 'go');
    const form = page.getByRole('form', { name: 'A form waits for you' });
    await form.getByText('Where do you want to go, and for how long?').waitFor();
    await form.getByRole('textbox', { name: 'City' }).fill('Oslo');
    await form.getByRole('textbox', { name: 'Nights' }).fill('many');
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText('This must be a number.').waitFor();
    await form.getByRole('textbox', { name: 'Nights' }).fill('3');
    await form.getByRole('button', { name: 'Send' }).click();
    await conversation(page).getByText('Booked: 3 nights in Oslo.').waitFor();
    expect(await form.count()).toBe(0);
    // What ran before the form is still shown as done.
    await page.getByText('Begin, Begin, done').waitFor({ state: 'attached' });
  });

  it('shows a form that waits after a reload', async () => {
    const { page, open, agent } = await openStudio();
    await open(`/agents/${await agent(FORM)}`);
    await say(page, 'go');
    await page.getByRole('textbox', { name: 'City' }).waitFor();
    await page.reload();
    await page.getByRole('textbox', { name: 'City' }).fill('Rome');
    await page.getByRole('button', { name: 'Send' }).first().click();
    await conversation(page).getByText('to Rome').waitFor();
  });

  it('asks for an approval, and goes on as it was decided', async () => {
    const { page, open, agent } = await openStudio({ models: await exampleModels('approval') });
    await open(`/agents/${await agent(await example('approval'))}`);
    await say(page, 'my aunt');
    await page.getByRole('combobox', { name: 'Send it' }).selectOption('yes');
    await page.getByRole('form').getByRole('button', { name: 'Send' }).first().click();
    await conversation(page)
      .getByText(/^Sent: /)
      .waitFor();
  });

  it('asks before an agent makes a call that needs an approval', async () => {
    const dsl = JSON.parse(JSON.stringify(await example('agent')));
    dsl.components['Agent:Guide'].obj.params.require_approval = ['*'];
    const { page, open, agent } = await openStudio({ models: await exampleModels('agent') });
    await open(`/agents/${await agent(dsl)}`);
    await say(page, 'How old is the Golden Gate Bridge?');
    const form = page.getByRole('form', { name: 'An approval waits for you' });
    await form.getByText('Guide would like to make 2 calls.').waitFor();
    for (const field of await form.getByRole('combobox').all()) await field.selectOption('allow');
    await form.getByRole('button', { name: 'Send' }).click();
    await conversation(page).getByText('It was opened in 1937, so it is 89 years old.').waitFor();
  });

  it('shows calls of tools as cards with what they were given and gave', async () => {
    const { page, open, agent } = await openStudio({ models: await exampleModels('agent') });
    await open(`/agents/${await agent(await example('agent'))}`);
    await say(page, 'How old is the Golden Gate Bridge?');
    await conversation(page).getByText('It was opened in 1937, so it is 89 years old.').waitFor();
    await conversation(page).getByText('Guide › Historian').click();
    await conversation(page).getByText('When was the Golden Gate Bridge opened?').waitFor();
    await conversation(page).getByText('The Golden Gate Bridge was opened in 1937.').waitFor();
  });

  it('opens what an answer cites from its mark', async () => {
    // RAGFlow's numbers of passages are made from their ids.
    const passage = {
      id: 'p1',
      content: 'The bridge was opened in 1937.',
      documentId: 'd1',
      documentName: 'bridges.txt',
      datasetId: 'ds',
      similarity: 0.8,
    };
    const dsl = documentOf({
      begin: ['Begin', ['Retrieval:R']],
      'Retrieval:R': ['Retrieval', ['LLM:Say'], { dataset_ids: ['ds'], query: '{sys.query}' }],
      'LLM:Say': [
        'LLM',
        ['Message:Reply'],
        {
          llm_id: 'scripted',
          sys_prompt: 'Use {Retrieval:R@formalized_content}.',
          prompts: [{ role: 'user', content: '{sys.query}' }],
        },
      ],
      'Message:Reply': ['Message', [], { content: ['{LLM:Say@content}'] }],
    });
    const retriever = { search: async () => [passage] };
    const { page, open, agent } = await openStudio({
      models: answering(['It was opened in 1937 [ID:', '216].']),
      services: { retriever },
    });
    await open(`/agents/${await agent(dsl)}`);
    await say(page, 'when?');
    await conversation(page).getByRole('button', { name: 'Evidence 216' }).click();
    const evidence = page.getByRole('dialog', { name: 'Evidence 216' });
    await evidence.getByText('bridges.txt').waitFor();
    await evidence.getByText('The bridge was opened in 1937.').waitFor();
  });

  it('stops a run, and says what was cut off', async () => {
    const models = answering(countedWords(2_000), 50);
    const { page, open, agent, server } = await openStudio({ models });
    const id = await agent(ASKING);
    await open(`/agents/${id}`);
    await say(page, 'count');
    await conversation(page).getByText('w3.').waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await conversation(page)
      .getByText(/^Stopped after .* Cut off: LLM, Message\./)
      .waitFor();
    const { body } = await server.call('GET', `/api/v1/agents/${id}/runs`);
    expect(body.data[0].status).toBe('cancelled');
    expect(await page.getByRole('button', { name: 'Stop', exact: true }).count()).toBe(0);
  });

  it('says why a run failed, where, and what to do', async () => {
    const models = JSON.stringify({ scripted: { default: { error: 'the provider is on fire' } } });
    const { page, open, agent } = await openStudio({ models });
    await open(`/agents/${await agent(ASKING)}`);
    await say(page, 'hello?');
    const failure = conversation(page).getByRole('alert');
    await failure.getByText('MODEL_UNAVAILABLE').waitFor();
    await failure.getByText('the provider is on fire').waitFor();
    await failure.getByText(/^Try again in a moment/).waitFor();
  });

  it('goes on where a run failed, when its user says so', async () => {
    const models = JSON.stringify({
      scripted: { rules: [{ times: 1, error: 'not now' }], default: { reply: 'Here I am.' } },
    });
    const { page, open, agent } = await openStudio({ models });
    await open(`/agents/${await agent(ASKING)}`);
    await say(page, 'hello?');
    await conversation(page).getByText('not now').waitFor();
    await conversation(page).getByRole('button', { name: 'Try again from there' }).click();
    await conversation(page).getByText('Here I am.').waitFor();
    await page.getByText('Begin, Begin, done').waitFor({ state: 'attached' });
  });

  it('moves the border of the run panel by keyboard, and keeps its place', async () => {
    const { page, open, agent } = await openStudio();
    await open(`/agents/${await agent(ASKING)}`);
    const border = page.getByRole('separator', { name: 'Width of the run panel' });
    await border.focus();
    const before = Number(await border.getAttribute('aria-valuenow'));
    await page.keyboard.press('ArrowLeft');
    const width = (await page.getByRole('region', { name: 'Run panel' }).boundingBox())?.width ?? 0;
    expect([Number(await border.getAttribute('aria-valuenow')), Math.round(width)]).toEqual([before + 24, before + 24]);
    await page.reload();
    expect(await border.getAttribute('aria-valuenow')).toBe(String(before + 24));
  });

  it('sends files and values of Begin, which are asked for before the first turn', async () => {
    const dsl = documentOf({
      begin: [
        'Begin',
        ['Message:A'],
        {
          inputs: {
            name: { name: 'Your name', type: 'line', optional: false },
            paper: { name: 'A paper', type: 'file', optional: false },
          },
        },
      ],
      'Message:A': ['Message', [], { content: ['{begin@name} gave: {begin@paper}'] }],
    });
    const { page, open, agent } = await openStudio();
    await open(`/agents/${await agent(dsl)}`);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('This is needed.').first().waitFor();
    await page.getByRole('textbox', { name: 'Your name' }).fill('Ada');
    const file = { name: 'paper.txt', mimeType: 'text/plain', buffer: Buffer.from('on engines') };
    await page.getByLabel('A paper').setInputFiles(file);
    await page.getByRole('button', { name: 'Remove paper.txt' }).waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await conversation(page)
      .getByText(/Ada gave:[\s\S]*on engines/)
      .waitFor();
  });

  it('is the conversation alone on a phone', async () => {
    const { page, open, agent } = await openStudio({ browser: { viewport: { width: 390, height: 780 } } });
    await open(`/agents/${await agent(await example('hello'))}`);
    await say(page, 'hi');
    await conversation(page).getByText('You said "hi"').waitFor();
    expect(await page.getByRole('region', { name: 'Canvas' }).count()).toBe(0);
    const [inside, all] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
    expect(all).toBeLessThanOrEqual(inside as number);
  });

  it('says when a run cannot be found', async () => {
    const { page, open, agent } = await openStudio();
    await open(`/agents/${await agent(ASKING)}/runs/nowhere`);
    await page.getByRole('alert').waitFor();
  });
});
