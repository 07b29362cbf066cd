/**
 * What the build does with a bundler, esbuild: libraries that are part of the package, and the command line as few files.
 *
 * Everything else of `dist` is as the compiler wrote it, one file for each of `src`, so that traces of errors and debuggers show it as it
 * is. Code that is bundled keeps its names; libraries alone lose their white space, a quarter of what they take.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import path from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { passingQueries } from './passing-queries.js';
import { ROOT } from './support/files.js';

const DIST = path.join(ROOT, 'dist');
/** Folder of the bundled command line. */
const COMMANDS = path.join(DIST, 'cli');
/** The end of the name of files that become the library which they export from; see their heads. */
const LIBRARY = '-library.js';

/**
 * Packages that a command loads when it starts, as part of its files: reading 300 small files takes longer than running what is in them.
 * A package whose values are passed to another one, such as a schema, belongs on the same side as that one.
 */
const LOADED_AT_START: ReadonlySet<string> = new Set([
  '@asteasolutions/zod-to-openapi',
  '@koa/bodyparser',
  '@koa/cors',
  'eventsource-parser',
  'ipaddr.js',
  'jose',
  'jsonrepair',
  'koa',
  'koa-compose',
  'postgres',
  'rate-limiter-flexible',
  'rxjs',
  'saxes',
  'ws',
  'zod',
]);

/** What both bundles have in common. */
const COMMON = {
  absWorkingDir: ROOT,
  allowOverwrite: true,
  bundle: true,
  charset: 'ascii',
  format: 'esm',
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  platform: 'node',
  target: 'node20',
} as const satisfies BuildOptions;

/** What is CommonJS asks for built-in modules by `require`, which modules do not have. */
const REQUIRE = {
  js: "import { createRequire as createRequireOfBundle } from 'node:module';\nconst require = createRequireOfBundle(import.meta.url);",
};

/** Puts libraries into the files of `dist` that stand for them. */
export async function bundleLibraries(): Promise<void> {
  await Promise.all(
    libraries().map(async (entry) => {
      rmSync(`${entry}.map`, { force: true });
      const { metafile } = await build({
        ...COMMON,
        entryPoints: [entry],
        outfile: entry,
        banner: REQUIRE,
        // Not about the code of others.
        logLevel: 'error',
        // Tables of numbers have a line for each otherwise.
        minifyWhitespace: true,
        plugins: [inlinedFonts],
      });
      writeLicences(entry.replace(/\.js$/, '.LICENSES.txt'), metafile);
    }),
  );
}

/** Paths of the compiled files that stand for a library. */
function libraries(): string[] {
  const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith(LIBRARY)).map((file) => path.join(DIST, file));
}

/** Replaces the modules of the command line by a file for each command and a few that they share. */
export async function bundleCommands(): Promise<void> {
  const own = readdirSync(COMMANDS).map((name) => path.join(COMMANDS, name));
  const { metafile, outputFiles } = await build({
    ...COMMON,
    entryPoints: [path.join(COMMANDS, 'main.js')],
    outdir: COMMANDS,
    chunkNames: '[name]-[hash]',
    splitting: true,
    // A quarter of what is installed and read at the start; lines stay, so that a place in one is found.
    minifyWhitespace: true,
    lineLimit: 160,
    sourcemap: 'linked',
    sourcesContent: false,
    banner: REQUIRE,
    // A name that a part of Node or a package does not have would be found out by the first call.
    logOverride: { 'import-is-undefined': 'error' },
    plugins: [lateBuiltIns, chosenPackages, oneLanguage, queriesThatPass, outsideLibraries, fixedUrls],
    write: false,
  });
  for (const file of own) rmSync(file, { recursive: true });
  for (const { path: file, contents, text } of outputFiles)
    writeFileSync(file, file.endsWith('.js') ? inAscii(text) : contents);
  writeLicences(path.join(COMMANDS, 'LICENSES.txt'), metafile);
}

/**
 * Writes letters outside of ASCII as escapes where the bundler leaves them, in comments and regular expressions: one of them makes V8 store two
 * bytes for each letter of a file, 4 MB of an idle server.
 */
function inAscii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** `pdfkit` asks for the measures of the fonts that every reader has by a `require` of its own, which a bundler does not see. */
const inlinedFonts: Plugin = {
  name: 'inlined-fonts',
  setup({ onLoad }) {
    onLoad({ filter: /pdfkit[\\/]js[\\/]pdfkit\.node\.mjs$/ }, ({ path: file }) => {
      const text = readFileSync(file, 'utf8');
      const contents = text.replaceAll("require$1('#standard-fonts/", "require('#standard-fonts/");
      return contents === text ? { errors: [{ text: 'pdfkit loads its fonts in another way' }] } : { contents };
    });
  },
};

/** Leaves packages where they are, but for those that are loaded at the start, with what these need. */
const chosenPackages: Plugin = {
  name: 'chosen-packages',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path: wanted, importer, resolveDir, kind, pluginData }) => {
      if (kind === 'entry-point' || pluginData === 'resolving') return undefined;
      const isChosen = /[\\/]node_modules[\\/]/.test(importer) || LOADED_AT_START.has(packageOf(wanted));
      if (isBuiltin(wanted) || !isChosen) return { path: wanted, external: true };
      // Its modules are left out where nothing uses them, which those for `require` cannot be.
      if (wanted === 'rxjs')
        return { path: path.join(ROOT, 'node_modules/rxjs/dist/esm/index.js'), sideEffects: false };
      const resolved = await resolve(wanted, { importer, resolveDir, kind, pluginData: 'resolving' });
      // Some packages try to load others that need not be there.
      if (resolved.errors.length > 0 && kind === 'require-call') return { path: wanted, external: true };
      return { path: resolved.path, sideEffects: resolved.sideEffects };
    });
  },
};

