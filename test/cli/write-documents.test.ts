import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { readCollection } from '../../src/knowledge/evaluation/read-collection.js';
import { SCRIPTS, WORLD } from '../research/support/world.js';
import { temporaryFolder } from '../stores/support/temporary-folder.js';

const run = promisify(execFile);
const SCRIPT = path.join(WORLD, 'write-documents.mjs');

it('the documents of the example world are written as files, with the names by which its steps know them', async () => {
  const folder = path.join(await temporaryFolder(), 'new', 'world');
  const { stdout } = await run(process.execPath, [SCRIPT, folder]);
  const { documents } = await readCollection(WORLD);
  expect(stdout).toBe(`${documents.length} documents are in ${folder}\n`);
  const names = await readdir(folder);
  expect(names.sort()).toEqual(documents.map(({ id }) => `${id}.md`).sort());
  for (const { id, title, text } of documents)
    expect(await readFile(path.join(folder, `${id}.md`), 'utf8')).toBe(`# ${title}\n\n${text}\n`);
  for (const { steps } of SCRIPTS)
    for (const { passages } of steps) for (const one of passages) expect(names).toContain(`${one}.md`);
});

it('without a folder nothing is written, and the usage is told', async () => {
  await expect(run(process.execPath, [SCRIPT])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Usage: '),
  });
});
