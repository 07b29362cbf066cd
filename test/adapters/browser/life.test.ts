import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { firstValueFrom, type Observable } from 'rxjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  type BrowserSession,
  type Browsers,
  type BrowsersOptions,
  createBrowsers,
} from '../../../src/adapters/browser/browsers.js';
import { findChromium, makeFolder, sweepFolders } from '../../../src/adapters/browser/chromium-process.js';
import { act, hasChromium, launcher, leftovers, look, NOTHING, named, refOf, take, until } from './support/chromium.js';
import { openSite, reaching, type Site } from './support/site.js';

type Started = Parameters<NonNullable<BrowsersOptions['onStart']>>[0];

/** What an Observable fails with; its values are of no interest. */
const failureOf = (source$: Observable<unknown>): Promise<unknown> =>
  new Promise((resolve, reject) => {
    source$.subscribe({ error: resolve, complete: () => reject(new Error('completed')) });
  });

describe('a machine without Chromium', () => {
  it('says what to install', async () => {
    await expect(findChromium(undefined, ['/nowhere/chromium'])).rejects.toMatchObject({
      code: 'BROWSER_MISSING',
      message:
        'There is no browser: no Chromium is installed on this machine. Install one (Debian and Ubuntu: apt-get install ' +
        'chromium), or set RUNNEL_CHROMIUM to the path of Chromium or Chrome.',
    });
  });

  it('says that the named program is none', async () => {
    const browsers = createBrowsers({ executable: '/nowhere/chromium' });
    expect(await failureOf(browsers.open())).toMatchObject({
      code: 'BROWSER_MISSING',
      message: expect.stringContaining('"/nowhere/chromium" (RUNNEL_CHROMIUM) is no program'),
    });
    await browsers.close();
  });

  it('says how a program ended that is no browser', async () => {
    const started: Started[] = [];
    const executable = await launcher('', 'echo "FATAL: no usable display" >&2; exit 7');
    const browsers = createBrowsers({ executable, onStart: (one) => started.push(one) });
    expect(await failureOf(browsers.open())).toMatchObject({
      code: 'BROWSER_FAILED',
      message: 'The browser ended by itself (exit code 7). It said: FATAL: no usable display',
    });
    await browsers.close();
    expect(started.map(leftovers)).toEqual([NOTHING]);
  });
});

describe('folders of browsers', () => {
  it('of processes that were killed are deleted, and no others', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'runnel-sweep-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const own = makeFolder();
    await rm(own, { recursive: true });
    // The largest number that a process can have on Linux is 2^22.
    const left = path.basename(own).replace(`-${process.pid}-`, '-9999999-');
    const others = [path.basename(own), 'runnel-browser-elsewhere-9999999-abc', 'tmp-9999999-x'];
    for (const name of [left, ...others]) await mkdir(path.join(folder, name, 'profile'), { recursive: true });

    await sweepFolders(folder);

    expect(await readdir(folder)).toEqual(others.toSorted());
  });
});

