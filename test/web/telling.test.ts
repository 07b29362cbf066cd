/** What people say to the agents of a run at work, on the page. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { NodePicture } from '../../src/canvas/picture/picture.js';
import { readDocument } from '../../src/dsl/read.js';
import { hearersIn, whyNotHeard } from '../../web/chat/use-telling.js';
import { documentOf } from '../transport/support/documents.js';
import { heldModel } from '../transport/support/held-model.js';
import type { Probe } from '../transport/support/test-components.js';
import { axeFindings } from './support/axe.js';
import { conversation, messageField, say } from './support/conversation.js';
import { hasChromium, named, openStudio } from './support/studio.js';

/** Is offered, and not called. */
const TOOL = { component_name: 'SearXNG', params: { searxng_url: 'http://127.0.0.1:9' } };

const withTools = (tools: readonly object[]) =>
  documentOf({
    begin: ['Begin', ['Agent:Guide'], {}],
    'Agent:Guide': [
      'Agent',
      ['Message:End'],
      { llm_id: 'scripted', tools: [...tools], prompts: '{sys.query}' } as never,
    ],
    'Message:End': ['Message', [], { content: ['{Agent:Guide@content}'] }],
  });

/** Behind the agent something is at work that hears nothing. */
const thenProbe = (asks: readonly string[]) =>
  documentOf({
    begin: ['Begin', ['Agent:Guide'], {}],
    'Agent:Guide': ['Agent', ['Probe:P'], { llm_id: 'scripted', tools: [TOOL], prompts: '{sys.query}' } as never],
    'Probe:P': ['Probe', [...asks]],
    ...Object.fromEntries(
      asks.map((id) => [id, ['UserFillUp', [], { inputs: { size: { name: 'Size', type: 'line' } } }]]),
    ),
  });

const tellField = (page: Page) => page.getByRole('textbox', { name: 'Tell the agents while they work' });
const told = (page: Page) => conversation(page).getByRole('list', { name: 'Told while it worked' });

describe.skipIf(!hasChromium)(named('telling agents at work'), () => {
  it('says that it is kept, also behind a reload, and who was told', async () => {
    const { services, next } = await heldModel();
    const { page, open, agent } = await openStudio({ services });
    await open(`/agents/${await agent(withTools([TOOL]))}`);
    await say(page, 'Tell me.');
    const first = await next();
    await tellField(page).fill('In one word.');
    await tellField(page).press('Enter');
    await told(page).getByText('In one word.', { exact: true }).waitFor();
    await told(page).getByText('Kept: agents are told before the next call of their model.').waitFor();
    await expect.poll(() => tellField(page).inputValue()).toBe('');
    expect(await axeFindings(page)).toEqual([]);
    await page.reload();
    await told(page).getByText('Kept: agents are told before the next call of their model.').waitFor();
    first.answer('It is a long story.');
    const second = await next();
    expect(second.request.messages.at(-1)?.content).toBe('In one word.');
    await told(page).getByText('Told to Agent.').waitFor();
    second.answer('Love.');
    await messageField(page).waitFor();
    await page.reload();
    await told(page).getByText('Told to Agent.').waitFor();
    expect(await told(page).getByRole('listitem').count()).toBe(1);
    expect(await told(page).getByText('In one word.', { exact: true }).count()).toBe(1);
  });

  it.each<[string, string, (probe: Probe, page: Page) => Promise<void> | void, string[]?]>([
    ['has ended', 'Not told: the run ended before an agent called its model again.', (probe) => probe.settle()],
    ['has failed', 'Not told: the run failed before.', (probe) => probe.fail(new Error('It broke.'))],
    [
      'was stopped',
      'Not told: the run was stopped before.',
      (_, page) => page.getByRole('button', { name: 'Stop', exact: true }).click(),
    ],
    [
      'waits for an answer',
      'Not told: the run ended with its question before. Say it again with the answer.',
      (probe) => probe.settle(),
      ['UserFillUp:Ask'],
    ],
  ])('shows what no agent has heard when the run %s, also weeks later', async (_, says, end, asks = []) => {
    const { services, next } = await heldModel();
    const { page, open, agent, server, tab } = await openStudio({ services });
    const id = await agent(thenProbe(asks));
    await open(`/agents/${id}`);
    await say(page, 'Tell me.');
    (await next()).answer('Love.');
    const probe = await server.probes.next();
    await page.waitForURL(/\/runs\//);
    const run = page.url().split('/').at(-1);
    // Another program says it.
    await server.call('POST', `/api/v1/agents/${id}/runs/${run}/inputs`, { id: 'i1', content: 'In one word.' });
    await end(probe, page);
    const line = told(page).getByRole('listitem').filter({ hasText: 'In one word.' });
    await line.getByText(says).waitFor();
    await page.reload();
    await line.getByText(says).waitFor();
    expect(await told(page).getByRole('listitem').count()).toBe(1);
    const other = await tab();
    const inputs = '**/inputs';
    await other.page.route(inputs, (route) => route.abort());
    await other.open(`/agents/${id}/runs/${run}`);
    const alert = other.page.getByRole('alert').filter({ hasText: 'could not be loaded' });
    await alert.waitFor();
    await other.page.unroute(inputs);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await told(other.page).getByText(says).waitFor();
    await alert.waitFor({ state: 'detached' });
  });

  it('says why the server does not take it, and leaves it in the field', async () => {
    const { services, next } = await heldModel();
    const { page, open, agent } = await openStudio({ services });
    await open(`/agents/${await agent(withTools([TOOL]))}`);
    await say(page, 'Tell me.');
    const first = await next();
    const long = 'x'.repeat(10_001);
    await tellField(page).fill(long);
    await tellField(page).press('Enter');
    await page.getByRole('region', { name: 'Run panel' }).getByRole('alert').waitFor();
    expect(await tellField(page).inputValue()).toBe(long);
    expect(await told(page).count()).toBe(0);
    first.answer('Love.');
    await messageField(page).waitFor();
  });

  it('says why it cannot be done for an agent without tools', async () => {
    const { services, next } = await heldModel();
    const { page, open, agent } = await openStudio({ services });
    await open(`/agents/${await agent(withTools([]))}`);
    await say(page, 'Tell me.');
    const first = await next();
    const why = page.getByText('Nothing can be told to this run: its canvas has no agent with tools.');
    await why.waitFor();
    expect(await tellField(page).count()).toBe(0);
    first.answer('Love.');
    await why.waitFor({ state: 'detached' });
  });
});

describe('who hears what is said', () => {
  const hearers = (tools: readonly object[]) =>
    hearersIn(readDocument(withTools(tools)).document, new Set(['agent', 'other']));
  const nodes = (status: NodePicture['status']) => new Map([['Agent:Guide', { status } as NodePicture]]);

  it('are components of a hearing type that have tools', () => {
    expect(hearers([TOOL]).map(({ id }) => id)).toEqual(['Agent:Guide']);
    expect(hearers([])).toEqual([]);
  });

  it('hear as long as they are at work or may begin, and in bodies again', () => {
    const [one] = hearers([TOOL]);
    expect(whyNotHeard([], { nodes: new Map() })).toBe('none');
    expect(whyNotHeard([one!], { nodes: new Map() })).toBeUndefined();
    expect(whyNotHeard([one!], { nodes: nodes('running') })).toBeUndefined();
    expect(whyNotHeard([one!], { nodes: nodes('done') })).toBe('over');
    expect(whyNotHeard([{ ...one!, parent: 'Loop:A' }], { nodes: nodes('done') })).toBeUndefined();
  });
});
