/**
 * Takes the pictures of the docs from the studio itself, each in both themes: `npm run docs:pictures`, after a build and with a Chromium.
 *
 * A server with the examples and the scripted model answers, so that each picture shows a run that took place.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findChromium } from '../src/adapters/browser/chromium-process.js';
import { ROOT } from './support/files.js';

const FOLDER = path.join(ROOT, 'docs/pictures');

/** What a picture shows, in both themes. */
interface Scene {
  readonly name: string;
  /** Brings the page to what is shown. */
  readonly show: (page: Page, url: string) => Promise<void>;
}

const SCENES: readonly Scene[] = [
  { name: 'run', show: (page, url) => ask(page, `${url}/#/agents/example-agent`, 'How old is the bridge?') },
  {
    name: 'trace',
    show: async (page, url) => {
      await ask(page, `${url}/#/agents/example-loop`, 'the sea');
      await page.getByRole('tab', { name: 'Trace' }).click();
      await page.getByRole('treegrid', { name: 'Trace' }).waitFor();
      await page.getByRole('group', { name: /^Write, LLM/ }).click();
      await page.getByRole('region', { name: 'What Write did' }).getByRole('region', { name: 'Read' }).waitFor();
    },
  },
  {
    name: 'editor',
    show: async (page, url) => {
      await page.goto(`${url}/#/agents/example-agent`);
      await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
      await page.getByRole('group', { name: 'Guide, Agent', exact: true }).click();
      await page.getByRole('complementary').getByRole('textbox').first().waitFor();
    },
  },
];

const THEMES = ['light', 'dark'] as const;

async function ask(page: Page, address: string, question: string): Promise<void> {
  await page.goto(address);
  const box = page.getByRole('textbox').last();
  await box.fill(question);
  await box.press('Enter');
  await page.getByRole('log').getByText(/took/).waitFor();
}

async function take(browser: Browser, url: string, { name, show }: Scene): Promise<void> {
  for (const theme of THEMES) {
    const page = await browser.newPage({
      viewport: { width: 1280, height: 760 },
      colorScheme: theme,
      locale: 'en-GB',
      reducedMotion: 'reduce',
    });
    await show(page, url);
    await page.mouse.move(0, 0);
    const file = `studio-${name}${theme === 'dark' ? '-dark' : ''}.png`;
    await page.screenshot({ path: path.join(FOLDER, file) });
    await page.close();
    console.log(`docs/pictures/${file}`);
  }
}

const executablePath = await findChromium(undefined);
const data = mkdtempSync(path.join(tmpdir(), 'runnel-pictures-'));
const server = spawn(process.execPath, [path.join(ROOT, 'dist/cli/main.js'), 'serve', '--examples'], {
  env: { ...process.env, RUNNEL_PORT: '0', RUNNEL_DATA_DIR: data },
  stdio: ['ignore', 'pipe', 'ignore'],
});
try {
  const [first] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
  server.stdout.resume();
  const url = /https?:\/\/\S+/.exec(first)?.[0];
  if (url === undefined) throw new Error(`The server said "${first}", and no address.`);
  mkdirSync(FOLDER, { recursive: true });
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  for (const scene of SCENES) await take(browser, url, scene);
  await browser.close();
} finally {
  server.kill('SIGTERM');
  await once(server, 'exit');
  rmSync(data, { recursive: true, force: true });
}
