import { firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BrowserSession, type Browsers, createBrowsers } from '../../../src/adapters/browser/browsers.js';
import { act, hasChromium, look, named, refOf, take, until } from './support/chromium.js';
import { openSite, reaching, type Site } from './support/site.js';

const LOGIN = `<title>Shop</title><form method="post" action="/login">
  <input aria-label="Name" name="name"><input aria-label="Password" type="password" name="password">
  <select aria-label="Country" name="country"><option>France</option><option>Peru</option></select>
  <label><input type="checkbox" name="terms" value="yes">Terms</label><button>Log in</button></form>`;
const INSIDE = `<title>Orders</title><h1>Welcome</h1><a href="/orders.csv">Orders as CSV</a>
  <button onclick="this.remove()">Vanish</button><button onclick="alert('Hi there')">Greet</button>
  <label>Picture <input type="file" onchange="document.title = this.files[0].name + ' ' + this.files[0].size"></label>
  <a href="/more" target="_blank">More</a>`;

describe.skipIf(!hasChromium)(named('a browser'), () => {
  let browsers: Browsers;
  let site: Site;
  let secret: Site;
  let session: BrowserSession;

  beforeAll(async () => {
    secret = await openSite(() => ({ headers: { 'access-control-allow-origin': '*' }, body: 'secret' }));
    site = await openSite(({ url, method }) => {
      if (url === '/login' && method === 'POST') {
        return { status: 303, headers: { location: '/orders', 'set-cookie': ['sid=1; Path=/', 'two=2; Path=/'] } };
      }
      if (url === '/') return { body: LOGIN };
      if (url === '/orders') return { body: INSIDE };
      if (url === '/more') return { body: '<h1>More</h1><iframe srcdoc="<button>Within</button>"></iframe>' };
      if (url === '/orders.csv') {
        const headers = { 'content-type': 'text/csv', 'content-disposition': 'attachment; filename="../or ders.csv"' };
        return { headers, body: 'id,total\n1,20\n' };
      }
      return undefined;
    });
    browsers = createBrowsers({ ...reaching });
    const uploads = [{ name: 'cat.png', bytes: new Uint8Array(7) }];
    ({ session } = await take(browsers.open({ uploads })));
  });
  afterAll(async () => {
    await browsers.close();
    await Promise.all([site.close(), secret.close()]);
  });

  it('logs in, and goes where that leads', async () => {
    expect(await act(session, { action: 'open', url: site.url('/') })).toMatchObject({ isDone: true });
    const view = await look(session);
    expect(view).toMatchObject({ title: 'Shop', url: site.url('/'), tabs: 1 });
    await act(session, { action: 'type', ref: refOf(view, 'textbox "Name"'), text: 'ada' });
    await act(session, { action: 'type', ref: refOf(view, 'textbox "Password"'), text: 'hush' });
    await act(session, { action: 'select', ref: refOf(view, 'combobox "Country"'), values: ['Peru'] });
    await act(session, { action: 'click', ref: refOf(view, 'checkbox "Terms"') });
    await act(session, { action: 'click', ref: refOf(view, 'button "Log in"') });

    expect(site.asked).toContain('name=ada&password=hush&country=Peru&terms=yes');
    expect(await look(session)).toMatchObject({ title: 'Orders', url: site.url('/orders') });
  });

  it('downloads', async () => {
    await act(session, { action: 'open', url: site.url('/orders') });
    await act(session, { action: 'click', ref: refOf(await look(session), 'link "Orders as CSV"') });

    const files = await firstValueFrom(session.files());
    expect(files.map(({ size }) => size)).toEqual([14]);
    expect(files[0]?.name).not.toContain('/');
    expect(Buffer.from((await files[0]?.read()) ?? []).toString()).toBe('id,total\n1,20\n');
  });

  it('says at once that a reference is not of the last look', async () => {
    await act(session, { action: 'open', url: site.url('/orders') });
    const view = await look(session);
    const vanish = refOf(view, 'button "Vanish"');
    await act(session, { action: 'click', ref: vanish });

    for (const ref of [vanish, 'e9999', 'x"] >> html']) {
      expect(await act(session, { action: 'click', ref })).toEqual({
        isDone: false,
        text: `There is no element "${ref}" on the page as it is now; take a reference of the last snapshot.`,
      });
    }
  });

  it('puts a given file into a field, and no other file of the machine', async () => {
    await act(session, { action: 'open', url: site.url('/orders') });
    const ref = refOf(await look(session), 'button "Picture"');

    expect(await act(session, { action: 'upload', ref, files: ['/etc/passwd'] })).toMatchObject({ isDone: false });
    expect(await act(session, { action: 'upload', ref, files: ['cat.png'] })).toMatchObject({ isDone: true });
    expect((await look(session)).title).toBe('cat.png 7');
  });

  it('answers dialogs, follows new tabs and reads frames', async () => {
    await act(session, { action: 'open', url: site.url('/orders') });
    const view = await look(session);
    await act(session, { action: 'click', ref: refOf(view, 'button "Greet"') });
    await act(session, { action: 'click', ref: refOf(view, 'link "More"') });
    const notes: string[] = [];
    const more = await until(async () => {
      const now = await look(session);
      notes.push(...now.notes);
      expect(now.snapshot).toContain('Within');
      return now;
    });

    expect(notes).toEqual([
      'A dialog (alert) said "Hi there"; it was accepted.',
      'A new tab opened, which is the page now.',
    ]);
    expect(more).toMatchObject({ url: site.url('/more'), tabs: 2 });
    expect(refOf(more, 'button "Within"')).toMatch(/^f\d+e\d+$/);
  });

  it('takes a picture', async () => {
    await act(session, { action: 'open', url: site.url('/orders') });

    const { image } = await act(session, { action: 'screenshot', full_page: true });

    expect(
      Buffer.from(image ?? [])
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
  });
});
