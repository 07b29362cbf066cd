/** How the studio is built: into `dist/studio`, with addresses relative to the page, so that it works behind any path prefix. */
import path from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin, type Rolldown } from 'vite';

/** What the page begins with, what it then loads whatever its address is, and three of its screens. */
const [START, MAIN, AGENTS, RUN, CHAT] = [
  'start.ts',
  'main.tsx',
  'agents/agents-page.tsx',
  'run/run-page.tsx',
  'stages/stages-page.tsx',
].map((name) => path.join(import.meta.dirname, name)) as [string, string, string, string, string];

/** Modules of this project. */
const OWN = /^(?!.*node_modules).*[\\/](?:web|src)[\\/]/;

/** What the frame needs of others, with all that screens need of the same. */
const FRAME_LIBRARIES =
  /node_modules[\\/](?:react|react-dom|scheduler|wouter|use-sync-external-store|@tanstack[\\/](?:react-query|query-core)|lucide-react|rxjs|tslib|zod)[\\/]/;

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

/** The page's own files are asked for with the page; its beginning, which names them, has to arrive first. */
const withMain: Plugin = {
  name: 'with-main',
  transformIndexHtml: {
    order: 'post',
    handler(_html, { bundle = {} }) {
      const [files, styles] = [new Set<string>(), new Set<string>()];
      const add = (name: string): void => {
        const file = bundle[name];
        if (file?.type !== 'chunk' || files.has(name)) return;
        files.add(name);
        for (const style of file.viteMetadata?.importedCss ?? []) styles.add(style);
        file.imports.forEach(add);
      };
      for (const file of Object.values(bundle)) {
        if (file.type === 'chunk' && file.facadeModuleId === MAIN) add(file.fileName);
      }
      const link = (rel: string) => (name: string) => ({
        tag: 'link',
        attrs: { rel, crossorigin: true, href: `./${name}` },
      });
      return [...[...files].map(link('modulepreload')), ...[...styles].map(link('stylesheet'))];
    },
  },
};

type ModuleReader = Pick<Rolldown.ChunkingContext, 'getModuleInfo'>;

interface Part {
  /** Of its file. */
  readonly name: string;
  /** Modules that need, all of them, what it has. */
  readonly of: readonly string[];
  /** Modules that need nothing of it. @default none */
  readonly notOf?: readonly string[];
  /** What it has beside modules of this page. @default nothing */
  readonly libraries?: RegExp;
  /** What is in the part of a higher one is not in this one. */
  readonly priority: number;
}

/** A file with the modules of this page that some of its modules cannot do without. */
function partOf({ name, of, notOf = [], libraries, priority }: Part): Rolldown.CodeSplittingGroup {
  const needed = new Map<string, ReadonlySet<string>>();
  const isNeeded = (id: string, by: string, reader: ModuleReader): boolean => {
    const modules = needed.get(by) ?? ownModulesOf(by, reader);
    needed.set(by, modules);
    return modules.has(id);
  };
  return {
    name: (id, reader) => {
      const isIn = of.every((by) => isNeeded(id, by, reader)) && !notOf.some((by) => isNeeded(id, by, reader));
      return isIn || libraries?.test(id) === true ? name : null;
    },
    debugName: name,
    priority,
    includeDependenciesRecursively: false,
  };
}

/** A module with those of this project that it imports, and so on, without itself. */
function ownModulesOf(entry: string, reader: ModuleReader): Set<string> {
  const found = new Set<string>();
  const add = (id: string): void => {
    if (found.has(id) || !OWN.test(id)) return;
    found.add(id);
    reader.getModuleInfo(id)?.importedIds.forEach(add);
  };
  add(entry);
  found.delete(entry);
  return found;
}

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [withoutNode, react(), withMain],
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
            // Each file is a request, which costs a browser more than the bytes that a screen could do without. None of them
            // imports one that stands below it.
            partOf({
              name: 'start',
              of: [START],
              libraries: /vite\/preload-helper|node_modules[\\/]regexparam[\\/]/,
              priority: 5,
            }),
            partOf({ name: 'frame', of: [MAIN], libraries: FRAME_LIBRARIES, priority: 4 }),
            { name: 'parts', test: /[\\/](?:web[\\/]parts|src)[\\/]/, minShareCount: 5, priority: 3 },
            partOf({ name: 'conversation', of: [RUN, CHAT], notOf: [AGENTS], priority: 2 }),
            partOf({ name: 'run', of: [RUN], notOf: [AGENTS], priority: 1 }),
          ],
        },
      },
    },
  },
  worker: { format: 'es' },
  server: { proxy: { '/api': { target: SERVER, ws: true }, '/healthz': SERVER } },
});
