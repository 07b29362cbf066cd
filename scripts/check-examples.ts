/**
 * Keeps `examples/` true: every canvas must be valid, every script must run to its end.
 *
 * Scripts run without any model provider, so the built-in scripted model answers. Needs `npm run build` first, since
 * examples import the package by its name.
 */
import { spawnSync } from 'node:child_process';
import { detectVersion } from '../src/dsl/schema-v1.js';
import { ROOT, readFiles, type SourceFile } from './support/files.js';
import { isProgram, report } from './support/script.js';

/** How long one example may take, in milliseconds. */
const TIMEOUT_MS = 60_000;

/** Settings of the caller that would send an example to a real model or database. */
const OUTSIDE = /^(?:OPENAI_|RUNNEL_|OTEL_|DATABASE_URL$|REDIS_URL$)/;

/** The files among `files` that are canvases, and a line for each that is not even JSON. */
export function findCanvases(files: readonly SourceFile[]): { readonly canvases: string[]; readonly broken: string[] } {
  const canvases: string[] = [];
  const broken: string[] = [];
  for (const { path: file, text } of files) {
    try {
      const version = detectVersion(JSON.parse(text));
      if (version === 1 || version === 2) canvases.push(file);
    } catch (error) {
      broken.push(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { canvases, broken };
}

function problemOf(file: string, args: readonly string[]): readonly string[] {
  const started = performance.now();
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OUTSIDE.test(name)));
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  if (status === 0 && stdout === '') return [`${file} prints nothing; let it print what it shows`];
  if (status === 0) {
    console.log(`  ${file} (${Math.round(performance.now() - started)} ms)`);
    return [];
  }
  const how = signal === null ? `ended with exit code ${status}` : `was ended after ${TIMEOUT_MS} ms`;
  return [`${file} ${how}:\n${stdout}${stderr}`];
}

if (isProgram(import.meta.url)) {
  // What scripts share is no script.
  const scripts = [...readFiles('examples', 'run.ts'), ...readFiles('examples/library', '.ts')].map(({ path }) => path);
  const { canvases, broken } = findCanvases(readFiles('examples', '.json'));
  const problems = [
    ...broken,
    ...canvases.flatMap((file) => problemOf(file, ['dist/cli/main.js', 'validate', file])),
    ...scripts.flatMap((file) => problemOf(file, ['--import', 'tsx', file])),
  ];
  if (canvases.length + scripts.length === 0) problems.push('examples/ holds neither a canvas nor a script');
  report(problems, `${canvases.length} canvases are valid, ${scripts.length} scripts ran`);
}
