import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { readPage } from '../../../src/documents/pages/read-page.js';
import { failureOf } from '../../adapters/egress/support/servers.js';

const page = (html: string) => ({ html, url: 'https://x.example/', form: 'markdown' }) as const;

/** Takes a parser minutes. */
const SLOW = page(`<p>${'&lt;!--'.repeat(600_000)}`);

describe('readPage', () => {
  it('reads a page in a thread that ends with it', async () => {
    const exit = exitOfNextThread();
    expect(await firstValueFrom(readPage(page('<h1>A</h1>')))).toEqual({
      title: 'A',
      text: 'A',
      links: [],
      content: '# A',
      isCut: false,
    });
    await exit;
  });

  it('says why a page cannot be read', async () => {
    const failure = await failureOf(firstValueFrom(readPage(page('<div>'.repeat(2_000)))));
    expect(failure).toMatchObject({
      code: 'TOOL_FAILED',
      message: 'the page cannot be read: its elements are nested too deeply',
    });
  });

  it('gives up on a page that takes too long, and ends its thread', async () => {
    const exit = exitOfNextThread();
    const failure = await failureOf(firstValueFrom(readPage(SLOW, { timeoutMs: 100 })));
    expect(failure).toMatchObject({
      code: 'TOOL_FAILED',
      message: 'the page cannot be read: it takes more than 0.1 s',
    });
    await exit;
  });

  it('ends its thread when nobody wants the page any more', async () => {
    const exit = exitOfNextThread();
    const subscription = readPage(SLOW).subscribe({ error: () => {} });
    subscription.unsubscribe();
    await exit;
  });
});

/** Resolves when the thread that is started next has ended. */
async function exitOfNextThread(): Promise<void> {
  const [thread] = (await once(process, 'worker')) as [Worker];
  await once(thread, 'exit');
}
