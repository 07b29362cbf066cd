import { availableParallelism } from 'node:os';
import { defineConfig, type Plugin } from 'vitest/config';
import manifest from './package.json' with { type: 'json' };

const { peerDependenciesMeta } = manifest;

/** Optional packages are looked up by Node: for one that is not installed Vite puts a module in its place that looks installed. */
const optionalPackages: Plugin = {
  name: 'optional-packages',
  enforce: 'pre',
  resolveId: (id) => (Object.hasOwn(peerDependenciesMeta, id) ? { id, external: true } : undefined),
};

/**
 * Three projects share one runner: virtual-time tests (`marble-tests/`), golden cases and port suites (`test/conformance/`) and
 * everything else (`test/`).
 */
export default defineConfig({
  test: {
    // Two at least: the default leaves one core free, which halves the speed of a machine that has two.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // No clock of the machine may decide a test; the time limits here only end what hangs, also on two cores that others use.
    projects: [
      project('marble', 'marble-tests/**/*.test.ts', {
        // Virtual time and no module state: these files share workers without harm, and start much faster so.
        pool: 'threads',
        isolate: false,
        testTimeout: 10_000,
      }),
      project('test', 'test/**/*.test.ts', { exclude: ['test/conformance/**'] }),
      project('conformance', 'test/conformance/**/*.test.ts'),
    ],
  },
});

interface ProjectOptions {
  readonly exclude?: string[];
  readonly pool?: 'threads' | 'forks';
  readonly isolate?: boolean;
  readonly testTimeout?: number;
}

function project(name: string, include: string, { exclude = [], ...options }: ProjectOptions = {}) {
  const ignored = ['**/node_modules/**', '**/dist/**', ...exclude];
  return {
    plugins: [optionalPackages],
    test: {
      name,
      include: [include],
      exclude: ignored,
      testTimeout: 240_000,
      hookTimeout: 240_000,
      // Of `expect.poll`, which otherwise gives up after a second.
      expect: { poll: { timeout: 60_000 } },
      ...options,
    },
  };
}
