/**
 * Makes the prepared database that the package ships, so that the first start does not wait for it.
 *
 * Making one takes seconds and depends on the version of PGlite alone, so it is stored in `node_modules/.cache` and copied from there.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createImage } from '../src/stores/postgres/embedded/image.js';
import { ROOT } from './support/files.js';
import { isProgram } from './support/script.js';

const TARGET = path.join(ROOT, 'dist/stores/postgres/embedded/database.image');

/** Path of the prepared database, which is made when it is not there. */
export async function prepareDatabase(): Promise<string> {
  const about = await readFile(path.join(ROOT, 'node_modules/@electric-sql/pglite/package.json'), 'utf8');
  const { version } = JSON.parse(about) as { version: string };
  const folder = path.join(ROOT, 'node_modules/.cache/runnel');
  const file = path.join(folder, `database-${version}.image`);
  try {
    await readFile(file);
  } catch {
    await mkdir(folder, { recursive: true });
    // Two builds may make it at once; a rename is never seen half done.
    const draft = `${file}.${process.pid}`;
    await writeFile(draft, await createImage());
    await rename(draft, file);
  }
  return file;
}

if (isProgram(import.meta.url)) {
  const image = await readFile(await prepareDatabase());
  await mkdir(path.dirname(TARGET), { recursive: true });
  await writeFile(TARGET, image);
  console.log(`prepared database: ${path.relative(ROOT, TARGET)}, ${image.length} bytes`);
}
