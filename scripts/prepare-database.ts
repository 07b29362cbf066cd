/**
 * Makes the prepared database that the package ships, so that the first start waits neither for a new one nor for its tables.
 *
 * Making one takes seconds and depends on the version of PGlite and the tables alone, so it is stored in `node_modules/.cache` and copied from
 * there.
 */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SILENT_LOG } from '../src/logger.js';
import { packFolder } from '../src/stores/postgres/embedded/image.js';
import { openDatabase } from '../src/stores/postgres/open-database.js';
import { ROOT, readFiles } from './support/files.js';
import { isProgram } from './support/script.js';

const TARGET = path.join(ROOT, 'dist/stores/postgres/embedded/database.image');

/**
 * Files in which Postgres notes where a table has room and which pages everything sees: a fifth of all. It makes them anew when it needs them, and
 * works without.
 */
const NOTES = /_(?:fsm|vm)$/;

/** Path of the prepared database, which is made when it is not there. */
export async function prepareDatabase(): Promise<string> {
  const about = await readFile(path.join(ROOT, 'node_modules/@electric-sql/pglite/package.json'), 'utf8');
  const { version } = JSON.parse(about) as { version: string };
  const folder = path.join(ROOT, 'node_modules/.cache/runnel');
  const file = path.join(folder, `database-${version}-${hashOfTables()}.image`);
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

/** Of the files that say which tables there are, and of those that decide what an image is. */
function hashOfTables(): string {
  const files = [
    ...readFiles('src/records', '.ts'),
    ...readFiles('src/stores/postgres', '.sql'),
    ...readFiles('src/stores/postgres', 'migrate.ts'),
    ...readFiles('src/stores/postgres', 'repository.ts'),
    ...readFiles('src/stores/postgres/embedded', 'image.ts'),
    ...readFiles('scripts', 'prepare-database.ts'),
  ];
  const hash = createHash('sha256');
  for (const { path: name, text } of files) hash.update(`${name}\n${text}\n`);
  return hash.digest('hex').slice(0, 12);
}

/** An empty database with its tables. */
async function createImage(): Promise<Uint8Array> {
  const folder = await mkdtemp(path.join(tmpdir(), 'runnel-image-'));
  try {
    const database = await openDatabase({ dataDir: folder, log: SILENT_LOG, image: '' });
    try {
      // The databases that new ones are copied from: two thirds of the files, and there is only ever one database.
      await database.sql`update pg_database set datistemplate = false where datistemplate`;
      await database.sql`drop database template0`;
      await database.sql`drop database template1`;
      await database.sql`vacuum analyze`;
    } finally {
      await database.close();
    }
    return await packFolder(path.join(folder, 'database'), (name) => !NOTES.test(name));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (isProgram(import.meta.url)) {
  const image = await readFile(await prepareDatabase());
  await mkdir(path.dirname(TARGET), { recursive: true });
  await writeFile(TARGET, image);
  console.log(`prepared database: ${path.relative(ROOT, TARGET)}, ${image.length} bytes`);
}
