import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { compressStudio } from '../../scripts/compress-studio.js';
import { makeFolder, removeFolder } from '../stores/support/temporary-folder.js';

it('compresses the text files of the page that are worth it, beside themselves', async () => {
  const folder = await makeFolder();
  onTestFinished(() => removeFolder(folder));
  const assets = path.join(folder, 'studio');
  await mkdir(assets);
  const text = 'const studio = 1;\n'.repeat(500);
  await writeFile(path.join(folder, 'index.html'), text);
  await writeFile(path.join(assets, 'app-12345678.js'), text);
  await writeFile(path.join(assets, 'small-12345678.css'), 'a{}');
  await writeFile(path.join(assets, 'font-12345678.woff2'), text);
  await compressStudio(folder);
  expect((await readdir(folder)).toSorted()).toEqual(['index.html', 'index.html.br', 'index.html.gz', 'studio']);
  expect((await readdir(assets)).toSorted()).toEqual([
    'app-12345678.js',
    'app-12345678.js.br',
    'app-12345678.js.gz',
    'font-12345678.woff2',
    'small-12345678.css',
  ]);
  expect(brotliDecompressSync(await readFile(path.join(assets, 'app-12345678.js.br'))).toString()).toBe(text);
  expect(gunzipSync(await readFile(path.join(assets, 'app-12345678.js.gz'))).toString()).toBe(text);
});
