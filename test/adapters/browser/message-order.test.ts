import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { openPipeTransport } from '../../../src/adapters/browser/chromium-process.js';

it('lets the driver act on each message before the next one, also when several come at once', async () => {
  const output = new PassThrough();
  const transport = openPipeTransport(new PassThrough(), output);
  const seen: string[] = [];
  const done = new Promise<void>((resolve) => {
    transport.onmessage = async (message) => {
      const { id } = message as { readonly id: number };
      seen.push(`message ${id}`);
      await Promise.resolve();
      await Promise.resolve();
      seen.push(`after ${id}`);
      if (id === 3) resolve();
    };
  });
  output.write('{"id":1}\0{"id":2}\0{"id":3}\0');
  await done;
  expect(seen).toEqual(['message 1', 'after 1', 'message 2', 'after 2', 'message 3', 'after 3']);
  transport.close();
});
