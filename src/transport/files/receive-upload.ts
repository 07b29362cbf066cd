/** Files that clients upload: bounded, counted and written to the store while they come. */
import { EngineError } from '../../errors.js';
import { createId } from '../../hosting/ids.js';
import { badArgument } from '../../hosting/refusals.js';
import type { DraftedFile, FileAbout } from '../../records/files.js';
import { type FileUsage, usageOfFiles } from '../../records/quotas.js';
import type { Caller } from '../access/callers.js';
import { clientAddress, networkOf } from '../access/client-address.js';
import type { Flight } from '../http/bytes-in-flight.js';
import { given } from '../http/input.js';
import { isMultipart, type PartHead, readParts } from '../http/multipart.js';
import type { HttpExchange } from '../http/route.js';
import type { ServerParts } from '../server-parts.js';

const DAY_MS = 24 * 3_600_000;

/** What a form has beside the contents of its files, at most. */
const FORM_BYTES = 64 * 1024;

/** What one address may upload of what the key of a chat page may. */
const ADDRESS_SHARE = 1 / 4;

/** A file that is not received from the client itself. */
export interface FetchedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** The largest upload of a caller. */
export function largestUpload({ config }: Pick<ServerParts, 'config'>, { page }: Pick<Caller, 'page'>): number {
  return page === undefined ? config.uploadBytes : Math.min(config.uploadBytes, config.pageUploadBytes);
}

/**
 * Receives the files of a request and stores them, all or none; nothing is left of them otherwise.
 *
 * @param fetch gives a file that is stored instead of those that are sent. @default none
 * @throws EngineError BODY_TOO_LARGE, BAD_REQUEST, QUOTA_EXCEEDED; LIMIT_REACHED when too much is received at once (HTTP 503), when a page uploads
 * too often (HTTP 429) or the disk is full (HTTP 507).
 */
export async function storeUpload(
  parts: ServerParts,
  { tenant, page, exchange }: Pick<Caller, 'tenant' | 'page'> & { readonly exchange: HttpExchange },
  fetch?: (maxBytes: number) => Promise<FetchedFile>,
): Promise<readonly DraftedFile[]> {
  const { stores, config, now } = parts;
  const { req } = exchange;
  if (page !== undefined) await limitPage(parts, exchange, page);
  const maxBytes = largestUpload(parts, { page });
  const announced = Math.min(maxBytes, Number(req.headers['content-length'] ?? 0));
  const aboutOf = ({ name, mimeType }: Pick<FileAbout, 'name' | 'mimeType'>): FileAbout => ({
    id: createId(),
    name,
    mimeType,
    createdAt: now(),
    ...given({ page }),
    ...(page !== undefined && pageFacts(config, now())),
  });
  // What certainly has no room is not read.
  await stores.files.requireRoom(tenant, leastUsage(announced, page !== undefined));
  const drafted: DraftedFile[] = [];
  const flight = parts.uploads.open({ tenant, isPage: page !== undefined }, announced);
  try {
    if (fetch === undefined || isMultipart(req)) {
      await receive(parts, exchange, flight, maxBytes, (head) => {
        const draft = stores.files.draft();
        drafted.push({ about: aboutOf(head), draft });
        return (bytes) => draft.write(bytes);
      });
    }
    if (fetch !== undefined) {
      if (drafted.length > 1) throw badArgument('With `url`, at most one `file` may be sent.');
      await Promise.all(drafted.splice(0).map(({ draft }) => draft.discard()));
      flight.add(maxBytes);
      const file = await fetch(maxBytes);
      const draft = stores.files.draft();
      drafted.push({ about: aboutOf(file), draft });
      await draft.write(file.bytes);
    }
    if (drafted.length === 0) throw badArgument('`file` field is required.');
    await stores.files.saveDrafts(tenant, drafted);
    return drafted;
  } finally {
    flight.close();
    await Promise.all(drafted.map(({ draft }) => draft.discard()));
  }
}

/**
 * Refuses uploads of a chat page that come too often: its key is public, so one address has a quarter of what the key may.
 *
 * @throws EngineError LIMIT_REACHED (HTTP 429)
 */
async function limitPage(
  { pageUploads, config }: Pick<ServerParts, 'pageUploads' | 'config'>,
  exchange: HttpExchange,
  page: string,
): Promise<void> {
  const { pageUploadsPerMinute: most, trustedProxies } = config;
  const address = networkOf(clientAddress(exchange.req, trustedProxies));
  const limits = [
    [`${page} ${address}`, Math.ceil(most * ADDRESS_SHARE)],
    [page, most],
  ] as const;
  for (const [key, allowed] of limits) {
    const waitMs = await pageUploads(key, allowed);
    if (waitMs === undefined) continue;
    const message = `Too many uploads: a chat page may send ${most} a minute, ${limits[0][1]} of them from one address. Try again later.`;
    throw new EngineError('LIMIT_REACHED', message, {
      details: { httpStatus: 429, retryAfterSeconds: Math.ceil(waitMs / 1000) },
    });
  }
}

/** What is stored of every file of a caller who may be anyone. */
export function pageFacts({ pageFileDays }: ServerParts['config'], now: number) {
  return { isFromPage: true, ...(pageFileDays > 0 && { expiresAt: now + pageFileDays * DAY_MS }) };
}

/** Writes the files in the field `file` where `open` says. */
async function receive(
  { config }: ServerParts,
  { req }: HttpExchange,
  flight: Flight,
  maxBytes: number,
  open: (file: { readonly name: string; readonly mimeType: string }) => (bytes: Buffer) => Promise<void>,
): Promise<void> {
  if (!isMultipart(req)) throw badArgument('`file` field is required.');
  const limits = { maxBytes, maxFiles: config.uploadFiles, onBytes: (bytes: number) => flight.add(bytes) };
  await readParts(req, limits, ({ field, fileName, mimeType }: PartHead) =>
    field === 'file' && fileName !== undefined ? open({ name: fileName || 'file', mimeType }) : undefined,
  );
}

/** What an upload takes at least that announces so many bytes. */
function leastUsage(announced: number, isFromPage: boolean): FileUsage {
  return usageOfFiles([{ size: Math.max(0, announced - FORM_BYTES), isFromPage }]);
}
