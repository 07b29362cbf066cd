/**
 * Holds what users of the package get, without a registry: from `package.json`, the lock file and the files that npm would pack.
 *
 * - An installation needs no `overrides`, which count in the root package alone, and no newer Node than the package asks for.
 * - It takes at most {@link MAX_MEGABYTES}.
 * - The packed files work where only production packages can be found: entries with their types, documents, and a run, which loads no
 *   package before it needs it.
 *
 * Needs `npm run build` first.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { satisfies } from 'semver';
import { z } from 'zod';
import { entriesOf } from './check-exports.js';
import { ROOT, type SourceFile } from './support/files.js';
import { isProgram, report } from './support/script.js';

/** Most that an installation for production may take, in MiB, files rounded up to blocks of 4 KiB. */
const MAX_MEGABYTES = 250;
const BLOCK = 4096;

/** Versions of Node that the package is for, each the oldest of its line that is. */
const NODES = ['20.19.0', '22.12.0', '24.0.0'];

/** Packages with a script that runs when they are installed, which npm asks about; each with the reason why it may stay. */
const SCRIPTED: ReadonlyMap<string, string> = new Map([
  ['protobufjs', 'prints a warning about version ranges, and works without it; comes with the exporter over gRPC'],
]);

/** What the library itself loads, and nothing else of what is installed; the rest is loaded by the node, tool or adapter that uses it. */
const LOADED_WITH_LIBRARY = ['eventsource-parser', 'ipaddr.js', 'jsonrepair', 'rxjs', 'saxes', 'xmlchars', 'zod'];

/** Parts of Node that a run of a canvas does not load before a node needs them. */
const LATE_BUILT_INS = ['child_process', 'http', 'tls', 'worker_threads', 'zlib'];

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      dev: z.boolean().optional(),
      // Some old packages have a list here.
      engines: z.union([z.record(z.string(), z.string()), z.array(z.string())]).optional(),
      hasInstallScript: z.boolean().optional(),
    }),
  ),
});

/** A package that comes with an installation for production. */
export interface ProductionPackage {
  readonly name: string;
  /** From the root of the project. */
  readonly folder: string;
  readonly version: string;
  /** Versions of Node that it is for; any when it does not say. */
  readonly node: string;
  readonly hasInstallScript: boolean;
}

/** What of a lock file is installed for production. */
export function productionPackages(lock: unknown): readonly ProductionPackage[] {
  return Object.entries(lockFile.parse(lock).packages).flatMap(([folder, entry]) => {
    if (folder === '' || entry.dev === true) return [];
    const { version = '', engines = {}, hasInstallScript = false } = entry;
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const node = Array.isArray(engines) ? '*' : (engines.node ?? '*');
    return [{ name, folder, version, node, hasInstallScript }];
  });
}

/** What keeps the packages of an installation from being installed by anyone, a line each. */
export function installProblems(
  packages: readonly ProductionPackage[],
  overrides: unknown,
  ownNode: string,
): readonly string[] {
  const overridden = new Set(namesIn(overrides));
  const problems = NODES.filter((version) => !satisfies(version, ownNode)).map(
    (version) => `package.json: engines.node "${ownNode}" leaves out Node ${version}`,
  );
  for (const { name, version, node, hasInstallScript } of packages) {
    const id = `${name}@${version}`;
    if (overridden.has(name)) problems.push(`${id}: is overridden here, and would not be for a dependant`);
    if (hasInstallScript && !SCRIPTED.has(name)) problems.push(`${id}: runs a script when it is installed`);
    for (const one of NODES)
      if (!satisfies(one, node)) problems.push(`${id}: asks for Node "${node}", which ${one} is not`);
  }
  return problems;
}

/** The packages that `overrides` speaks of, at any depth. */
function namesIn(overrides: unknown): readonly string[] {
  if (typeof overrides !== 'object' || overrides === null) return [];
  return Object.entries(overrides).flatMap(([key, value]) => {
    const name = key.replace(/(?<=.)@.*$/, '');
    // The name on the outside says only where the ones within count.
    return typeof value === 'object' ? [...('.' in value ? [name] : []), ...namesIn(value)] : [name];
  });
}

