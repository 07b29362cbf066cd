/** Actions on a page. */
import type { Locator, Page } from 'playwright-core';
import { EngineError } from '../../errors.js';
import { checkUrl } from '../egress/url-policy.js';
import type { ActionOutcome, BrowserAction } from './action.js';

/** Milliseconds for an action on an element, for opening a page, and for a picture. */
const ACTION_MS = 3_000;
const OPEN_MS = 30_000;
const PICTURE_MS = 10_000;

/** Longest explanation of what went wrong, in characters. */
const MAX_PROBLEM = 300;

/** Tallest picture of a whole page, in pixels. */
const MAX_PICTURE_HEIGHT = 16_384;

/** A page, and what an action may use of the session around it. */
export interface Surface {
  readonly page: Page;
  /** References of the last read. */
  readonly refs: ReadonlySet<string>;
  /** Paths of given files by name. */
  readonly uploads: ReadonlyMap<string, string>;
  readonly allowPrivateNetwork: boolean;
}

/**
 * Does one action. What a page or a wrong choice makes impossible is an outcome, not an error; so is a reference that is
 * not of the last read, or whose element is gone.
 */
export async function performAction(surface: Surface, action: BrowserAction): Promise<ActionOutcome> {
  const ref = 'ref' in action ? action.ref : undefined;
  try {
    if (ref !== undefined && !(await isThere(surface, ref))) {
      return failed(`There is no element "${ref}" on the page as it is now; take a reference of the last snapshot.`);
    }
    return await perform(surface, action);
  } catch (error) {
    return failed(explain(error));
  }
}

/** The driver itself would wait for an element that is gone. */
async function isThere({ page, refs }: Surface, ref: string): Promise<boolean> {
  return refs.has(ref) && (await locate(page, ref).count()) > 0;
}

function perform(surface: Surface, action: BrowserAction): Promise<ActionOutcome> {
  const { page } = surface;
  switch (action.action) {
    case 'open':
      return open(surface, action.url);
    case 'click':
      return element(page, action.ref, (one) => (action.double ? one.dblclick(WITHIN) : one.click(WITHIN)), 'Clicked');
    case 'hover':
      return element(page, action.ref, (one) => one.hover(WITHIN), 'The pointer is over');
    case 'type':
      return element(page, action.ref, (one) => type(one, action.text, action.submit === true), 'Filled');
    case 'select':
      return element(page, action.ref, (one) => one.selectOption([...action.values], WITHIN), 'Chose in');
    case 'press':
      return done(page.keyboard.press(action.key), `Pressed ${action.key}.`);
    case 'scroll':
      return scroll(page, action.ref, action.direction === 'up' ? -1 : 1);
    case 'wait':
      return wait(page, action.seconds ?? 2, action.text);
    case 'back':
      return back(page);
    case 'upload':
      return upload(surface, action.ref, action.files);
    case 'screenshot':
      return picture(page, action.full_page === true);
  }
}

const WITHIN = { timeout: ACTION_MS };

async function open({ page, allowPrivateNetwork }: Surface, text: string): Promise<ActionOutcome> {
  // Names are judged once more, with their addresses, when the proxy connects.
  const url = checkUrl(text, { reach: allowPrivateNetwork ? 'private' : 'public' });
  try {
    const answer = await page.goto(url.href, { timeout: OPEN_MS, waitUntil: 'domcontentloaded' });
    const status = answer?.status() ?? 200;
    return { isDone: status < 400, text: `Opened the address; the server answered with status ${status}.` };
  } catch (error) {
    if (error instanceof Error && error.message.includes('Download is starting')) {
      return { isDone: true, text: 'The address is a file, which is being downloaded.' };
    }
    throw error;
  }
}

async function element(
  page: Page,
  ref: string,
  work: (one: Locator) => Promise<unknown>,
  done: string,
): Promise<ActionOutcome> {
  await work(locate(page, ref));
  return { isDone: true, text: `${done} ${ref}.` };
}

function locate(page: Page, ref: string): Locator {
  return page.locator(`aria-ref=${ref}`);
}

async function type(field: Locator, text: string, isSubmitted: boolean): Promise<void> {
  await field.fill(text, WITHIN);
  if (isSubmitted) await field.press('Enter', WITHIN);
}

async function scroll(page: Page, ref: string | undefined, direction: number): Promise<ActionOutcome> {
  if (ref !== undefined) return element(page, ref, (one) => one.scrollIntoViewIfNeeded(WITHIN), 'Scrolled to');
  const height = page.viewportSize()?.height ?? 900;
  return done(page.mouse.wheel(0, direction * Math.round(height * 0.9)), 'Scrolled.');
}

async function wait(page: Page, seconds: number, text: string | undefined): Promise<ActionOutcome> {
  if (text === undefined) return done(page.waitForTimeout(seconds * 1_000), `Waited ${seconds} seconds.`);
  // At least one check, also when no time is given.
  const timeout = Math.max(1, seconds * 1_000);
  const shown = page.getByText(text).first().waitFor({ state: 'visible', timeout });
  return shown.then(
    () => ({ isDone: true, text: 'The text shows.' }),
    () => failed(`The text did not show within ${seconds} seconds.`),
  );
}

async function back(page: Page): Promise<ActionOutcome> {
  const answer = await page.goBack({ timeout: OPEN_MS, waitUntil: 'domcontentloaded' });
  return answer === null ? failed('There is no page to go back to.') : { isDone: true, text: 'Went back.' };
}

async function upload({ page, uploads }: Surface, ref: string, names: readonly string[]): Promise<ActionOutcome> {
  const paths: string[] = [];
  for (const name of names) {
    const path = uploads.get(name);
    if (path === undefined) return failed(`There is no given file ${JSON.stringify(name)}.`);
    paths.push(path);
  }
  const field = locate(page, ref);
  const isFileField = await field.evaluate((node) => (node as { readonly type?: unknown }).type === 'file', WITHIN);
  if (isFileField) {
    await field.setInputFiles(paths, WITHIN);
  } else {
    const [chooser] = await Promise.all([page.waitForEvent('filechooser', WITHIN), field.click(WITHIN)]);
    await chooser.setFiles(paths, WITHIN);
  }
  return { isDone: true, text: `Put ${paths.length} files into ${ref}.` };
}

async function picture(page: Page, isWhole: boolean): Promise<ActionOutcome> {
  const height = isWhole ? await page.evaluate('document.documentElement.scrollHeight') : 0;
  const isTooTall = typeof height !== 'number' || height > MAX_PICTURE_HEIGHT;
  const image = await page.screenshot({ fullPage: isWhole && !isTooTall, timeout: PICTURE_MS, type: 'png' });
  return { isDone: true, text: 'Took a picture; it is kept as a file.', image };
}

async function done(work: Promise<unknown>, text: string): Promise<ActionOutcome> {
  await work;
  return { isDone: true, text };
}

function failed(text: string): ActionOutcome {
  return { isDone: false, text };
}

/** The first line of the driver's message, without its colours and addresses. */
function explain(error: unknown): string {
  if (EngineError.is(error)) return error.message;
  if (!(error instanceof Error)) return 'It did not work.';
  const [line = ''] = error.message.split('\n');
  const plain = line
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal begin with one
    .replace(/\u001b\[[\d;]*m/g, '')
    .replace(/^\w+\.\w+: /, '')
    .replace(/\bat https?:\S+/g, '');
  return (error.name === 'TimeoutError' ? `It took too long: ${plain}` : plain).trim().slice(0, MAX_PROBLEM);
}
