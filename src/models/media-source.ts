/** Bytes of parts, in the forms that APIs want. */
import type { MediaSource } from './content-parts.js';

/** Bytes in base64, and their type. */
export interface InlineMedia {
  readonly data: string;
  readonly mimeType: string;
}

/** Longest type of a data URL that is looked at. */
const MAX_TYPE = 200;

/** The bytes of a part that carries them, in `data` or as a data URL in base64; undefined when they are somewhere else. */
export function inlineMedia(source: MediaSource): InlineMedia | undefined {
  if ('data' in source) return { data: source.data, mimeType: source.mimeType };
  if (!('url' in source) || !source.url.startsWith('data:')) return undefined;
  const comma = source.url.indexOf(',');
  if (comma < 0 || comma > MAX_TYPE) return undefined;
  const [type = '', ...parameters] = source.url.slice('data:'.length, comma).split(';');
  if (parameters.at(-1) !== 'base64' || type === '') return undefined;
  return { data: source.url.slice(comma + 1), mimeType: type };
}

/** A URL of a part, with bytes as a data URL; undefined for a file that is stored at the provider. */
export function mediaUrl(source: MediaSource): string | undefined {
  if ('url' in source) return source.url;
  return 'data' in source ? dataUrl(source) : undefined;
}

/** Bytes as a data URL. */
export function dataUrl({ data, mimeType }: InlineMedia): string {
  return `data:${mimeType};base64,${data}`;
}
