import { concatMap, from, map, type Observable, of, toArray } from 'rxjs';
import type { BrowserFile, BrowserSession } from '../../adapters/browser/index.js';
import { endingOf } from '../../documents/reading/file-kind.js';
import type { Activation } from '../../graph/component.js';
import { type Notice, warning } from '../../graph/node-events.js';
import type { JsonObject } from '../../json.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import { optionalServices } from '../optional-services.js';
import { safeName } from './upload-sources.js';

/** Media types by ending, of what sites commonly offer; what is in a file is not looked at. */
const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  gif: 'image/gif',
  html: 'text/html',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  txt: 'text/plain',
  webp: 'image/webp',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  zip: 'application/zip',
};

/** The files of a session that were kept, as `downloaded_files` lists them, or a warning that they were not. */
export type Kept = Notice | { readonly type: 'kept'; readonly files: readonly JsonObject[] };

/** Keeps what was downloaded, and the pictures that were taken, in the file store of the run; one file is in memory at a time. */
export function keepFiles(
  activation: Activation,
  session: BrowserSession,
  pictures: readonly Uint8Array[],
): Observable<Kept> {
  const { files } = optionalServices(activation);
  const taken = pictures.map((bytes, at): BrowserFile => {
    return { name: `screenshot-${at + 1}.png`, size: bytes.length, read: async () => bytes };
  });
  return session.files().pipe(
    concatMap((downloads): Observable<Kept> => {
      const all = [...downloads, ...taken];
      if (files === undefined && all.length > 0) {
        const lost = `${all.length} files of the browser are lost, as the run was started without a place for files.`;
        return of<Kept[]>(warning(lost), { type: 'kept', files: [] });
      }
      return from(all).pipe(
        concatMap((file) =>
          fromAbortable(async (signal) => {
            const bytes = await file.read();
            signal.throwIfAborted();
            const name = safeName(file.name);
            const mimeType = TYPES[endingOf(name)] ?? 'application/octet-stream';
            const id = await files?.save({ name, mimeType, bytes });
            return { file_id: id ?? '', name, size: file.size, parent_id: '' };
          }),
        ),
        toArray(),
        map((kept): Kept => ({ type: 'kept', files: kept })),
      );
    }),
  );
}
