import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Subscription } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageView } from '../../../src/adapters/browser/action.js';
import { type BrowserSession, type Browsers, createBrowsers } from '../../../src/adapters/browser/browsers.js';
import { act, hasChromium, launcher, look, named, take } from './support/chromium.js';
import { openSite, reaching, type Site } from './support/site.js';

/** Ways in which a page asks for `url`; each calls `said` when it is through. */
const WAYS: Readonly<Record<string, string>> = {
  'a script': `fetch(url).then(said, said)`,
  'a script that sends': `fetch(url, { mode: 'no-cors', method: 'POST', body: 'x' }).then(said, said)`,
  'an old script': `const x = new XMLHttpRequest(); x.onloadend = said; x.open('GET', url); x.send()`,
  'an image': `const i = new Image(); i.onload = i.onerror = said; i.src = url`,
  'a frame': `const f = document.createElement('iframe'); f.onload = said; f.src = url; document.body.append(f)`,
  'a worker': `const code = 'fetch("' + url + '").then(() => postMessage(1), () => postMessage(2))';
    const w = new Worker(URL.createObjectURL(new Blob([code]))); w.onmessage = said`,
  'an event source': `const e = new EventSource(url); e.onopen = said; e.onerror = () => { e.close(); said(); }`,
  'a beacon': `navigator.sendBeacon(url, 'x'); said()`,
  'a prefetch': `link('prefetch', url, said)`,
  'a style sheet': `link('stylesheet', url, said)`,
  'a module': `import(url).then(said, said)`,
  'a WebSocket': `const w = new WebSocket(url.replace('http', 'ws')); w.onopen = w.onerror = said`,
};

/** Ways that lead away from the page. */
const LEAVING: Readonly<Record<string, string>> = {
  'a navigation': `location.href = url`,
  'a form': `const f = document.createElement('form'); f.method = 'post'; f.action = url; document.body.append(f); f.submit()`,
};

/** A page that asks for each address in each way, and says `all through`. */
function asking(ways: readonly string[], urls: readonly string[]): string {
  const asks = urls.flatMap((url) => ways.map((way) => `{ const url = ${JSON.stringify(url)}; ${way}; }`));
  return `<title>asking</title><body><script>
    let left = ${asks.length};
    const said = () => { left -= 1; if (left === 0) document.body.append('all through'); };
    const link = (rel, href, said) => {
      const l = document.createElement('link');
      l.onload = l.onerror = said;
      Object.assign(l, { rel, href });
      document.head.append(l);
    };
    ${asks.join('\n')}</script>`;
}

