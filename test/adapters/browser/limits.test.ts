import { firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type BrowserSession,
  type Browsers,
  createBrowsers,
  createRememberedStates,
} from '../../../src/adapters/browser/browsers.js';
import { createNotes } from '../../../src/adapters/browser/downloads.js';
import { act, hasChromium, look, named, refOf, take } from './support/chromium.js';
import { openSite, reaching, type Site } from './support/site.js';

const FILE = { 'content-disposition': 'attachment; filename="a.bin"' };

describe.skipIf(!hasChromium)(named('the bounds of a browser'), () => {
  let site: Site;
  let browsers: Browsers;
  let session: BrowserSession;

  beforeAll(async () => {
    site = await openSite(({ url }) => {
      if (url === '/large') return { headers: FILE, body: Buffer.alloc(20_000) };
      if (url === '/small') return { headers: FILE, body: 'small' };
      if (url === '/made') {
        return {
          body: `<a download="b.bin" href="" onclick="this.href = window.URL.createObjectURL(new Blob([new Uint8Array(20000)]))">Made</a>`,
        };
      }
      if (url === '/small2') return { body: 'tab' };
      if (url === '/loads')
        return {
          body: `<body><script>fetch('/heavy').then((r) => r.text()).catch(() => document.body.append('cut'))</script>`,
        };
      return url === '/heavy' ? { body: `<p>${'x'.repeat(400_000)}</p>` } : undefined;
    });
    browsers = createBrowsers({ ...reaching, maxBytes: 300_000, downloads: { maxFiles: 3, maxFileBytes: 10_000 } });
    ({ session } = await take(browsers.open()));
  });
  afterAll(async () => {
    await browsers.close();
    await site.close();
  });

  it('hold for files of a server and of a page, and for their number', async () => {
    await act(session, { action: 'open', url: site.url('/large') });
    await act(session, { action: 'open', url: site.url('/made') });
    await act(session, { action: 'click', ref: refOf(await look(session), 'link "Made"') });
    for (const _ of [1, 2]) await act(session, { action: 'open', url: site.url('/small') });
    const files = await firstValueFrom(session.files());
    const { notes } = await look(session);

    expect(files.map(({ name, size }) => [name, size])).toEqual([['a.bin', 5]]);
    expect(notes).toContain('The download "b.bin" was refused: it is larger than 10000 bytes.');
    expect(notes).toContain('The download "a.bin" was refused: 3 files are the most.');
  });

  it('hold for what pages load, for good', async () => {
    await act(session, { action: 'open', url: site.url('/loads') });
    await act(session, { action: 'wait', text: 'cut', seconds: 20 });
    const { notes, snapshot } = await look(session);
    const after = await act(session, { action: 'open', url: site.url('/small2') });

    expect(notes).toContain('Not loaded: The pages have loaded more than 300000 bytes; no more is loaded.');
    expect(snapshot).toContain('cut');
    expect(after.isDone).toBe(false);
  });
});

describe('notes', () => {
  it('are kept once each, short and few, until they are taken', () => {
    const notes = createNotes();
    for (let at = 0; at < 30; at += 1) notes.add(`note ${at} ${'x'.repeat(400)}\nmore`);
    notes.add('note 0');
    const taken = notes.take();

    expect(taken).toHaveLength(20);
    expect(taken.every((note) => note.length <= 300)).toBe(true);
    expect(notes.take()).toEqual([]);
  });
});

describe('notes about hosts', () => {
  it('are told when a page asked for the host, also after the note, and are not kept for later', () => {
    const notes = createNotes();
    notes.add('of the browser', 'search.example');
    notes.add('of a page', 'shop.example');
    notes.asked('shop.example');

    expect(notes.take()).toEqual(['of a page']);
    notes.asked('search.example');
    expect(notes.take()).toEqual([]);
  });

  it('are told of the thousand hosts that were asked last', () => {
    const notes = createNotes();
    for (let at = 0; at <= 1_000; at += 1) notes.asked(`h${at}`);
    for (const host of ['h0', 'h1', 'h1000']) notes.add(host, host);

    expect(notes.take()).toEqual(['h1', 'h1000']);
  });
});

describe('remembered logins', () => {
  const state = (value: string) => ({
    cookies: [],
    origins: [{ origin: 'http://a', localStorage: [{ name: 'k', value }] }],
  });

  it('are forgotten after half an hour, when they are large, and when there are too many', () => {
    let now = 0;
    const states = createRememberedStates(() => now);
    states.set('old', state('1'));
    now = 1_800_000;
    expect(states.get('old')).toEqual(state('1'));
    now += 1;
    expect(states.get('old')).toBeUndefined();

    states.set('large', state('x'.repeat(1_048_576)));
    expect(states.get('large')).toBeUndefined();

    for (let at = 0; at < 65; at += 1) states.set(`k${at}`, state(String(at)));
    expect(states.get('k0')).toBeUndefined();
    expect(states.get('k1')).toEqual(state('1'));
  });
});
