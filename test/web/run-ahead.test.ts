/** The events of the run that a page is loaded for. */
import { describe, expect, it } from 'vitest';
import { ASKING, answering, conversation, say } from './support/conversation.js';
import { hasChromium, named, openStudio } from './support/studio.js';

describe.skipIf(!hasChromium)(named('a page that is loaded for a run'), () => {
  it('asks for its events before it knows its agent, over the one connection that shows them then', async () => {
    const { page, open, agent, tab } = await openStudio({ models: answering(['Hello ', 'there.']) });
    const id = await agent(ASKING);
    await open(`/agents/${id}`);
    await say(page, 'hi');
    await conversation(page).getByText(/^took/).waitFor();
    const second = await tab();
    let opened = 0;
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const ended = new Promise<void>((resolve) => {
      second.page.on('websocket', (socket) => {
        opened += 1;
        socket.on('framereceived', ({ payload }) => {
          if (String(payload).includes('"type":"done"')) resolve();
        });
      });
    });
    await second.page.route(`**/api/v1/agents/${id}`, async (route) => {
      await released;
      await route.continue();
    });
    await second.open(new URL(page.url()).hash.slice(1));
    await ended;
    expect(await conversation(second.page).count()).toBe(0);
    release();
    await conversation(second.page).getByText('Hello there.', { exact: true }).waitFor();
    await conversation(second.page).getByText(/^took/).waitFor();
    expect(opened).toBe(1);
  });
});