describe.skipIf(!hasChromium)(named('the network of a browser'), () => {
  let browsers: Browsers;
  let site: Site;
  let secret: Site;
  let session: BrowserSession;
  let subscription: Subscription;
  let page = '';

  beforeAll(async () => {
    const cors = { 'access-control-allow-origin': '*', 'content-type': 'text/html' };
    secret = await openSite(() => ({ headers: cors, body: 'the secret' }));
    site = await openSite(({ url = '' }) => {
      if (url === '/page') return { body: page };
      if (url.startsWith('/to?'))
        return { status: 302, headers: { ...cors, location: decodeURIComponent(url.slice(4)) } };
      if (url.startsWith('/open')) return { headers: cors, body: 'open' };
      return undefined;
    });
    // As if the site came over TLS: there pages have more ways to the network.
    const executable = await launcher(`--unsafely-treat-insecure-origin-as-secure=${new URL(site.url('/')).origin}`);
    browsers = createBrowsers({ ...reaching, executable });
    ({ session, subscription } = await take(browsers.open()));
  });
  afterAll(async () => {
    subscription.unsubscribe();
    await browsers.close();
    await Promise.all([site.close(), secret.close()]);
  });

  /** Opens a page of ours, and waits until it says so. */
  const show = async (content: string, text?: string): Promise<PageView> => {
    page = content;
    await act(session, { action: 'open', url: site.url('/page') });
    if (text !== undefined) await act(session, { action: 'wait', text, seconds: 20 });
    return await look(session);
  };
  const inside = () => [
    `http://127.0.0.1:${secret.port}/`,
    `http://inside.example:${secret.port}/`,
    site.url(`/to?${encodeURIComponent(`http://localhost:${secret.port}/`)}`),
  ];

  it('reaches what is public in every way', async () => {
    const names = Object.keys(WAYS);
    const ways = names.map((name, at) => `url = url.replace(/#?$/, '?${at}'); ${WAYS[name]}`);
    await show(asking(ways, [site.url('/open')]).replaceAll('{ const url', '{ let url'), 'all through');

    const reached = names.filter((_name, at) => site.asked.some((one) => one.endsWith(`/open?${at}`)));
    expect(reached).toEqual(names);
  });

  it('reaches nothing else in any way', async () => {
    const view = await show(asking(Object.values(WAYS), inside()), 'all through');

    expect(view.snapshot).toContain('all through');
    expect(secret.asked).toEqual([]);
  });

  it.each(Object.entries(LEAVING))('goes by %s where that is public, and nowhere else', async (_name, way) => {
    expect((await show(asking([way], [site.url('/open')]))).url).toBe(site.url('/open'));
    for (const url of inside()) await show(asking([way], [url]));

    expect(secret.asked).toEqual([]);
  });

  it.each([
    ['loopback', () => `http://127.0.0.1:${secret.port}/`],
    ['the short form of loopback', () => `http://127.1:${secret.port}/`],
    ['loopback in IPv6', () => `http://[::1]:${secret.port}/`],
    ['a name of this machine', () => `http://localhost:${secret.port}/`],
    ['a name that leads inside', () => `http://loopback.example:${secret.port}/`],
    ['a name that leads inside among others', () => `http://mixed.example:${secret.port}/`],
    ['a redirect inside', () => site.url(`/to?${encodeURIComponent(`http://127.0.0.1:${secret.port}/`)}`)],
    ['https inside', () => `https://127.0.0.1:${secret.port}/`],
    ['a metadata service', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a file', () => 'file:///etc/passwd'],
    ['a page of the browser', () => 'chrome://version'],
    ['the source of a page', () => `view-source:http://127.0.0.1:${secret.port}/`],
    ['a script', () => 'javascript:alert(1)'],
    ['credentials', () => `http://a:b@shop.example:${site.port}/open`],
    ['a port of other services', () => 'http://shop.example:25/'],
  ])('is closed for %s', async (_what, url) => {
    const { isDone } = await act(session, { action: 'open', url: url() });

    expect(isDone).toBe(false);
    expect(JSON.stringify(await look(session))).not.toMatch(/the secret|root:|Chromium/);
    expect(secret.asked).toEqual([]);
  });

  it('says of every way of a page that it was refused, and nothing of what no page asked for', async () => {
    const names = Object.keys(WAYS);
    const ways = names.map((name, at) => `url = 'http://way${at}.example/'; ${WAYS[name]}`);
    const page = asking(ways, ['http://way.example/']).replaceAll('{ const url', '{ let url');

    const { notes } = await show(page, 'all through');

    const told = names.map((_name, at) => notes.some((note) => note.includes(`//way${at}.example`)));
    expect(told).toEqual(names.map(() => true));
    expect(notes).toHaveLength(names.length);
  });

  it('says why something was not loaded, with no more of its address than the origin', async () => {
    const { notes } = await show(
      asking([WAYS['a script'] ?? ''], ['http://inside.example/path?token=hush']),
      'all through',
    );

    expect(notes.join()).toContain('"http://inside.example" is not allowed: it leads to a private address');
    expect(notes.join()).not.toMatch(/hush|path/);
  });

  it('takes no way beside the proxy', async () => {
    const udp: Socket = createSocket('udp4');
    let packets = 0;
    udp.on('message', () => {
      packets += 1;
    });
    udp.bind(0, '127.0.0.1');
    await once(udp, 'listening');
    const { port } = udp.address() as AddressInfo;
    const view = await show(
      `<body><script>
      const server = '127.0.0.1:${port}';
      const iceServers = [{ urls: 'stun:' + server }, { urls: 'turn:' + server, username: 'a', credential: 'b' }];
      const peer = new RTCPeerConnection({ iceServers });
      peer.createDataChannel('x');
      peer.onicegatheringstatechange = () => { if (peer.iceGatheringState === 'complete') document.body.append('gathered beside ' + globalThis.WebTransport?.name); };
      peer.createOffer().then((offer) => peer.setLocalDescription(offer));
      const refused = () => document.body.append('no transport');
      try { new WebTransport('https://' + server).ready.catch(refused); } catch { refused(); }</script>`,
      'gathered beside WebTransport',
    );

    expect(packets).toBe(0);
    expect(view.snapshot).toContain('gathered beside WebTransport');
    expect(view.snapshot).toContain('no transport');
    udp.close();
  });
});
