import { existsSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { EngineError } from '../../errors.js';

/** Where distributions and installers put Chromium and its kin, the likeliest first. */
const USUAL_PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/opt/google/chrome/chrome',
  '/snap/bin/chromium',
  '/usr/local/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** Files that container engines leave in their containers. */
const CONTAINER_MARKS = ['/.dockerenv', '/run/.containerenv'];

/**
 * The path of a Chromium that can be started: the one that is named, else the first in the usual places.
 *
 * @throws EngineError BROWSER_MISSING when there is none.
 */
export async function findChromium(
  named: string | undefined,
  places: readonly string[] = USUAL_PLACES,
): Promise<string> {
  if (named !== undefined && named !== '') {
    if (await isExecutable(named)) return named;
    throw missing(`"${named}" (RUNNEL_CHROMIUM) is no program that can be started`);
  }
  for (const place of places) {
    if (await isExecutable(place)) return place;
  }
  throw missing('no Chromium is installed on this machine');
}

/**
 * Whether Chromium's own sandbox can work here: the kernel grants it to no root user, and containers rarely do. There the
 * container is what confines the pages.
 */
export function canSandbox(): boolean {
  return process.getuid?.() !== 0 && !CONTAINER_MARKS.some((mark) => existsSync(mark));
}

async function isExecutable(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function missing(problem: string): EngineError {
  return new EngineError(
    'BROWSER_MISSING',
    `There is no browser: ${problem}. Install one (Debian and Ubuntu: apt-get install chromium), ` +
      'or set RUNNEL_CHROMIUM to the path of Chromium or Chrome.',
  );
}