/** Packages outside of production that the declarations of the entries lead to, a line each. `files` are declarations by path. */
export function typeProblems(
  files: readonly SourceFile[],
  entries: readonly string[],
  production: ReadonlySet<string>,
): readonly string[] {
  const texts = new Map(files.map((file) => [file.path, file.text]));
  const problems: string[] = [];
  const seen = new Set<string>();
  const visit = (file: string): void => {
    const text = texts.get(file);
    if (text === undefined || seen.has(file)) return;
    seen.add(file);
    const plain = text.replace(/\/\*[\s\S]*?\*\//g, '');
    for (const [, from = ''] of plain.matchAll(/(?:\bfrom\s+|\bimport\(|^import\s+)['"]([^'"]+)['"]/gm)) {
      if (from.startsWith('.')) visit(path.posix.join(path.posix.dirname(file), from.replace(/\.js$/, '.d.ts')));
      else if (!from.startsWith('node:') && !production.has(packageOf(from))) problems.push(`${file}: needs ${from}`);
    }
  };
  entries.forEach(visit);
  return problems;
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Bytes that a folder takes on disk. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + blocks(statSync(path.join(entry.parentPath, entry.name)).size), 0);
}

function blocks(bytes: number): number {
  return Math.ceil(bytes / BLOCK) * BLOCK;
}

/** What `npm pack` would put into the package. */
function packedFiles(): readonly string[] {
  const npm = process.env.npm_execpath;
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const [command, rest] = npm === undefined ? ['npm', args] : [process.execPath, [npm, ...args]];
  const output = execFileSync(command, rest, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const packed = z.array(z.object({ files: z.array(z.object({ path: z.string() })) })).min(1);
  return packed.parse(JSON.parse(output))[0]?.files.map((file) => file.path) ?? [];
}

/** Makes a project that depends on the package and has nothing else; gives its folder. */
function createDependant(files: readonly string[], packages: readonly ProductionPackage[]): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'runnel-dependant-'));
  for (const file of files) {
    const target = path.join(folder, 'node_modules/runnel', file);
    mkdirSync(path.dirname(target), { recursive: true });
    cpSync(path.join(ROOT, file), target);
  }
  for (const { folder: place } of packages) {
    // What lies within another package comes with that one.
    if (place.lastIndexOf('node_modules/') > 0) continue;
    const target = path.join(folder, place);
    mkdirSync(path.dirname(target), { recursive: true });
    symlinkSync(path.join(ROOT, place), target);
  }
  return folder;
}

/** Collects in `seen` the URLs of what is imported from here on; what is loaded by `require` is in Node's own cache. */
const WATCH_IMPORTS = `
    import { createRequire, register } from 'node:module';
    const seen = [];
    const { port1, port2 } = new MessageChannel();
    port1.on('message', (url) => seen.push(url)).unref();
    const hook = "let port; export const initialize = (to) => { port = to; }; export async function load(url, context, next) { port.postMessage(url); return next(url, context); }";
    register('data:text/javascript,' + encodeURIComponent(hook), { data: port2, transferList: [port2] });`;

