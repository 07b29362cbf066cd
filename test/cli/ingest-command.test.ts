import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareDatabase } from '../../scripts/prepare-database.js';
import { openEmbedded } from '../stores/support/open-stores.js';
import { temporaryFolder } from '../stores/support/temporary-folder.js';
import { call } from './fake-terminal.js';

async function folderWith(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const folder = await temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  }
  return folder;
}

/** A data folder with the prepared database, which is made much faster than a new one. */
async function dataFolder(): Promise<string> {
  await prepareDatabase();
  const dataDir = await temporaryFolder();
  await (await openEmbedded(dataDir)).close();
  return dataDir;
}

describe('ingest and search', () => {
  it('make files searchable, once, and follow them', async () => {
    const env = { RUNNEL_DATA_DIR: await dataFolder() };
    const folder = await folderWith({
      'pumps.md': '# Pumps\n\nA pump moves water uphill.\n',
      'deep/valves.md': '# Valves\n\nA valve stops the flow.\n',
      'broken.pdf': 'no PDF at all',
    });
    const first = await call(['ingest', folder, '--dataset', 'plant'], { env });
    expect(first.exit).toBe(1);
    expect(first.err).toContain('failed: broken.pdf');
    expect(first.out).toBe(
      '3 new, 0 replaced, 0 unchanged, 0 skipped; dataset "plant" has 3 documents with 2 chunks\n',
    );

    const found = await call(['search', 'PLANT', 'what moves water?', '--json', '--threshold', '0.2'], { env });
    expect([found.exit, found.err]).toEqual([0, '']);
    expect(JSON.parse(found.out)).toMatchObject({
      document: 'pumps.md',
      start: 0,
      text: expect.stringContaining('uphill'),
    });

    await writeFile(path.join(folder, 'pumps.md'), 'A turbine turns.');
    const again = await call(['ingest', path.join(folder, 'pumps.md'), folder, '--dataset', 'plant'], { env });
    expect(again.out).toContain('0 new, 1 replaced, 3 unchanged');
    const text = await call(['search', 'plant', 'turbine'], { env });
    expect(text.out).toMatch(/^1\. 0\.\d{3} {2}pumps\.md \(0-16\)\n {3}A turbine turns\.\n/);
  }, 400_000);

  it('refuse wrong calls before anything is opened', async () => {
    const calls = [
      ['ingest', 'x'],
      ['ingest', '--dataset', 'd'],
      ['ingest', 'x', '--dataset', 'd', '--method', 'nave'],
      ['search', 'd'],
      ['search', 'd', 'q', '--top', '0'],
      ['search', 'd', 'q', '--threshold', 'x'],
    ];
    for (const args of calls) expect(await call(args)).toMatchObject({ exit: 2, out: '' });
    expect((await call(['ingest', 'x', '--dataset', 'd', '--method', 'nave'])).err).toContain('Did you mean');
  });
});
