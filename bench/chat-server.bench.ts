/**
 * Many chats at once at a server in a process of its own, with its embedded database: `npm run bench -- chat-server`. It runs the build where there is one.
 *
 * What counts is the time from a request to the first bytes of its event stream, as a client sees it; this process is the clients.
 */
import { fileURLToPath } from 'node:url';
import { quantile, type Row } from './measure.js';
import { type Load, load } from './server/load.js';
import { startServer } from './server/server-under-test.js';
import { documentText } from './texts.js';

const AT_ONCE = 100;
/** Each so many chats at once; the first ones load what chats need. */
const WARM_UP = 3;
const WAVES = 5;
const DOCUMENTS = 40;
const PASSAGES = 10;

/** Measures a server; takes about a minute. */
export async function benchChatServer(): Promise<readonly Row[]> {
  const server = await startServer(fileURLToPath(new URL('..', import.meta.url)), {}, {});
  try {
    await fill(server.url);
    let asked = 0;
    const wave = (count: number): Promise<Load> =>
      load({
        url: () => `${server.url}/api/v1/chat/stream`,
        body: () => {
          asked += 1;
          return { message: `What does word${asked} say of word${asked % 90}?` };
        },
        isWhole: (text) => text.includes('"type":"final"') && text.trimEnd().endsWith('data:[DONE]'),
        ...{ clients: count, forMs: 0, atLeast: count },
      });
    for (let at = 0; at < WARM_UP; at += 1) await wave(AT_ONCE);
    const alone: number[] = [];
    for (let at = 0; at < 50; at += 1) alone.push(...(await wave(1)).firstMs);
    const [firsts, ends]: [number[], number[]] = [[], []];
    const before = (await server.counts()).microseconds;
    for (let at = 0; at < WAVES; at += 1) {
      const { firstMs, endMs } = await wave(AT_ONCE);
      firsts.push(...firstMs);
      ends.push(...endMs);
    }
    const spent = (await server.counts()).microseconds - before;
    const name = `${AT_ONCE} chats at once`;
    return [
      { name: 'one chat alone: first event, median', value: quantile(alone, 0.5), unit: 'ms' },
      { name: `${name}: first event, median`, value: quantile(firsts, 0.5), unit: 'ms' },
      { name: `${name}: first event, 99th`, value: quantile(firsts, 0.99), unit: 'ms', bar: 200, aim: 100 },
      { name: `${name}: last event, 99th`, value: quantile(ends, 0.99), unit: 'ms' },
      { name: `${name}: processor time of the server a chat`, value: spent / firsts.length / 1_000, unit: 'ms' },
    ];
  } finally {
    await server.stop();
  }
}

/** A dataset of {@link DOCUMENTS} documents, parsed. */
async function fill(url: string): Promise<void> {
  const ask = async (path: string, body?: FormData | object) => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${url}/api/v1${path}`, {
      ...(body !== undefined && { method: 'POST', body: isForm ? body : JSON.stringify(body) }),
      ...(!isForm && { headers: { 'content-type': 'application/json' } }),
    });
    const { code, data, message } = (await response.json()) as { code: number; data: unknown; message?: string };
    if (code !== 0) throw new Error(`${path}: ${message}`);
    return data;
  };
  const { id } = (await ask('/datasets', { name: 'docs' })) as { id: string };
  const ids: string[] = [];
  for (let at = 0; at < DOCUMENTS; at += 1) {
    const form = new FormData();
    form.append('file', new Blob([documentText(at, PASSAGES)]), `${at}.txt`);
    const [document] = (await ask(`/datasets/${id}/documents`, form)) as [{ id: string }];
    ids.push(document.id);
  }
  await ask(`/datasets/${id}/chunks`, { document_ids: ids });
  for (;;) {
    const { total } = (await ask(`/datasets/${id}/documents?run=DONE&page_size=1`)) as { total: number };
    if (total === DOCUMENTS) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
