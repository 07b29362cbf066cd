import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { unpackImage } from './image.js';

/** Settings of the embedded database; the defaults of Postgres are for a machine of its own. */
const SETTINGS = ['shared_buffers=16MB', 'max_wal_size=64MB', 'min_wal_size=32MB'];

export interface DataFolderOptions {
  /** A prepared database (see `image.ts`); without one the first start makes a new one, which takes seconds. */
  readonly image: string | undefined;
  /** Called before a database is made. */
  readonly onPrepare: () => void;
}

/** Opens the database in `<folder>/database`, and makes it first when it is not there. */
export async function openDataFolder(folder: string, { image, onPrepare }: DataFolderOptions): Promise<PGlite> {
  const dataDir = path.join(folder, 'database');
  const unfinished = path.join(folder, 'database.unfinished');
  // Nothing in it was ever reported as stored.
  if (existsSync(unfinished)) await rm(dataDir, { recursive: true, force: true });
  if (existsSync(path.join(dataDir, 'PG_VERSION'))) return open(dataDir);
  onPrepare();
  await writeFile(unfinished, '');
  if (image !== undefined) await unpackImage(await readFile(image), dataDir);
  const db = await open(dataDir);
  await rm(unfinished);
  return db;
}

function open(dataDir: string): Promise<PGlite> {
  return PGlite.create({
    dataDir,
    startParams: [...PGlite.defaultStartParams, ...SETTINGS.flatMap((setting) => ['-c', setting])],
  });
}
