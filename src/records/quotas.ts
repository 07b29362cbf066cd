/** How much a tenant may store of each kind, and the refusal of what is more. */
import { EngineError } from '../errors.js';

const GIB = 1024 ** 3;

/** What a tenant that is given no other quotas may store; 0: as much as fits. */
export const DEFAULT_QUOTAS = {
  agents: 2_000,
  /** Of one agent. */
  versions: 500,
  sessions: 1_000_000,
  tokens: 1_000,
  /** Of users, of chat pages and of agents together. */
  files: 100_000,
  fileBytes: 10 * GIB,
  /** Of callers who may be anyone: chat pages and webhooks. They count among all files, too. */
  pageFiles: 2_000,
  pageFileBytes: GIB / 2,
};

/** What is limited for each tenant. */
export type QuotaName = keyof typeof DEFAULT_QUOTAS;

/** How much a tenant may store of each kind; 0: as much as fits. */
export type Quotas = { readonly [Name in QuotaName]: number };

/** What is counted, and what makes room. */
interface QuotaWords {
  /** Behind a number, in the plural. */
  readonly what: string;
  readonly remedy: string;
  /** The setting that says how much is allowed. */
  readonly setting: string;
}

const OLD_FILES = 'delete files that are not needed any more (DELETE /api/v1/agents/attachments/{id})';
const OLD_PAGE_FILES = 'wait until older ones expire, or delete some (DELETE /api/v1/agents/attachments/{id})';

export const QUOTA_WORDS: Readonly<Record<QuotaName, QuotaWords>> = {
  agents: {
    what: 'agents',
    remedy: 'delete agents that are not needed any more',
    setting: 'RUNNEL_QUOTA_AGENTS',
  },
  versions: {
    what: 'versions of this agent',
    remedy: 'delete versions that are not needed any more',
    setting: 'RUNNEL_QUOTA_VERSIONS',
  },
  sessions: {
    what: 'sessions',
    remedy: 'delete sessions that are not needed any more, or let them expire (RUNNEL_KEEP_SESSIONS_DAYS)',
    setting: 'RUNNEL_QUOTA_SESSIONS',
  },
  tokens: {
    what: 'tokens',
    remedy: 'delete tokens that are not needed any more',
    setting: 'RUNNEL_QUOTA_TOKENS',
  },
  files: { what: 'files', remedy: OLD_FILES, setting: 'RUNNEL_QUOTA_FILES' },
  fileBytes: { what: 'bytes of files', remedy: OLD_FILES, setting: 'RUNNEL_QUOTA_FILE_BYTES' },
  pageFiles: {
    what: 'files of chat pages and webhooks',
    remedy: OLD_PAGE_FILES,
    setting: 'RUNNEL_QUOTA_PAGE_FILES',
  },
  pageFileBytes: {
    what: 'bytes of files of chat pages and webhooks',
    remedy: OLD_PAGE_FILES,
    setting: 'RUNNEL_QUOTA_PAGE_FILE_BYTES',
  },
};

/** Particulars of QUOTA_EXCEEDED, for programs. */
export interface QuotaDetails {
  readonly quota: { readonly name: QuotaName; readonly used: number; readonly limit: number };
}

/**
 * Refuses what would be more than a tenant may store.
 *
 * @param added how much is to be stored in addition to what is `used`
 * @throws EngineError QUOTA_EXCEEDED, which says what is counted, how much is used and what makes room.
 */
export function requireRoom(quotas: Quotas, name: QuotaName, used: number, added: number): void {
  const limit = quotas[name];
  if (limit === 0 || added <= 0 || used + added <= limit) return;
  const { what, remedy, setting } = QUOTA_WORDS[name];
  const more = added === 1 ? 'one more' : `${added} more`;
  const details: QuotaDetails = { quota: { name, used, limit } };
  throw new EngineError(
    'QUOTA_EXCEEDED',
    `No room for ${more}: this tenant has ${used} ${what}, of at most ${limit}. To make room, ${remedy}; the operator of the server can raise ${setting}.`,
    { details },
  );
}

/** How much a tenant stores at a moment of what is counted where it is stored. */
export type Usage = { readonly [Name in Exclude<QuotaName, 'versions' | 'sessions'>]: number };

/** What a tenant stores of files. */
export type FileUsage = Pick<Usage, 'files' | 'fileBytes' | 'pageFiles' | 'pageFileBytes'>;

/** What files take; those that are from pages count twice. */
export function usageOfFiles(
  files: readonly { readonly size: number; readonly isFromPage?: boolean | undefined }[],
): FileUsage {
  const ofPages = files.filter(({ isFromPage }) => isFromPage === true);
  const bytesOf = (some: typeof files) => some.reduce((sum, { size }) => sum + size, 0);
  return {
    files: files.length,
    fileBytes: bytesOf(files),
    pageFiles: ofPages.length,
    pageFileBytes: bytesOf(ofPages),
  };
}

/** Refuses files that would be more than a tenant may store. @throws EngineError QUOTA_EXCEEDED as {@link requireRoom} */
export function requireFileRoom(quotas: Quotas, used: FileUsage, added: FileUsage): void {
  for (const name of ['pageFiles', 'pageFileBytes', 'files', 'fileBytes'] as const) {
    requireRoom(quotas, name, used[name], added[name]);
  }
}

/** Counts what tenants store. */
export interface UsageStore {
  /** By which these stores refuse. */
  readonly quotas: Quotas;
  /** What one tenant stores; files that have expired count until they are deleted. */
  of(tenant: string): Promise<Usage>;
  /** Counts the sessions of a tenant, which takes longer the more there are. */
  sessions(tenant: string): Promise<number>;
  /** Of each kind what the tenant stores that has the most of it. */
  most(): Promise<Usage>;
}
