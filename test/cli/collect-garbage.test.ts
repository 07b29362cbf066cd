import { expect, it } from 'vitest';
import { collectGarbage } from '../../src/cli/collect-garbage.js';

it('collects garbage and ends, also a second time', async () => {
  let isCollected = false;
  const registry = new FinalizationRegistry(() => {
    isCollected = true;
  });
  registry.register(new Array(1_000), undefined);
  for (let at = 0; at < 2; at += 1) await collectGarbage();
  // The registry is called in a later turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  expect(isCollected).toBe(true);
});
