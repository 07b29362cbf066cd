import { CharacterMaps } from './character-maps.js';

/** Largest picture that is decoded, in pixels: none is needed for the text. */
const MAX_IMAGE_PIXELS = 1;

/** A document of PDF.js. */
type PdfDocument = Awaited<ReturnType<typeof import('unpdf')['getDocumentProxy']>>;

/** Opens a PDF for its text; its caller destroys it. Errors: those of PDF.js */
export async function openPdf(bytes: Uint8Array): Promise<PdfDocument> {
  const { getDocumentProxy } = await import('unpdf');
  // A copy: PDF.js may detach the buffer that it is given, and takes no Buffer.
  return getDocumentProxy(new Uint8Array(bytes), {
    isEvalSupported: false,
    maxImageSize: MAX_IMAGE_PIXELS,
    stopAtErrors: false,
    verbosity: 0,
    BinaryDataFactory: CharacterMaps,
    cMapPacked: false,
  });
}
