import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { packFolder, unpackImage } from '../../../src/stores/postgres/embedded/image.js';

describe('an image of a folder', () => {
  it('gives back every folder and file, zeros at the ends included, and holds none of those', async () => {
    const home = mkdtempSync(path.join(tmpdir(), 'runnel-image-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const [from, to] = [path.join(home, 'from'), path.join(home, 'to')];
    mkdirSync(path.join(from, 'base/5'), { recursive: true });
    mkdirSync(path.join(from, 'empty'));
    const files = {
      'base/5/1': Buffer.from([0, 1, 0, 2, 0, 0]),
      'base/zeros': Buffer.alloc(1_000_000),
      nothing: Buffer.alloc(0),
      text: Buffer.from('18\n'),
    };
    for (const [name, bytes] of Object.entries(files)) writeFileSync(path.join(from, name), bytes);

    const image = await packFolder(from);
    await unpackImage(image, to);

    expect(image.length).toBeLessThan(500);
    expect(readdirSync(to, { recursive: true }).sort()).toEqual(
      ['base', 'base/5', 'empty', ...Object.keys(files)].sort(),
    );
    for (const [name, bytes] of Object.entries(files))
      expect(readFileSync(path.join(to, name)).equals(bytes)).toBe(true);
  });

  it('holds the files that are wanted', async () => {
    const home = mkdtempSync(path.join(tmpdir(), 'runnel-image-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const [from, to] = [path.join(home, 'from'), path.join(home, 'to')];
    mkdirSync(path.join(from, 'base'), { recursive: true });
    for (const name of ['base/1', 'base/1_vm', 'base/2']) writeFileSync(path.join(from, name), name);

    await unpackImage(await packFolder(from, (name) => !name.endsWith('_vm')), to);

    expect(readdirSync(to, { recursive: true }).sort()).toEqual(['base', 'base/1', 'base/2']);
  });
});