/** Programs of a dependant, which end with an error when something is wrong. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'every entry is found': `
    for (const entry of ['', '/engine', '/agents', '/server', '/testing']) await import('runnel' + entry);`,
  'the library loads only what it always needs': `${WATCH_IMPORTS}
    await import('runnel');
    // Messages of the hook come in their order, the last one with this import.
    await import('data:text/javascript,');
    while (!seen.some((url) => url.startsWith('data:'))) await new Promise((resolve) => setImmediate(resolve));
    const files = [...seen, ...Object.keys(createRequire(import.meta.url).cache)];
    const names = files.flatMap((file) => /.*node_modules[\\\\/]((?:@[^\\\\/]+[\\\\/])?[^\\\\/]+)[\\\\/]/.exec(file)?.[1] ?? []);
    const early = [...new Set(names)].filter((name) => !${JSON.stringify(['runnel', ...LOADED_WITH_LIBRARY])}.includes(name));
    if (early.length > 0) throw new Error('loaded too early: ' + early.join(', '));`,
  'documents are written': `
    const { convertMarkdown } = await import('./node_modules/runnel/dist/documents/index.js');
    for (const format of ['docx', 'pdf', 'xlsx', 'html']) {
      const options = { format, created: new Date(0), watermark: 'X', header: 'H', footer: 'F' };
      const { bytes } = await convertMarkdown('# A *b* \`c\` 中文\\n\\n|a|\\n|-|\\n|1|\\n', options);
      if (bytes.length < 500) throw new Error(format + ' has ' + bytes.length + ' bytes');
    }
    // A longer one is written in a thread.
    await convertMarkdown('text\\n\\n'.repeat(1_000), { format: 'txt' });`,
  'a canvas runs, and loads nothing that it does not need': `${WATCH_IMPORTS}
    const before = new Set(process.moduleLoadList);
    process.argv.splice(1, 1, 'runnel', 'run', 'node_modules/runnel/examples/hello/canvas.json', '--query', 'hi');
    process.once('exit', (code) => {
      const builtIns = process.moduleLoadList.filter((name) => !before.has(name)).map((name) => name.replace(/^NativeModule /, ''));
      const late = ${JSON.stringify(LATE_BUILT_INS)}.filter((name) => builtIns.includes(name));
      const packages = seen.filter((url) => url.startsWith('file:') && !url.includes('/runnel/dist/cli/'));
      if (code !== 0 || late.length > 0 || packages.length > 0) {
        console.error('exit code ' + code + ', loaded too early: ' + [...late, ...packages].join(', '));
        process.exitCode = 1;
        process.reallyExit(1);
      }
    });
    await import('./node_modules/runnel/dist/cli/main.js');`,
  'a server starts, answers and stops': `
    import { spawn } from 'node:child_process';
    import { once } from 'node:events';
    import { createServer } from 'node:net';
    // A port that is free: with port 0 the server would not look whether it is.
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const env = { ...process.env, RUNNEL_PORT: String(probe.address().port), RUNNEL_DATA_DIR: 'data' };
    await new Promise((resolve) => probe.close(resolve));
    const server = spawn(process.execPath, ['node_modules/runnel/dist/cli/main.js', 'serve'], { env });
    let text = '';
    const ended = new Promise((resolve) => server.once('close', resolve));
    const url = await new Promise((resolve, reject) => {
      const read = (piece) => {
        text += piece;
        const found = /listens on (http:\\S+)/.exec(text)?.[1];
        if (found !== undefined) resolve(found);
      };
      for (const stream of [server.stdout, server.stderr]) stream.setEncoding('utf8').on('data', read);
      void ended.then(() => reject(new Error('it ended: ' + text)));
    });
    const answer = await fetch(url + '/api/v1/openapi.json').finally(() => server.kill('SIGTERM'));
    const code = await ended;
    if (!answer.ok) throw new Error('it answers with status ' + answer.status + ': ' + text);
    if (code !== 0) throw new Error('it ends with ' + code + ': ' + text);`,
};

function dependantProblems(folder: string): readonly string[] {
  return Object.entries(PROGRAMS).flatMap(([name, program]) => {
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: folder,
      encoding: 'utf8',
    });
    return status === 0 ? [] : [`not so for a dependant: ${name}\n${stderr.trim()}`];
  });
}

if (isProgram(import.meta.url)) {
  const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const packages = productionPackages(JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')));
  const files = packedFiles();
  const declarations = files
    .filter((file) => file.endsWith('.d.ts'))
    .map((file) => ({ path: file, text: readFileSync(path.join(ROOT, file), 'utf8') }));
  const sizes = packages
    .filter(({ folder }) => folder.lastIndexOf('node_modules/') === 0)
    .flatMap(({ name, folder }) => {
      // A package for another platform is in the lock file and not on the disk.
      const isHere = statSync(path.join(ROOT, folder), { throwIfNoEntry: false }) !== undefined;
      return isHere ? [{ name, bytes: sizeOf(path.join(ROOT, folder)) }] : [];
    });
  const own = files.reduce((sum, file) => sum + blocks(statSync(path.join(ROOT, file)).size), 0);
  sizes.push({ name: manifest.name, bytes: own });
  const megabytes = sizes.reduce((sum, { bytes }) => sum + bytes, 0) / 1024 ** 2;
  for (const { name, bytes } of sizes.sort((a, b) => b.bytes - a.bytes).slice(0, 10)) {
    console.log(`${(bytes / 1024 ** 2).toFixed(1).padStart(8)} MiB  ${name}`);
  }
  const folder = createDependant(files, packages);
  try {
    report(
      [
        ...installProblems(packages, manifest.overrides, manifest.engines.node),
        ...typeProblems(declarations, entriesOf(manifest), new Set(packages.map(({ name }) => name))),
        ...(megabytes <= MAX_MEGABYTES
          ? []
          : [`an installation takes ${megabytes.toFixed(0)} MiB; ${MAX_MEGABYTES} are allowed`]),
        ...dependantProblems(folder),
      ],
      `${packages.length} packages are installed for production, ${megabytes.toFixed(0)} MiB, and work for a dependant`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
