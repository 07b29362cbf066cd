import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browsers, createBrowsers, type OpenOptions } from '../../../src/adapters/browser/browsers.js';
import { act, hasChromium, look, named, refOf, take } from './support/chromium.js';
import { openSite, reaching, type Site } from './support/site.js';

/** Pages that take memory until there is none. */
const HUNGRY: Readonly<Record<string, string>> = {
  '/objects':
    'const all = []; const more = () => { for (let i = 0; i < 200; i++) all.push(new Array(100_000).fill(i + 0.5)); setTimeout(more) }; more()',
  '/buffers': `const all = []; const more = () => {
    try { for (let i = 0; i < 4; i++) all.push(new Uint8Array(50_000_000).fill(1)); setTimeout(more) }
    catch (error) { document.body.append('refused: ' + error.message) }
  }; more()`,
};

describe.skipIf(!hasChromium)(named('a browser'), () => {
  let site: Site;
  let browsers: Browsers;

  beforeAll(async () => {
    site = await openSite(({ url = '' }) => {
      const script = HUNGRY[url];
      if (script !== undefined) return { body: `<body>hungry<script>${script}</script>` };
      const [, tab] = /^\/tab(\d)$/.exec(url) ?? [];
      if (tab !== undefined) return { body: `<button onclick="window.open('/tab${Number(tab) + 1}')">Open</button>` };
      if (url === '/elsewhere') {
        return {
          body: `<p>here</p><img src="http://inside.example:${site.port}/picture"><a href="http://inside.example/">Away</a>`,
        };
      }
      return { body: `<p>page ${url}</p>` };
    });
    browsers = createBrowsers({ ...reaching });
  });
  afterAll(async () => {
    await browsers.close();
    await site.close();
  });

  const using = async (open: OpenOptions = {}) => {
    const { session, subscription } = await take(browsers.open(open));
    const goTo = (path: string) => act(session, { action: 'open', url: site.url(path) });
    return { session, goTo, end: () => subscription.unsubscribe() };
  };

  it('survives a page that takes all memory for objects, and says that it crashed', async () => {
    const before = process.memoryUsage().rss;
    const { session, goTo, end } = await using();
    await goTo('/objects');
    const notes: string[] = [];
    while (!notes.join().includes('crashed')) notes.push(...(await look(session)).notes);

    expect(notes).toContain('The page crashed and was closed; it may have used too much memory.');
    expect(await goTo('/fine')).toMatchObject({ isDone: true });
    expect((await look(session)).snapshot).toContain('page /fine');
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 ** 2);
    end();
  });

  it('refuses a page memory for buffers beyond its own', async () => {
    const { session, goTo, end } = await using();
    await goTo('/buffers');
    await act(session, { action: 'wait', text: 'refused: Array buffer allocation failed', seconds: 30 });
    const { snapshot, notes } = await look(session);

    // Which of the two happens is up to Chromium.
    expect(`${snapshot}${notes.join()}`).toMatch(/allocation failed|page crashed/);
    expect(await goTo('/fine')).toMatchObject({ isDone: true });
    end();
  });

  it('has eight tabs at most, and says that it closed the others', async () => {
    const { session, goTo, end } = await using();
    await goTo('/tab0');
    const openNext = async () => act(session, { action: 'click', ref: refOf(await look(session), 'button "Open"') });
    let view = await look(session);
    for (let tab = 1; tab < 8; tab += 1) {
      await openNext();
      while (view.url !== site.url(`/tab${tab}`)) view = await look(session);
    }
    await openNext();
    const refused = 'A new tab was closed again: 8 are the most.';
    while (!view.notes.includes(refused)) view = await look(session);

    expect(view.tabs).toBe(8);
    expect(view.url).toBe(site.url('/tab7'));
    end();
  });

  it('loads nothing from domains that it was not told', async () => {
    const { session, goTo, end } = await using({ allowedDomains: ['example.org', 'shop.example'] });
    expect(await goTo('/elsewhere')).toMatchObject({ isDone: true });
    const { notes } = await look(session);
    expect(notes.join()).toContain('URL "http://inside.example" is not allowed: its domain is not one of those');
    expect(site.asked).not.toContain('GET /picture');
    end();

    const elsewhere = await using({ allowedDomains: ['example.org'] });
    expect(await elsewhere.goTo('/fine')).toMatchObject({ isDone: false });
    const secure = { action: 'open', url: 'https://shop.example/' } as const;
    expect(await act(elsewhere.session, secure)).toMatchObject({ isDone: false });
    expect((await look(elsewhere.session)).notes.join()).toContain('URL "https://shop.example" is not allowed');
    elsewhere.end();
  });

  it('loads nothing from domains that no browser of the server may open', async () => {
    const narrow = createBrowsers({ ...reaching, allowedDomains: ['example.org'] });
    const { session } = await take(narrow.open({ allowedDomains: ['shop.example'] }));
    expect(await act(session, { action: 'open', url: site.url('/fine') })).toMatchObject({ isDone: false });
    await narrow.close();
  });
});
