/** Files that a run in the terminal makes and reads: plain files in the data folder. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Files } from '../components/services.js';
import type { Output } from './terminal.js';

const ID = /^[0-9a-f]{32}$/;

/**
 * Keeps each file as `<folder>/<id>/<name>` and says on `err` where it lies.
 *
 * Ids are ours alone, and only the last part of a name is used, so that no canvas can write or read anywhere else.
 */
export function createLocalFiles(folder: string, err: Output): Files {
  return {
    async read(id) {
      if (!ID.test(id)) return undefined;
      const [name] = await readdir(path.join(folder, id)).catch(() => []);
      if (name === undefined) return undefined;
      const bytes = await readFile(path.join(folder, id, name));
      return { id, name, mimeType: 'application/octet-stream', bytes };
    },
    async save({ name, bytes }) {
      const id = randomUUID().replaceAll('-', '');
      const place = path.join(folder, id);
      await mkdir(place, { recursive: true });
      const file = path.join(place, safeName(name));
      await writeFile(file, bytes);
      err.write(`file: ${file}\n`);
      return id;
    },
  };
}

function safeName(name: string): string {
  const last = path.basename(name.replaceAll('\\', '/')).replace(/\p{Cc}/gu, '');
  return last === '' || last === '.' || last === '..' ? 'file' : last.slice(0, 200);
}
