import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { unpackImage } from './image.js';

/**
 * Settings of the embedded database; the defaults of Postgres are for a machine of its own. A new file of the write-ahead log is not filled with zeros
 * first, which holds the one session for some 40 ms.
 */
const SETTINGS = [
  'shared_buffers=8MB',
  'max_wal_size=64MB',
  'min_wal_size=32MB',
  'wal_init_zero=off',
  'enable_seqscan=off',
];

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
  // V8 compiles in a thread of its own, meanwhile files are written.
  const loading = loadEngine();
  loading.catch(() => {});
  // Nothing in it was ever reported as stored.
  if (existsSync(unfinished)) await rm(dataDir, { recursive: true, force: true });
  if (existsSync(path.join(dataDir, 'PG_VERSION'))) return open(await loading, dataDir);
  onPrepare();
  await writeFile(unfinished, '');
  if (image !== undefined) await unpackImage(await readFile(image), dataDir);
  const db = await open(await loading, dataDir);
  await rm(unfinished);
  return db;
}

interface Engine {
  readonly library: typeof import('@electric-sql/pglite');
  readonly program: object;
}

/** The types of Node leave it out. */
const { WebAssembly: compiler } = globalThis as unknown as {
  readonly WebAssembly: { compile(bytes: Uint8Array): Promise<object> };
};

async function loadEngine(): Promise<Engine> {
  const folder = path.dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'));
  const compiling = readFile(path.join(folder, 'pglite.wasm')).then((bytes) => compiler.compile(bytes));
  const [library, program] = await Promise.all([import('@electric-sql/pglite'), compiling]);
  return { library, program };
}

function open({ library: { PGlite }, program }: Engine, dataDir: string): Promise<PGlite> {
  return PGlite.create({
    dataDir,
    pgliteWasmModule: program,
    startParams: [...PGlite.defaultStartParams, ...SETTINGS.flatMap((setting) => ['-c', setting])],
  });
}
