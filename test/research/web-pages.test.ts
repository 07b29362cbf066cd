import { firstValueFrom, lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createEgressClient, type EgressClient } from '../../src/adapters/egress/egress-client.js';
import { loadCanvas } from '../../src/canvas/load-canvas.js';
import { runTurn } from '../../src/canvas/turn.js';
import type { Json } from '../../src/json.js';
import { Budget } from '../../src/research/calls/budget.js';
import type { Journal } from '../../src/research/calls/journal.js';
import type { ResearchPlace } from '../../src/research/deep/deep-ports.js';
import type { FoundEvidence } from '../../src/research/evidence/evidence-table.js';
import type { ResearchEvent } from '../../src/research/research-events.js';
import { RESEARCH_VARIABLE } from '../../src/research/service/research-settings.js';
import { loadWebPage, pagePlace } from '../../src/research/service/web-pages.js';
import { serve } from '../adapters/egress/support/servers.js';
import { startUpstream } from '../tools/support/upstream.js';

const QUESTION = 'Who wrote The Salt Atlas?';
const FILLER = Array.from(
  { length: 40 },
  (_, at) => `<p>Line ${at} tells of weather and of ferries that were late.</p>`,
);
const PAGE = `<html><head><title>Salt</title><script>var x = 1;</script></head><body><nav>Menu</nav>
${FILLER.join('\n')}<p>The Salt Atlas was written by Corwin Hale in 1911.</p>${FILLER.join('\n')}</body></html>`;

const pageClient = (): EgressClient => createEgressClient({ allowPrivateNetwork: true });

function journalOf(kept = new Map<string, Json>()): Journal {
  return {
    find: (key) => kept.get(key),
    keep: (key, value) => {
      kept.set(key, value);
    },
  };
}

/** A search that finds pages at these addresses. */
function finding(...urls: readonly string[]): ResearchPlace {
  const found = urls.map(
    (url): FoundEvidence => ({ id: url, where: 'web', source: 'A page', text: 'The Salt Atlas …', score: 0.5, url }),
  );
  return { where: 'web', find: () => of(found) };
}

/** What is found where these pages are read by this client. */
async function foundIn(
  place: ResearchPlace,
  { http = pageClient(), budget = new Budget({}), journal = journalOf() } = {},
): Promise<readonly FoundEvidence[]> {
  const pages = pagePlace(place, { load: (url) => loadWebPage(url, { http }), budget, journal });
  return firstValueFrom(pages.find(QUESTION, 24));
}

