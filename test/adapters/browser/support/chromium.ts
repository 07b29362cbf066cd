import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { firstValueFrom, type Observable, type Subscription } from 'rxjs';
import { afterAll, vi } from 'vitest';
import type { BrowserAction, PageView } from '../../../../src/adapters/browser/action.js';
import type { BrowserSession } from '../../../../src/adapters/browser/browsers.js';
import { findChromium } from '../../../../src/adapters/browser/chromium-process.js';

/** Whether tests can drive a browser; those that cannot are skipped and say what to do. */
export const hasChromium: boolean = await findChromium(undefined).then(
  () => true,
  () => false,
);
export const MISSING = 'no Chromium here: run "apt-get install -y chromium"';

const launchers: string[] = [];
afterAll(() => Promise.all(launchers.map((folder) => rm(folder, { recursive: true }))));

/**
 * A program that starts the Chromium of this machine in its own way; it goes with the tests of the file. Without a Chromium, only what
 * comes before it runs.
 */
export async function launcher(flags: string, before = ''): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'runnel-launcher-'));
  launchers.push(folder);
  const file = path.join(folder, 'chromium');
  const chromium = await findChromium(undefined).catch(() => 'false');
  await writeFile(file, `#!/bin/sh\n${before}\nexec ${chromium} ${flags} "$@"\n`, { mode: 0o755 });
  return file;
}

/** Adds to the name of a group of tests why it is skipped. */
export const named = (name: string): string => (hasChromium ? name : `${name} (${MISSING})`);

/** The first session of an Observable that stays open, and its subscription. */
export function take(
  open$: Observable<BrowserSession>,
): Promise<{ readonly session: BrowserSession; readonly subscription: Subscription }> {
  return new Promise((resolve, reject) => {
    const subscription = open$.subscribe({
      next: (session) => queueMicrotask(() => resolve({ session, subscription })),
      error: reject,
    });
  });
}

/** Waits until a check holds; the limit only ends what never will, and says what was wrong. */
export const until = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 60_000, interval: 10 });

export const look = (session: BrowserSession): Promise<PageView> => firstValueFrom(session.look());

export const act = (session: BrowserSession, action: BrowserAction) => firstValueFrom(session.perform(action));

/** The reference of an element in a snapshot, such as of `textbox "Name"`. */
export function refOf({ snapshot }: Pick<PageView, 'snapshot'>, element: string): string {
  const line = snapshot.split('\n').find((one) => one.includes(`${element} `) || one.includes(`${element}:`));
  const ref = line === undefined ? undefined : /\[ref=([a-z\d]+)\]/.exec(line)?.[1];
  if (ref === undefined) throw new Error(`no ${element} in\n${snapshot}`);
  return ref;
}

/** What is left of a browser; processes that have ended and whose parent has not looked yet do not count. */
export const leftovers = ({ pid, folder }: { readonly pid: number; readonly folder: string }) => ({
  processes: processesOf(pid),
  folder: existsSync(folder),
});

/** Ids of the living processes of a group. */
function processesOf(group: number): readonly string[] {
  return readdirSync('/proc').filter((id) => {
    if (!/^\d+$/.test(id)) return false;
    // pid (name) state parent group …; a name may hold anything.
    const [state, , of] = statOf(id).split(') ').at(-1)?.split(' ') ?? [];
    return of === String(group) && state !== 'Z' && state !== 'X';
  });
}

function statOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/stat`, 'utf8');
  } catch {
    return '';
  }
}
export const NOTHING = { processes: [], folder: false };
