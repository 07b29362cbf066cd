/**
 * The process of the embedded database: `main.js <folder> <socket> <parent> [<image>]`, started by `start-embedded.ts`.
 *
 * A process of its own keeps slow queries off the server's event loop and half a gigabyte out of its memory, and if it dies the
 * server starts another. It ends when the channel to its parent closes, which is the request to end and the sign that the parent
 * was killed.
 */
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { toEngineError } from '../../../errors.js';
import { openBridge } from './bridge.js';
import { openDataFolder } from './data-folder.js';
import { lockFolder } from './folder-lock.js';
import type { DatabaseMessage } from './messages.js';

/** When the first questions after a start are answered, what only the start needed is collected: 10 MB that would stay until much more came. */
const COLLECT_MS = 1_000;

/** After this the write-ahead log has to do; it loses nothing. */
const CLOSE_MS = 3_000;

// V8 optimises a function of WebAssembly when it has run for long enough; of so many functions most never do. With its own bound (1,800,000) a start
// takes half as much processor time again and 50 MB more, and with a tenth of this one 20 MB more, which the optimiser needs for a moment and which is
// not given back; no run is faster with either.
setFlagsFromString('--wasm-tiering-budget=1000000000');

const [folder, socket, parent, image] = process.argv.slice(2) as [string, string, string, string | undefined];

const orphaned = process.connected ? once(process, 'disconnect') : Promise.resolve();

try {
  const lock = await lockFolder(folder, { parent: Number(parent) });
  const db = await openDataFolder(folder, { image, onPrepare: () => send({ type: 'preparing' }) });
  await rm(socket, { force: true });
  await openBridge(db, { path: socket, onBroken: crash });
  // A signal to the whole group of processes is meant for the server, which still needs its database for a moment; until here it has none.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => {});
  send({ type: 'ready' });
  setTimeout(() => globalThis.gc?.(), COLLECT_MS).unref();
  await orphaned;
  setTimeout(() => process.exit(0), CLOSE_MS);
  await db.close();
  await lock.release();
  await rm(path.dirname(socket), { recursive: true, force: true });
  process.exit(0);
} catch (error) {
  const { code, message } = toEngineError(error, 'INTERNAL');
  send({ type: 'failed', code, message });
  // Only now is it certain to have been sent.
  if (process.connected) process.disconnect();
  process.exitCode = 1;
}

function send(message: DatabaseMessage): void {
  if (process.connected) process.send?.(message);
}

function crash(error: unknown): never {
  console.error(error);
  process.exit(70);
}
