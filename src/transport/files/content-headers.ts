/** How a stored file is given back without a browser running what is in it. */

import { MEDIA_TYPES } from '../../records/files.js';

const CODE = new Set('js ts py java c cpp h go rs rb php sh sql css yml yaml'.split(' '));

/** Types that a browser shows without running or unpacking anything; all others are saved, whatever a client asks for. */
const SHOWN: ReadonlySet<string> = new Set(
  'image/png image/jpeg image/gif image/webp image/avif application/pdf text/plain'.split(' '),
);
/** Endings of files whose type may be given as something else. */
const ACTIVE_ENDINGS = new Set(['htm', 'html', 'shtml', 'xht', 'xhtml', 'xml', 'mhtml', 'svg', 'js']);

export interface ContentRequest {
  readonly mimeType: string | undefined;
  /** Ending without the dot. */
  readonly extension: string | undefined;
  readonly fileName: string;
  readonly isInline: boolean;
}

/** Headers for the bytes of a file. */
export function contentHeaders({ mimeType, extension, fileName, isInline }: ContentRequest): Record<string, string> {
  const ending = extension?.replace(/^\./, '').toLowerCase() ?? '';
  const type = mediaType(mimeType, ending);
  const isActive = !SHOWN.has(type) || ACTIVE_ENDINGS.has(ending) || ACTIVE_ENDINGS.has(endingOf(fileName));
  const safeName = fileName.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 200) || 'file';
  return {
    'Content-Type': type.startsWith('text/') ? `${type}; charset=utf-8` : type,
    'Content-Disposition': `${isInline && !isActive ? 'inline' : 'attachment'}; filename="${safeName}"`,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
  };
}

/** Ending of a file name, in lower case without the dot; empty without one. */
export function endingOf(name: string): string {
  return /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
}

function mediaType(mimeType: string | undefined, ending: string): string {
  const given = mimeType?.split(';', 1)[0]?.trim() ?? '';
  if (/^[a-z]+\/[a-z0-9.+-]+$/i.test(given)) return given.toLowerCase();
  if (ending === '') return 'application/octet-stream';
  if (CODE.has(ending)) return 'text/plain';
  if (Object.hasOwn(MEDIA_TYPES, ending)) return MEDIA_TYPES[ending as keyof typeof MEDIA_TYPES];
  return /^[a-z0-9.+-]+$/.test(ending) ? `application/${ending}` : 'application/octet-stream';
}