describe('pages of the web', () => {
  it('are read: the passage that fits is evidence, not what the search said of it', async () => {
    const { origin } = await startUpstream({ 'GET /salt': { text: PAGE, type: 'text/html' } });
    const budget = new Budget({});
    const found = await foundIn(finding(`${origin}/salt`), { budget });
    expect(found[0]).toMatchObject({ where: 'web', source: 'A page', url: `${origin}/salt` });
    expect(found[0]?.text).toContain('written by Corwin Hale in 1911');
    expect(found[0]?.text).not.toContain('var x');
    expect(found.length).toBeLessThanOrEqual(3);
    expect(found.every(({ unread }) => unread === undefined)).toBe(true);
    expect(budget.spent.webRequests).toBe(1);
  });

  it('are read once in a research under ten addresses, whoever asks', async () => {
    const { origin, asked } = await startUpstream({ 'GET /salt': { text: PAGE, type: 'text/html' } });
    const urls = Array.from({ length: 10 }, (_, at) => `${origin}/salt?utm_source=s${at}#part${at}`);
    const pages = pagePlace(finding(...urls), {
      load: (url) => loadWebPage(url, { http: pageClient() }),
      budget: new Budget({}),
      journal: journalOf(),
    });
    const both = [QUESTION, 'When was it written?'].map((one) => firstValueFrom(pages.find(one, 24)));
    const [found] = await Promise.all(both);
    expect(asked).toHaveLength(1);
    expect(new Set(found?.map(({ text }) => text)).size).toBe(found?.length);
  });

  it('are not read again by a process that goes on', async () => {
    const { origin, asked } = await startUpstream({
      'GET /salt': { text: PAGE, type: 'text/html' },
      'GET /gone': { status: 410, text: 'gone' },
    });
    const kept = new Map<string, Json>();
    const place = finding(`${origin}/salt`, `${origin}/gone`);
    const before = await foundIn(place, { journal: journalOf(kept) });
    expect(await foundIn(place, { journal: journalOf(kept) })).toEqual(before);
    expect(asked).toHaveLength(2);
  });

  it('that cannot be read leave what the search said, and say why', async () => {
    const upstream = await startUpstream({
      'GET /gone': { status: 404, text: 'no' },
      'GET /empty': { text: '<html><body><script>render()</script></body></html>', type: 'text/html' },
      'GET /picture': { text: 'x', type: 'image/png' },
      'GET /round': () => ({ status: 302, headers: { location: '/round' } }),
      'GET /other': { text: '<p>Nothing here.</p>', type: 'text/html' },
    });
    const at = (path: string) => `${upstream.origin}${path}`;
    const found = await foundIn(finding(at('/gone'), at('/empty'), at('/picture'), at('/round'), at('/other')));
    expect(found.map(({ text }) => text)).toEqual(Array.from({ length: 5 }, () => 'The Salt Atlas …'));
    const why = found.map(({ unread }) => unread);
    expect(why[0]).toContain('404');
    expect(why[1]).toContain('no text');
    expect(why[2]).toContain('picture');
    expect(why[3]).toContain('redirects');
    expect(why[4]).toContain('fits');
  });

  it('of private addresses are refused, also behind a redirect', async () => {
    const inside = await startUpstream({ 'GET /secret': { text: PAGE, type: 'text/html' } });
    const found = await foundIn(finding(`${inside.origin}/secret`), { http: createEgressClient() });
    expect(found).toMatchObject([{ text: 'The Salt Atlas …', unread: expect.stringContaining('URL') }]);
    expect(inside.asked).toHaveLength(0);
  });

  it('of 100 MB are cut off while they come', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(1_048_576, 'a');
    let closed: Promise<unknown> | undefined;
    const { origin } = await serve((request, response) => {
      closed = new Promise((resolve) => {
        request.socket.on('close', resolve);
      });
      response.writeHead(200, { 'content-type': 'text/html' });
      const more = (): void => {
        if (sent === 100 || response.destroyed) return;
        sent += 1;
        response.write(chunk, more);
      };
      more();
    });
    const found = await foundIn(finding(`${origin}/large`));
    expect(found).toMatchObject([{ unread: expect.stringContaining('larger') }]);
    await closed;
    expect(sent).toBeLessThan(100);
  });

  it('leave requests of the budget to searches, and say that it is used up', async () => {
    const { origin, asked } = await startUpstream({ 'GET /a': { text: PAGE }, 'GET /b': { text: PAGE } });
    const budget = new Budget({ webRequests: 2 });
    budget.admitWeb();
    const found = await foundIn(finding(`${origin}/a`, `${origin}/b`), { budget });
    expect(asked).toHaveLength(1);
    expect(found.find(({ unread }) => unread !== undefined)?.unread).toContain('budget');
    expect(budget.spent.webRequests).toBe(2);
  });

  it('close their sockets when the research is ended', async () => {
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    let closed: Promise<unknown> | undefined;
    const { origin } = await serve((request, response) => {
      closed = new Promise((resolve) => {
        request.socket.on('close', resolve);
      });
      response.writeHead(200, { 'content-type': 'text/html' });
      response.write('<p>half');
      begin();
    });
    const pages = pagePlace(finding(`${origin}/half`), {
      load: (url) => loadWebPage(url, { http: pageClient() }),
      budget: new Budget({}),
      journal: journalOf(),
    });
    const subscription = pages.find(QUESTION, 24).subscribe();
    await begun;
    subscription.unsubscribe();
    await closed;
  });
});

it('a research of the web cites the page that it read, and tells which it could not read', async () => {
  const { origin } = await startUpstream({
    'GET /search': ({ headers }) => {
      const at = `http://${headers.host}`;
      const result = (path: string) => ({
        url: `${at}${path}`,
        title: path,
        content: `A page on atlases: ${path}.`,
        score: 1,
      });
      return { json: { query: 'q', results: [result('/salt'), result('/gone')], suggestions: [] } };
    },
    'GET /salt': { text: PAGE, type: 'text/html' },
  });
  const canvas = loadCanvas({
    components: {
      begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['search'], upstream: [] },
      search: { obj: { component_name: 'DeepSearch', params: {} }, downstream: [], upstream: ['begin'] },
    },
  });
  const services = { http: pageClient(), tools: { baseUrls: { SearXNG: `${origin}/` } } };
  const variables = { [RESEARCH_VARIABLE]: { web: true, depth: 'quick' } };
  const events = await lastValueFrom(
    runTurn(canvas, { query: QUESTION, variables }, { services, run: 'run' }).pipe(toArray()),
  );
  const told = events.flatMap((event) =>
    event.type === 'node-notice' && event.name === 'research' ? [event.data as unknown as ResearchEvent] : [],
  );
  const searched = told.find((event) => event.type === 'searched');
  expect(searched).toMatchObject({
    where: 'web',
    unread: [{ url: `${origin}/gone`, why: expect.stringContaining('404') }],
  });
  const last = events.at(-1);
  const final =
    last?.type === 'run-settled'
      ? (last.outputs?.research as unknown as {
          report: string;
          sources: FoundEvidence[];
          budget: { webRequests: number };
        })
      : undefined;
  expect(final?.report).toContain('Corwin Hale');
  expect(final?.sources[0]).toMatchObject({
    url: `${origin}/salt`,
    text: expect.stringContaining('written by Corwin Hale'),
  });
  // One search and two pages; the same question is searched once for itself and once as its part.
  expect(final?.budget.webRequests).toBeGreaterThanOrEqual(3);
  const calls = events.flatMap((event) =>
    event.type === 'node-call' && event.call.type === 'started' ? [event.call.name] : [],
  );
  expect(calls.filter((name) => name === 'web_page')).toHaveLength(2);
});
