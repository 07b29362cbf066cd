/** Versions of an agent: what differs, and ways back. */
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../src/dsl/read.js';
import type { JsonObject } from '../../src/json.js';
import { compareDocuments, valueChanges } from '../../web/versions/compare-documents.js';
import { axeFindings } from './support/axe.js';
import { conversation, example } from './support/conversation.js';
import { hasChromium, named, type OpenedStudio, openStudio } from './support/studio.js';

/** An agent whose version says one thing, and whose draft says another and goes on. */
async function published({ server, agent }: OpenedStudio) {
  const first = await example('hello');
  const id = await agent(first);
  await server.call('POST', `/api/v1/agents/${id}/versions`, { title: 'First', description: 'As it began' });
  const draft = JSON.parse(JSON.stringify(first));
  draft.components['Message:Greet'].obj.params.content = ['Good night! You said "{sys.query}".'];
  draft.components['Message:Greet'].downstream = ['Message:More'];
  draft.components['Message:More'] = {
    obj: { component_name: 'Message', params: { content: ['More'] } },
    downstream: [],
  };
  await server.call('PATCH', `/api/v1/agents/${id}`, { dsl: draft });
  return { id, first, draft: draft as JsonObject };
}

describe('differences of documents', () => {
  it('are components, their values and edges, and not where they stand', async () => {
    const before = await example('branch');
    const after = JSON.parse(JSON.stringify(before));
    after.graph.nodes[0].position.x += 500;
    expect(compareDocuments(parseDocument(before), parseDocument(after))).toEqual({
      components: [],
      edges: [],
      variables: [],
    });
    const [id] = Object.keys(after.components).filter((one) => one.startsWith('Message'));
    after.components[id as string].obj.params.content = ['Other'];
    after.components['LLM:New'] = { obj: { component_name: 'LLM', params: { llm_id: 'x' } }, downstream: [] };
    after.components[id as string].downstream = ['LLM:New'];
    const changes = compareDocuments(parseDocument(before), parseDocument(after));
    expect(changes.components.map(({ id: one, kind }) => [one, kind])).toEqual([
      [id, 'changed'],
      ['LLM:New', 'added'],
    ]);
    expect(changes.components[0]?.values).toMatchObject([{ path: 'content.0', after: 'Other' }]);
    expect(changes.edges).toMatchObject([{ to: 'LLM', way: '', kind: 'added' }]);
  });

  it('go as deep as both are objects or lists', () => {
    expect(valueChanges({ a: { b: [1, 2] }, c: 1 }, { a: { b: [1, 3, 4] }, c: { d: 1 } })).toEqual([
      { path: 'a.b.1', before: 2, after: 3 },
      { path: 'a.b.2', before: undefined, after: 4 },
      { path: 'c', before: 1, after: { d: 1 } },
    ]);
  });
});

describe.skipIf(!hasChromium)(named('the versions of an agent'), () => {
  it('say what differs from the draft, by component and as text', async () => {
    const studio = await openStudio();
    const { page } = studio;
    const { id } = await published(studio);
    await studio.open(`/agents/${id}/versions`);
    await page.getByText('As it began').waitFor();
    const changes = page.getByRole('region', { name: 'From First to Draft' });
    await changes.getByRole('region', { name: 'Greet, changed' }).getByText('content.0').waitFor();
    await changes.getByRole('region', { name: /, added$/ }).waitFor();
    await changes
      .getByRole('region', { name: 'Connections' })
      .getByText(/Greet → /)
      .waitFor();
    await changes.getByRole('tab', { name: 'JSON' }).click();
    await changes.getByText(/Good night! You said/).waitFor();
  });

  it('are restored as a draft, which can be taken back', async () => {
    const studio = await openStudio();
    const { page, server } = studio;
    const { id, first, draft } = await published(studio);
    const stored = async () => (await server.call('GET', `/api/v1/agents/${id}`)).body.data.dsl;
    await studio.open(`/agents/${id}/versions`);
    const dialog = page.getByRole('dialog', { name: 'Restore this version' });
    await page.getByRole('button', { name: 'Restore as draft' }).click();
    await dialog.getByRole('button', { name: 'Restore as draft' }).click();
    await dialog.getByText('The version is the draft now.').waitFor();
    expect(await stored()).toEqual(first);
    await dialog.getByRole('button', { name: 'Undo' }).click();
    await dialog.getByText('The draft is as it was before.').waitFor();
    expect(await stored()).toEqual(draft);
    await dialog.getByRole('button', { name: 'Restore as draft' }).click();
    await dialog.getByRole('button', { name: 'Open the editor' }).click();
    await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
    // The tools of the editor are there before its canvas.
    await expect.poll(() => page.getByRole('group', { name: /, Message$/ }).count()).toBe(1);
  });

  it('are run as they were', async () => {
    const studio = await openStudio();
    const { page } = studio;
    const { id } = await published(studio);
    await studio.open(`/agents/${id}/versions`);
    await page.getByRole('button', { name: 'Run this version' }).click();
    const dialog = page.getByRole('dialog', { name: 'Run "First"' });
    await dialog.getByRole('textbox', { name: 'Message' }).fill('old friend');
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await conversation(page).getByText('Hello! You said "old friend", and this is turn 1.').waitFor();
  });

  it.each(['light', 'dark'] as const)('have no serious fault of accessibility, %s', async (colorScheme) => {
    const studio = await openStudio({ browser: { colorScheme } });
    const { page } = studio;
    const { id } = await published(studio);
    await studio.open(`/agents/${id}/versions`);
    await page.getByRole('region', { name: 'From First to Draft' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('tab', { name: 'JSON' }).click();
    expect(await axeFindings(page)).toEqual([]);
  });
});
