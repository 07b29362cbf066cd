/** How the studio is built: into `dist/studio`, with addresses relative to the page, so that it works behind any path prefix. */
import path from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Where `npm run dev` finds the API. */
const SERVER = process.env.RUNNEL_DEV_SERVER ?? 'http://127.0.0.1:9380';

/** Parts of Node would be replaced by empty modules, and fail when a user comes to them. */
const withoutNode: Plugin = {
  name: 'without-node',
  enforce: 'pre',
  resolveId(id, importer) {
    if (!id.startsWith('node:')) return undefined;
    throw new Error(`${importer} needs ${id}, which browsers do not have`);
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [withoutNode, react()],
  clearScreen: false,
  logLevel: 'warn',
  build: {
    outDir: path.join(import.meta.dirname, '../dist/studio'),
    emptyOutDir: true,
    assetsDir: 'studio',
    // The policy of the page allows no addresses of data for scripts and styles.
    assetsInlineLimit: 0,
    // What others wrote and this page brings.
    license: { fileName: 'LICENSES.md' },
    modulePreload: { polyfill: false },
    target: 'es2023',
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // A request for each picture and operator that two screens share costs more than the bytes that one of them does without.
            { name: 'icons', test: /node_modules[\\/]lucide-react/, minShareCount: 2 },
            { name: 'streams', test: /node_modules[\\/](?:rxjs|tslib)/, minShareCount: 2 },
            { name: 'parts', test: /[\\/](?:web[\\/]parts|src)[\\/]/, minShareCount: 4 },
          ],
        },
      },
    },
  },
  worker: { format: 'es' },
  server: { proxy: { '/api': { target: SERVER, ws: true }, '/healthz': SERVER } },
});
