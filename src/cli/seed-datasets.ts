/** Datasets that a server begins with: the pages of this package, and folders that the operator names. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KnowledgeBase } from '../knowledge/base/knowledge-base.js';
import { syncFolder } from '../knowledge/base/sync-folder.js';
import type { Log } from '../logger.js';
import { TENANT_PREFIX } from './folder-datasets.js';

/** A dataset that is made of files, and brought to what they hold with each start. */
export interface Seed {
  readonly name: string;
  /** Tells it from a dataset that a user made. */
  readonly source: string;
  readonly description: string;
  /** Folders and files. */
  readonly paths: readonly string[];
  /** Whose it is. @default every tenant's */
  readonly tenant?: string;
}

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url));

/** The pages of this package. @param root folder with `README.md` and `docs`. @default that of the package */
export function docsSeed(root = PACKAGE): Seed {
  const paths = ['README.md', 'docs'].map((name) => path.join(root, name));
  return { name: 'runnel-docs', source: 'package:docs', description: 'The pages of Runnel.', paths };
}

/** Each folder in one of these is a dataset of all tenants; those in a folder `@<tenant>` are that tenant's. A folder that is not there has none. */
export async function folderSeeds(folders: readonly string[], log: Log): Promise<readonly Seed[]> {
  const seeds: Seed[] = [];
  for (const folder of folders) {
    const names = await foldersIn(folder);
    if (names === undefined) log.warn({ folder }, 'RUNNEL_SEED_DIR names a folder that cannot be read');
    for (const name of names ?? []) {
      if (!name.startsWith(TENANT_PREFIX)) seeds.push(seedOf(path.join(folder, name)));
      else {
        const tenant = name.slice(TENANT_PREFIX.length);
        const own = (await foldersIn(path.join(folder, name))) ?? [];
        seeds.push(...own.map((one) => ({ ...seedOf(path.join(folder, name, one)), tenant })));
      }
    }
  }
  return seeds;
}

function seedOf(folder: string): Seed {
  const whole = path.resolve(folder);
  const [name, source] = [path.basename(whole), `seed:${whole}`];
  return { name, source, description: 'Comes with the server.', paths: [whole] };
}

async function foldersIn(folder: string): Promise<readonly string[] | undefined> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  return entries?.flatMap((entry) => (entry.isDirectory() && !entry.name.startsWith('.') ? [entry.name] : []));
}

/** Makes the datasets of seeds for tenants, or brings them up to date, by the hashes of their files. A user's dataset of such a name stays as it is. */
export async function plantSeeds(
  base: KnowledgeBase,
  seeds: readonly Seed[],
  tenants: readonly string[],
): Promise<void> {
  for (const seed of seeds) {
    for (const tenant of tenants) if ((seed.tenant ?? tenant) === tenant) await plant(base, seed, tenant);
  }
}

async function plant(base: KnowledgeBase, { name, source, description, paths }: Seed, tenant: string): Promise<void> {
  const query = { source, offset: 0, limit: 1, orderBy: 'createdAt', descending: false } as const;
  const [known] = (await base.datasets.list(tenant, query)).items;
  if (known === undefined && (await base.datasets.findByName(tenant, name)) !== undefined) return;
  const { dataset } = known ?? (await base.datasets.create(tenant, { name, source, description }));
  for (const one of paths) await syncFolder(base, { tenant, datasetId: dataset.id, path: one, deletesGone: true });
}
