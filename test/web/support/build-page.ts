/** The page of the studio, built once for all tests of the same code. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'vite';
import { readStudio, type Studio } from '../../../src/transport/studio/studio-files.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** Where pages are kept, by the code that they are made from. */
const CACHE = path.join(tmpdir(), 'runnel-test-pages');

/** Folders and files that a page is made from; of `src` it reads a few folders only. */
const SOURCES = [
  'web',
  'src/canvas',
  'src/dsl',
  'src/graph',
  'src/operators',
  'src/json.ts',
  'src/knowledge/evaluation/metrics.ts',
  'src/research/deep/fold-research.ts',
  'src/research/service/research-frames.ts',
  'src/errors.ts',
  'package-lock.json',
];

/** The folder of the page that this code makes; it is built when no test has done so before. */
export async function builtPage(): Promise<string> {
  const folder = path.join(CACHE, hashOf(SOURCES));
  if (existsSync(path.join(folder, 'index.html'))) return folder;
  mkdirSync(CACHE, { recursive: true });
  const fresh = mkdtempSync(path.join(CACHE, 'new-'));
  await build({
    configFile: path.join(ROOT, 'web/vite.config.ts'),
    mode: 'production',
    build: { outDir: fresh },
  });
  try {
    renameSync(fresh, folder);
  } catch {
    // Another worker was faster.
    rmSync(fresh, { recursive: true });
  }
  return folder;
}

/** The page as the server takes it. */
export async function readPage(): Promise<Studio> {
  return (await readStudio(await builtPage())) as Studio;
}

function hashOf(sources: readonly string[]): string {
  const hash = createHash('sha256');
  for (const source of sources) {
    for (const file of filesOf(source)) hash.update(file).update(readFileSync(path.join(ROOT, file)));
  }
  return hash.digest('hex').slice(0, 32);
}

function filesOf(source: string): readonly string[] {
  if (/\.\w+$/.test(source)) return [source];
  const entries = readdirSync(path.join(ROOT, source), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)))
    .toSorted();
}
