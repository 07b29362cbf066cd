/** A folder that is held open, so that what is done in it happens there, whatever its path leads to meanwhile. */
import type { Stats } from 'node:fs';
import { access, constants, lstat, mkdir, open, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { EngineError } from '../../../errors.js';
import { missing, outside } from './file-space.js';

/** A folder below the root of a space. */
export interface HeldFolder {
  /** The path of the folder itself, or of an entry in it, for as long as it is held. */
  pathOf(name?: string): string;
  /** Refuses what was opened when it is not the entry of this folder. @throws EngineError FORBIDDEN */
  verify(name: string, facts: Stats): Promise<void>;
  close(): Promise<void>;
}

/** How folders are held. `descriptor`: by open ones, as Linux allows. `path`: by paths, whose links are looked for again behind each opening. */
export type Holding = 'descriptor' | 'path';

/** How this machine can hold folders. */
export async function bestHolding(): Promise<Holding> {
  return access(DESCRIPTORS).then(
    () => 'descriptor' as const,
    () => 'path' as const,
  );
}

const DESCRIPTORS = '/proc/self/fd';

/** Names of folders, from the root of a space on. */
export interface FolderPath {
  readonly root: string;
  readonly names: readonly string[];
  /** As it was asked for, for errors. */
  readonly wanted: string;
  /** Whether folders that are not there are made. @default false */
  readonly makes?: boolean;
}

/**
 * Opens a folder name by name, without following a link.
 *
 * @throws EngineError FORBIDDEN for a link on the way, FILE_UNREADABLE for a file on the way, FILE_UNKNOWN for what is not there.
 */
export function holdFolder(folder: FolderPath, holding: Holding): Promise<HeldFolder> {
  return holding === 'descriptor' ? holdByDescriptor(folder) : holdByPath(folder);
}

async function holdByDescriptor({ root, names, wanted, makes = false }: FolderPath): Promise<HeldFolder> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY;
  let handle = await open(root, flags).catch((cause: unknown) => {
    throw noRoot(root, cause);
  });
  try {
    for (const [depth, name] of names.entries()) {
      const entry = `${DESCRIPTORS}/${handle.fd}/${name}`;
      if (makes) await mkdir(entry).catch(unlessThere(wanted));
      const next = await open(entry, flags | constants.O_NOFOLLOW).catch(async (cause: unknown) => {
        throw await whyNot(entry, { names, wanted, depth }, cause);
      });
      await handle.close();
      handle = next;
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  const place = `${DESCRIPTORS}/${handle.fd}`;
  return {
    // The dot makes the system look behind the descriptor, which by itself looks like a link.
    pathOf: (name = '.') => `${place}/${name}`,
    verify: async () => {},
    close: () => handle.close(),
  };
}

async function holdByPath({ root, names, wanted, makes = false }: FolderPath): Promise<HeldFolder> {
  const base = await realpath(root).catch((cause: unknown) => {
    throw noRoot(root, cause);
  });
  let place = base;
  for (const [depth, name] of names.entries()) {
    place = path.join(place, name);
    if (makes) await mkdir(place).catch(unlessThere(wanted));
    const facts = await lstat(place).catch((cause: unknown) => {
      throw missing(wanted, cause);
    });
    if (!facts.isDirectory()) throw await whyNot(place, { names, wanted, depth }, undefined);
  }
  const isReal = async (file: string): Promise<boolean> => (await realpath(file).catch(() => undefined)) === file;
  if (!(await isReal(place))) throw outside(wanted, 'leads by way of a link');
  return {
    pathOf: (name = '') => path.join(place, name),
    verify: async (name, facts) => {
      const file = path.join(place, name);
      const now = await stat(file).catch(() => undefined);
      if (now?.ino === facts.ino && now.dev === facts.dev && (await isReal(file))) return;
      throw outside(wanted, 'leads by way of a link');
    },
    close: async () => {},
  };
}

function noRoot(root: string, cause: unknown): EngineError {
  return new EngineError('FILE_UNKNOWN', `The folder of the files is not there: "${root}".`, { cause });
}

function unlessThere(wanted: string): (cause: unknown) => void {
  return (cause) => {
    if ((cause as { readonly code?: unknown } | undefined)?.code === 'EEXIST') return;
    throw new EngineError('FILE_UNREADABLE', `The folder of "${wanted}" cannot be made.`, { cause });
  };
}

async function whyNot(
  entry: string,
  { names, wanted, depth }: Pick<FolderPath, 'names' | 'wanted'> & { readonly depth: number },
  cause: unknown,
): Promise<EngineError> {
  const facts = await lstat(entry).catch(() => undefined);
  if (facts?.isSymbolicLink() === true) return outside(wanted, 'leads by way of a link');
  if (facts === undefined || facts.isDirectory()) return missing(wanted, cause);
  const blamed = names.slice(0, depth + 1).join('/');
  return new EngineError('FILE_UNREADABLE', `"${blamed}" is a file and no folder.`, { cause });
}