describe.skipIf(!hasChromium)(named('the life of a browser'), () => {
  let site: Site;
  let started: Started[] = [];
  let browsers: Browsers;

  beforeAll(async () => {
    site = await openSite(({ url, headers }) => {
      if (url === '/') return { body: '<title>Start</title><a href="/never">Never</a>' };
      if (url === '/cookie') {
        const body = `knows ${headers.cookie === undefined ? 'nobody' : 'you'}`;
        return { headers: { 'content-type': 'text/html', 'set-cookie': 'login=1; Max-Age=600' }, body };
      }
      return url === '/never' ? 'never' : undefined;
    });
    browsers = createBrowsers({ ...reaching, onStart: (one) => started.push(one) });
  });
  beforeEach(() => {
    started = [];
  });
  afterAll(async () => {
    await browsers.close();
    await site.close();
  });

  /** Nothing is left of any browser that was started, however many those are. */
  const nothingIsLeft = async (count: number): Promise<void> => {
    await until(() => expect(started.map(leftovers)).toEqual(Array(count).fill(NOTHING)));
  };

  it('does not begin for somebody who is gone at once', async () => {
    browsers.open().subscribe().unsubscribe();
    const { subscription } = await take(browsers.open());
    subscription.unsubscribe();
    await nothingIsLeft(1);
  });

  it('ends while the browser starts', async () => {
    const subscription = browsers.open().subscribe();
    await until(() => expect(started).toHaveLength(1));
    subscription.unsubscribe();
    await nothingIsLeft(1);
  });

  it.each<[string, boolean, (session: BrowserSession) => Promise<Observable<unknown>>]>([
    ['the page is read', false, async (session) => session.look()],
    ['a page is loading', true, async (session) => session.perform({ action: 'open', url: site.url('/never') })],
    [
      'a click has begun to load',
      true,
      async (session) => {
        await act(session, { action: 'open', url: site.url('/') });
        return session.perform({ action: 'click', ref: refOf(await look(session), 'link "Never"') });
      },
    ],
    ['it waits', false, async (session) => session.perform({ action: 'wait', seconds: 30 })],
  ])('ends while %s', async (_when, isAsking, begin) => {
    const { session, subscription } = await take(browsers.open());
    const work$ = await begin(session);
    const asked = site.asked.length;
    subscription.add(work$.subscribe({ error: () => {} }));
    if (isAsking) await until(() => expect(site.asked.length).toBeGreaterThan(asked));
    subscription.unsubscribe();
    await nothingIsLeft(1);
  });

  it('ends with a clear error when the browser ends by itself', async () => {
    const failure = await new Promise((resolve) => {
      browsers.open().subscribe({ next: () => process.kill(started[0]?.pid ?? 0, 'SIGSEGV'), error: resolve });
    });
    expect(failure).toMatchObject({ code: 'BROWSER_FAILED', message: expect.stringMatching(/ended by itself \(SIG/) });
    await nothingIsLeft(1);
  });

  it('is waited for when all browsers are taken, by so many and no more', async () => {
    const few = createBrowsers({ ...reaching, maxBrowsers: 1, maxWaiting: 1, onStart: (one) => started.push(one) });
    onTestFinished(() => few.close());
    const { subscription } = await take(few.open());
    const second = take(few.open());
    expect(await failureOf(few.open())).toMatchObject({
      code: 'LIMIT_REACHED',
      message: '1 browsers are running and 1 nodes wait for one; try again later, or raise RUNNEL_MAX_BROWSERS.',
    });
    expect(started).toHaveLength(1);
    subscription.unsubscribe();
    await second;
    expect(started).toHaveLength(2);
    await few.close();
    await nothingIsLeft(2);
    expect(await failureOf(few.open())).toMatchObject({ code: 'BROWSER_FAILED' });
  });

  it('knows nothing of the environment, which holds secrets', async () => {
    const executable = await launcher('', 'env > "$HOME/environment"');
    const own = createBrowsers({ executable, onStart: (one) => started.push(one) });
    onTestFinished(() => own.close());
    await take(own.open());
    const text = await readFile(path.join(started[0]?.folder ?? '', 'environment'), 'utf8');
    const names = text.split('\n').flatMap((line) => line.split('=')[0] || []);
    expect(names).toEqual(expect.arrayContaining(['HOME', 'LANG', 'PATH', 'TMPDIR']));
    // What a shell adds.
    expect(
      names.filter((name) => !['HOME', 'LANG', 'PATH', 'TMPDIR', 'PWD', 'OLDPWD', 'SHLVL', '_'].includes(name)),
    ).toEqual([]);
  });

  it('remembers cookies for the same key alone, when asked to', async () => {
    const visit = async (rememberAs?: string): Promise<string> => {
      const { session, subscription } = await take(browsers.open(rememberAs === undefined ? {} : { rememberAs }));
      await act(session, { action: 'open', url: site.url('/cookie') });
      const { snapshot } = await look(session);
      await firstValueFrom(session.remember());
      subscription.unsubscribe();
      return snapshot;
    };
    const seen = [await visit(), await visit('ada'), await visit('bob'), await visit('ada')];

    expect(seen.map((text) => /knows (\w+)/.exec(text)?.[1])).toEqual(['nobody', 'nobody', 'nobody', 'you']);
    await nothingIsLeft(4);
  });
});
