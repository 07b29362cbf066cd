import { defineConfig } from 'vitest/config';

/** Two projects share one runner: virtual-time tests (`marble-tests/`) and everything else (`test/`). */
export default defineConfig({
  test: {
    exclude: ['**/node_modules/**', '**/dist/**'],
    projects: [
      { test: { name: 'marble', include: ['marble-tests/**/*.test.ts'] } },
      { test: { name: 'test', include: ['test/**/*.test.ts'], testTimeout: 30_000 } },
    ],
  },
});
