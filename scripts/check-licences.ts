/**
 * Looks at the licence of everything that is installed, and of everything the lock file could install on another platform.
 *
 * A package passes when its SPDX expression can be met by licences of {@link ACCEPTED}, or when {@link EXCEPTIONS} says why it may
 * stay. The text of its licence files is read too, because some licences are sold under a harmless name.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { ROOT } from './support/files.js';
import { isProgram, report } from './support/script.js';
import { parseLicence, satisfies } from './support/spdx.js';

/** A package as the check sees it. */
export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  /** What the package says its licence is; empty when it says nothing. */
  readonly licence: string;
  /** The text of its licence files, joined. */
  readonly texts: string;
}

/** Licences that let this package be used, changed and sold by anyone. */
export const ACCEPTED: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'Artistic-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC-BY-3.0',
  'CC-BY-4.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'OFL-1.1',
  'PostgreSQL',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
  'WTFPL',
  'Zlib',
]);

/** Packages that may stay although their licence is missing or unusual, as `name@version`, each with the reason. */
export const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  [
    'buffers@0.1.1',
    'without a licence of its own, by the author of chainsaw; comes with the zip reader of exceljs, which is not used',
  ],
  ['chainsaw@0.1.0', 'MIT/X11 is the MIT licence under its older name'],
  ['duck@0.1.12', 'its LICENSE is the BSD licence of two clauses'],
  ['png-js@2.0.0', 'its LICENSE is the MIT licence'],
  ['traverse@0.3.9', 'MIT/X11 is the MIT licence under its older name'],
]);

/** Licences that are refused whatever the package calls them. Titles only: MPL-2.0 and GPL-3.0 mention the AGPL in passing. */
const REFUSED_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/GNU AFFERO GENERAL PUBLIC LICENSE|under the (?:terms of the )?GNU Affero/, 'AGPL'],
  [/Server Side Public License/i, 'SSPL'],
  [/Business Source License/i, 'BUSL'],
  [/Commons Clause/i, 'Commons Clause'],
];

/** Says what is wrong with the licences of `packages`, one line each. */
export function licenceProblems(
  packages: readonly InstalledPackage[],
  exceptions: ReadonlyMap<string, string> = EXCEPTIONS,
): readonly string[] {
  return packages.flatMap(({ name, version, licence, texts }) => {
    const id = `${name}@${version}`;
    if (exceptions.has(id)) return [];
    const refused = REFUSED_TEXTS.filter(([pattern]) => pattern.test(texts)).map(([, title]) => title);
    if (refused.length > 0) return [`${id}: its licence file holds ${refused.join(' and ')}; replace the package`];
    if (licence === '')
      return [`${id}: names no licence; read it, then replace it or add it to EXCEPTIONS with the reason`];
    const expression = parseLicence(licence);
    if (expression !== undefined && satisfies(expression, (one) => ACCEPTED.has(one))) return [];
    return [`${id}: licence "${licence}" is not accepted; replace it or add it to EXCEPTIONS with the reason`];
  });
}

const manifest = z.object({
  name: z.string(),
  version: z.string(),
  license: z.union([z.string(), z.object({ type: z.string() })]).optional(),
  licenses: z.array(z.union([z.string(), z.object({ type: z.string() })])).optional(),
});

const lock = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), license: z.string().optional(), link: z.boolean().optional() }),
  ),
});

/** Reads all that is installed below `root`, nested packages too, and what the lock file names beyond it. */
export function findPackages(root: string): readonly InstalledPackage[] {
  const installed = packageFolders(path.join(root, 'node_modules')).flatMap(readPackage);
  const known = new Set(installed.map(({ name, version }) => `${name}@${version}`));
  const { packages } = lock.parse(JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')));
  const elsewhere = Object.entries(packages)
    .filter(([folder, entry]) => folder.includes('node_modules/') && entry.link !== true)
    .map(([folder, entry]) => ({
      name: folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version: entry.version ?? '',
      licence: entry.license ?? '',
      texts: '',
    }))
    .filter(({ name, version }) => !known.has(`${name}@${version}`));
  return [...installed, ...elsewhere];
}

function packageFolders(modules: string): readonly string[] {
  if (!existsSync(modules)) return [];
  const names = readdirSync(modules).filter((name) => !name.startsWith('.'));
  const own = names.flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(path.join(modules, name)).map((part) => path.join(modules, name, part))
      : [path.join(modules, name)],
  );
  return own.flatMap((folder) => [folder, ...packageFolders(path.join(folder, 'node_modules'))]);
}

function readPackage(folder: string): readonly InstalledPackage[] {
  const file = path.join(folder, 'package.json');
  if (!existsSync(file)) return [];
  const { name, version, license, licenses } = manifest.parse(JSON.parse(readFileSync(file, 'utf8')));
  const stated = license === undefined ? (licenses ?? []) : [license];
  const licence = stated.map((one) => (typeof one === 'string' ? one : one.type)).join(' OR ');
  return [{ name, version, licence, texts: licenceTexts(folder) }];
}

function licenceTexts(folder: string): string {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(?:licen[cs]e|copying|unlicense)/i.test(entry.name))
    .map((entry) => readFileSync(path.join(folder, entry.name), 'utf8'))
    .join('\n');
}

/** How many packages each licence covers, most first, one line each. */
export function licenceTable(packages: readonly InstalledPackage[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { licence } of packages) counts.set(licence || '(none)', (counts.get(licence || '(none)') ?? 0) + 1);
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || a.localeCompare(b))
    .map(([licence, count]) => `${String(count).padStart(6)}  ${licence}`);
}

if (isProgram(import.meta.url)) {
  const packages = findPackages(ROOT);
  for (const line of licenceTable(packages)) console.log(line);
  report(licenceProblems(packages), `${packages.length} packages, every licence accepted`);
}
