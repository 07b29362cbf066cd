import path from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const ROOT = path.join(import.meta.dirname, '../../..');

/** Folders whose files a page may have in it. */
const ALLOWED = /^src\/(json|errors|group-by|nearest-name|operators\/|dsl\/|graph\/|canvas\/)/;

describe('pictures in a browser', () => {
  it('reach nothing that a browser does not have', async () => {
    const { metafile, outputFiles } = await build({
      stdin: {
        contents: `export * from './src/canvas/picture/picture-log.js';
          export * from './src/canvas/picture/picture-fold.js';
          export * from './src/canvas/timeline-rows.js';`,
        resolveDir: ROOT,
        loader: 'ts',
      },
      absWorkingDir: ROOT,
      bundle: true,
      minify: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'browser',
      logLevel: 'silent',
    });
    const inputs = Object.keys(metafile.inputs).filter((name) => name !== '<stdin>');
    expect(inputs.filter((name) => !ALLOWED.test(name))).toEqual([]);
    // A name of Node's that is left in a function which is bundled would fail when it is called.
    expect(/\b(?:Buffer|process\.env|require)\b/.exec(outputFiles[0]?.text ?? '')).toBeNull();
    expect(outputFiles[0]?.contents.length).toBeLessThan(64 * 1024);
  });
});
