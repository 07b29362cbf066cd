/** Documents made of what a parser read. */
import { endingOf } from '../../documents/reading/file-kind.js';
import type { JsonObject } from '../../json.js';
import { type KnowledgeDocument, knowledgeDocument } from '../knowledge-document.js';
import type { ParserInput, SourceOptions } from '../ports.js';

/** One document as a parser read it. */
export interface ParsedText {
  readonly text: string;
  readonly metadata?: JsonObject;
}

/**
 * The documents of a source. One alone has the URI as its id, several have `#` and their position behind it; without a URI the content
 * makes the id. Metadata is that of the source, then that of the parser, then that of the call.
 */
export function documentsOf(
  { uri, mimeType = '' }: ParserInput,
  texts: readonly ParsedText[],
  { metadata: given }: SourceOptions,
): KnowledgeDocument[] {
  const name = fileNameOf(uri);
  const extension = endingOf(name);
  const mediaType = mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const source: JsonObject = {
    ...(uri !== '' && { source: uri }),
    ...(name !== '' && { fileName: name }),
    ...(extension !== '' && { extension }),
    ...(mediaType !== '' && { mediaType }),
  };
  return texts.map(({ text, metadata }, index) =>
    knowledgeDocument({
      ...(uri !== '' && { id: texts.length === 1 ? uri : `${uri}#${index}` }),
      text,
      metadata: { ...source, ...metadata, ...given },
    }),
  );
}

/** The last part of a path or of the path of a URL, without query and fragment; empty when there is none. */
export function fileNameOf(uri: string): string {
  const isUrl = /^[a-z][a-z\d+.-]*:\/\//i.test(uri);
  if (!isUrl) return uri.split(/[/\\]/).at(-1) ?? '';
  const [path = ''] = uri.replace(/^[^/]*\/\/[^/?#]*/, '').split(/[?#]/, 1);
  const written = path.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(written).replace(/[/\\]/g, '_');
  } catch {
    // A percent sign that begins no escape.
    return written;
  }
}

/** The name of a source in messages. */
export function sourceName(uri: string): string {
  return fileNameOf(uri) || uri || 'unnamed source';
}
