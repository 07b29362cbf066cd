/** A chat that is not sure what is meant asks back, with buttons. */
import { describe, expect, it } from 'vitest';
import { say as answer, startHeldServer } from '../../chat/service/support/held-server.js';
import { conversation, say } from '../support/conversation.js';
import { openDatasets } from '../support/dataset-studio.js';
import { hasChromium, named } from '../support/studio.js';

const intent = (confidence: number) => answer(JSON.stringify({ intents: [{ kind: 'KB', confidence }] }));

/** A chat whose model is asked what is meant; every question that a model gets is answered. */
async function withModel() {
  const upstream = await startHeldServer();
  upstream.answers.set('chat_rewrite', answer('{"rewrites": ["lamp"]}'));
  upstream.answers.set('chat_intent', intent(0.3));
  upstream.answers.set('answer', answer('It was lit in 1911 [1].'));
  const models = JSON.stringify({ factories: { Fake: { base_url: upstream.url } }, defaults: { chat: 'talker@Fake' } });
  const studio = await openDatasets({ models });
  const dataset = await studio.dataset('Station');
  await studio.ingest(dataset, 'lamps.txt', 'The lamp was lit in 1911.');
  return { ...studio, upstream };
}

describe.skipIf(!hasChromium)(named('a chat that asks back'), () => {
  it('offers what it thought of, and asks what is chosen', async () => {
    const { page, open, upstream } = await withModel();
    await open('/chat');
    await say(page, 'the lamp thing');
    await page.getByText(/^Short circuit A: the surest intent has a confidence of 0.3/).waitFor();
    await page.getByRole('button', { name: /Ask back\s+short circuit/ }).waitFor();
    const offers = page.getByRole('group', { name: 'Did you mean' });
    expect(await offers.getByRole('button').allTextContents()).toEqual([
      'Look for an answer in the knowledge base',
      'Learn about this assistant',
    ]);
    await page.reload();
    upstream.answers.set('chat_intent', intent(0.9));
    await offers.getByRole('button', { name: 'Look for an answer in the knowledge base' }).click();
    const next = conversation(page).getByRole('article').nth(1);
    await next.getByText('Look for an answer in the knowledge base').first().waitFor();
    await next.getByText(/^took /).waitFor();
    expect(await offers.count()).toBe(0);
    expect(await page.getByText('No model is set up').count()).toBe(0);
    expect(upstream.open()).toEqual([]);
  });

  it('asks for words where a tool needs them, without buttons', async () => {
    const { page, open, upstream } = await withModel();
    upstream.answers.set('chat_intent', answer('{"intents": [{"kind": "MCP", "tool": "weather", "confidence": 0.9}]}'));
    await open('/chat');
    await say(page, 'the weather thing');
    await conversation(page).getByText('Which city do you mean?').waitFor();
    await page.getByText(/^Short circuit A: the tool weather needs city/).waitFor();
    expect(await page.getByRole('group', { name: 'Did you mean' }).count()).toBe(0);
  });
});
