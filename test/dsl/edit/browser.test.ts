import path from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

const ROOT = path.join(import.meta.dirname, '../../..');

it('edits of documents load in a browser', async () => {
  const { metafile, outputFiles } = await build({
    entryPoints: ['src/dsl/edit/index.ts'],
    absWorkingDir: ROOT,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    logLevel: 'silent',
  });
  const inputs = Object.keys(metafile.inputs).filter((name) => !name.includes('node_modules/zod/'));
  expect(inputs.filter((name) => !/^src\/(?:json|errors|group-by|nearest-name|dsl\/)/.test(name))).toEqual([]);
  // A name of Node's that is left in a function would fail when that is called.
  expect(/\b(?:Buffer|process\.env|require)\b/.exec(outputFiles[0]?.text ?? '')).toBeNull();
});
