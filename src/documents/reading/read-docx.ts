import type { StoredFile } from '../../records/files.js';
import { htmlToText } from './html-to-text.js';
import type { ReadLimits } from './limits.js';
import { type PackedPart, packZip } from './pack-zip.js';
import { toUnreadable, unreadable } from './unreadable.js';
import { openZip, requireUnpackedSize } from './zip.js';

/** Most bytes of XML, unpacked: a book of a thousand pages. As a tree it takes fifty times that, and is read in one go. */
const MAX_XML_BYTES = 16 * 1_048_576;

/** The parts that hold text and what it means; pictures, fonts and embedded files are left behind. */
const TEXT_PARTS = /\.(?:xml|rels)$/i;

const STYLES = [
  "p[style-name='Title'] => h1:fresh",
  "p[style-name='Subtitle'] => h2:fresh",
  "p[style-name='Code'] => pre:separator('\\n')",
];

/**
 * The text of a Word document; headings, lists and tables as Markdown.
 *
 * The archive is unpacked here, within a bound, and handed on stored: the parser unpacks whatever it is given.
 * Errors: FILE_UNREADABLE.
 */
export async function readDocx({ name, bytes }: StoredFile, { signal }: ReadLimits): Promise<string> {
  const zip = openZip(bytes, name);
  const entries = [...zip.entries.values()].filter(({ path }) => TEXT_PARTS.test(path));
  if (!entries.some(({ path }) => path.endsWith('.rels'))) throw unreadable(name, 'it is no Word document.');
  requireUnpackedSize(entries, MAX_XML_BYTES, name);
  const parts: PackedPart[] = [];
  for (const entry of entries) {
    parts.push({ path: entry.path, crc32: entry.crc32, bytes: await zip.read(entry, signal) });
  }
  const { default: mammoth } = await import('mammoth');
  try {
    const { value } = await mammoth.convertToHtml(
      { buffer: packZip(parts) },
      {
        styleMap: STYLES,
        includeEmbeddedStyleMap: false,
        externalFileAccess: false,
        convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
      },
    );
    signal?.throwIfAborted();
    return await htmlToText(value, name);
  } catch (error) {
    throw toUnreadable(name, error, 'Word document');
  }
}
