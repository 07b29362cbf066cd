/** What a conversation shows of what nodes write. */
import { describe, expect, it } from 'vitest';
import { documentOf } from '../transport/support/documents.js';
import { answering, conversation } from './support/conversation.js';
import { hasChromium, named, openStudio } from './support/studio.js';

const DRAFTING = documentOf({
  begin: ['Begin', ['LLM:Draft']],
  'LLM:Draft': [
    'LLM',
    ['Message:Reply'],
    { llm_id: 'scripted', sys_prompt: 'Draft.', prompts: [{ role: 'user', content: '{sys.query}' }] },
  ],
  'Message:Reply': ['Message', [], { content: ['It is written.'] }],
});

describe.skipIf(!hasChromium)(named('told text'), () => {
  it('is not that of other nodes, not even while the types of components are on their way', async () => {
    const { page, open, agent, server } = await openStudio({ models: answering(['A ', 'draft.']) });
    const id = await agent(DRAFTING);
    const { body } = await server.call('POST', `/api/v1/agents/${id}/run`, { query: 'write' });
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/api/v1/components', async (route) => {
      await held;
      await route.continue();
    });
    await open(`/agents/${id}/runs/${body.data.run_id}`);
    const log = conversation(page);
    await log.getByText(/^took/).waitFor();
    expect(await log.getByText('A draft.').count()).toBe(0);
    release();
    await log.getByText('It is written.').waitFor();
    expect(await log.getByText('A draft.').count()).toBe(0);
  });
});