/** Parts of Node that a run of a canvas rarely needs and that take a tenth of the time of its start. */
const LATE_BUILT_INS = /^node:(?:child_process|dns\/promises|http|net|perf_hooks|tls|worker_threads|zlib)$/;
/** What only a server loads; it needs them at once. */
const SERVER = /[\\/]dist[\\/](?:transport|stores)[\\/]/;

/**
 * Loads a part of Node when one of its functions or classes is used for the first time: what the project's own code imports is a proxy of it,
 * so that `new`, `extends`, `instanceof` and members of a function, such as `promisify.custom`, are those of the original. What is no function
 * cannot be imported in this way, which ends the build. Packages get the part itself, and so does `import()`, which is late anyway.
 */
const lateBuiltIns: Plugin = {
  name: 'late-built-ins',
  setup({ onResolve, onLoad }) {
    const namespace = 'late-built-in';
    onResolve({ filter: LATE_BUILT_INS }, ({ path: name, importer, kind }) => {
      const isOwn = importer.startsWith(DIST + path.sep) && !SERVER.test(importer);
      return isOwn && kind === 'import-statement' ? { path: name, namespace } : { path: name, external: true };
    });
    onLoad({ filter: /./, namespace }, ({ path: name }) => ({ contents: lateModule(name) }));
  },
};

/** The text of the module that stands for a part of Node; it needs `require`. */
export function lateModule(name: string): string {
  const own = createRequire(import.meta.url)(name) as Readonly<Record<string, unknown>>;
  const functions = Object.keys(own).filter((key) => typeof own[key] === 'function' && /^[a-z]\w*$/i.test(key));
  return `function late(key) {
  const own = () => require('${name}')[key];
  const proxy = new Proxy(function () {}, {
    apply: (_, self, values) => Reflect.apply(own(), self, values),
    construct: (_, values, target) => Reflect.construct(own(), values, target === proxy ? own() : target),
    get: (_, property) => own()[property],
    has: (_, property) => property in own(),
  });
  return proxy;
}
${functions.map((key) => `export const ${key} = /* @__PURE__ */ late('${key}');`).join('\n')}
`;
}

/** Of the messages of zod in 60 languages, a third of its text, English is used. */
const oneLanguage: Plugin = {
  name: 'one-language',
  setup({ onLoad }) {
    onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, ({ path: file }) => ({
      contents: "export { default as en } from './en.js';",
      resolveDir: path.dirname(file),
    }));
  },
};

/** Queries of postgres.js do not outlive their statements; see `passing-queries.ts`. */
const queriesThatPass: Plugin = {
  name: 'queries-that-pass',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]postgres[\\/]src[\\/]query\.js$/ }, ({ path: file }) => ({
      contents: passingQueries(readFileSync(file, 'utf8')),
      resolveDir: path.dirname(file),
    }));
  },
};

/** Files that are a library stay where they are, for they are rarely needed, and large. */
const outsideLibraries: Plugin = {
  name: 'outside-libraries',
  setup({ onResolve }) {
    onResolve({ filter: /-library\.js$/ }, ({ path: wanted, resolveDir }) => {
      const file = path.relative(COMMANDS, path.resolve(resolveDir, wanted)).replaceAll(path.sep, '/');
      return { path: file, external: true };
    });
  },
};

/** A module that looks for a file beside itself finds it there, not beside the bundle. */
const fixedUrls: Plugin = {
  name: 'fixed-urls',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]dist[\\/].*\.js$/ }, ({ path: file }) => {
      if (!file.startsWith(DIST)) return undefined;
      const text = readFileSync(file, 'utf8');
      const place = path.relative(COMMANDS, file).replaceAll(path.sep, '/');
      const contents = text.replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, import.meta.url).href`);
      return { contents, resolveDir: path.dirname(file) };
    });
  },
};

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** The licences of the packages that went into a bundle, as these licences ask for. */
function writeLicences(file: string, { inputs }: Metafile): void {
  const folders = new Set(
    Object.keys(inputs).flatMap((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []),
  );
  // Some packages are bundles themselves, of what they depend on.
  for (const folder of [...folders]) for (const one of dependenciesOf(folder)) folders.add(one);
  writeFileSync(
    file,
    [...folders]
      .sort()
      .map(licenceOf)
      .join(`\n${'-'.repeat(78)}\n\n`),
  );
}

/** Folders of the packages that a package depends on, but for those of types alone. */
function dependenciesOf(folder: string): readonly string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8'));
  return Object.keys(dependencies)
    .filter((name) => !name.startsWith('@types/'))
    .map((name) =>
      [`${folder}/node_modules/${name}`, `node_modules/${name}`].find((one) => existsSync(path.join(ROOT, one))),
    )
    .filter((one) => one !== undefined);
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8'));
  const texts = readdirSync(path.join(ROOT, folder))
    .filter((file) => /^(?:licen[cs]e|copyrightnotice|notice)/i.test(file))
    .map((file) => path.join(ROOT, folder, file))
    .filter((file) => existsSync(file))
    // Some packages have a folder of them.
    .flatMap((file) => (statSync(file).isDirectory() ? readdirSync(file).map((one) => path.join(file, one)) : [file]))
    .map((file) => readFileSync(file, 'utf8').trim());
  return `${[`${name} ${version} (${license})`, ...texts].join('\n\n')}\n`;
}
