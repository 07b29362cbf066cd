/** What a chat does while it is started, and what it leaves for its turn of the event loop. */
import { expect, it, vi } from 'vitest';
import { startChatHost } from './support/chat-host.js';

it('opens its models in its turn, so that the starts of others do not wait for that', async () => {
  let goOn = (): void => {};
  const turn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const asked = vi.fn();
  const loopTurns = {
    async do<T>(work: () => Promise<T>): Promise<T> {
      asked();
      await turn;
      return work();
    },
  };
  const { models, begin } = await startChatHost({ loopTurns });
  const opened = vi.spyOn(models, 'chat');
  vi.spyOn(models, 'forTenant').mockReturnValue(models);
  await begin('the thing about states');
  await vi.waitFor(() => expect(asked).toHaveBeenCalledTimes(1), { timeout: 100_000 });
  expect(opened).not.toHaveBeenCalled();
  goOn();
  await vi.waitFor(() => expect(opened).toHaveBeenCalled(), { timeout: 100_000 });
});
