/** Compiles `src` into a fresh `dist`, bundles the command line, adds what the compiler leaves behind, and builds the studio. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { buildStudio } from './build-studio.js';
import { bundleCommands, bundleLibraries } from './bundle.js';
import { prepareDatabase } from './prepare-database.js';
import { prepareFonts } from './prepare-fonts.js';
import { removeUnreachableDeclarations } from './reachable-declarations.js';
import { ROOT } from './support/files.js';

const source = path.join(ROOT, 'src');
const target = path.join(ROOT, 'dist');
const entry = path.join(target, 'cli/main.js');

rmSync(target, { recursive: true, force: true });
const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: ROOT,
  stdio: 'inherit',
});
if (status === 0) {
  cpSync(source, target, { recursive: true, filter: (file) => statSync(file).isDirectory() || !file.endsWith('.ts') });
  removeUnreachableDeclarations();
  await Promise.all([bundleLibraries(), bundleCommands(), prepareFonts(path.join(target, 'documents/pdf/fonts'))]);
  if (existsSync(entry)) chmodSync(entry, 0o755);
  await buildStudio();
  cpSync(await prepareDatabase(), path.join(target, 'stores/postgres/embedded/database.image'));
}
process.exitCode = status ?? 1;
