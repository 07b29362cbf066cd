import { concat, defer, from, map, type Observable } from 'rxjs';
import { z } from 'zod';
import { threadsOf } from '../documents/document-jobs.js';
import { fileName, generatedName } from '../documents/file-name.js';
import { convertMarkdown, DOCUMENT_FORMATS, type DocumentFormat, type DocumentOptions } from '../documents/index.js';
import { EngineError } from '../errors.js';
import type { Activation } from '../graph/node.js';
import { type NodeEvent, settled } from '../graph/node-events.js';
import type { JsonObject } from '../json.js';
import { fromAbortable } from '../operators/from-abortable.js';
import { flag, nodeParams, optionalText, renaming, templateEngine } from './base-params.js';
import { defineComponent } from './component.js';
import type { Files } from './services.js';
import { serviceOf } from './services.js';
import { documentText } from './speaking/think-text.js';
import { createTextReader, referencedOutputs } from './values/text-reader.js';

/** Largest file whose bytes are part of its description; outputs are stored in the log of a run. */
const MAX_INLINE_BYTES = 262_144;

const FORMATS = Object.keys(DOCUMENT_FORMATS) as DocumentFormat[];

const docGeneratorParams = z.preprocess(
  renaming({ header_text: ['header'], footer_text: ['footer'], watermark_text: ['watermark'] }),
  nodeParams({
    output_format: z
      .preprocess((given) => (given === 'md' ? 'markdown' : given || 'pdf'), z.enum(FORMATS))
      .describe('"pdf", "docx", "txt", "markdown" (or "md"), "html" or "xlsx"; default "pdf".'),
    content: z.string().min(1, 'a document needs content').describe('Markdown with references.'),
    template_engine: templateEngine.describe(
      'Renders `content` as a template: "jinja" or "handlebars"; default: only references are replaced.',
    ),
    layout: optionalText.describe(
      'HTML only: Handlebars template of the page with {{title}}, {{{style}}}, {{watermark}}, {{generated}} and {{{body}}}; default the built-in page.',
    ),
    filename: optionalText.describe(
      'Name of the file, with references; its ending follows the format. Default: made up.',
    ),
    header_text: optionalText.describe('Line above the text of every page, with references; default none.'),
    footer_text: optionalText.describe('Line below the text of every page, with references; default none.'),
    watermark_text: optionalText.describe('Pale text across every page, with references; default none.'),
    add_page_numbers: flag(true).describe('Numbers the pages; default true.'),
    add_timestamp: flag(true).describe('Adds the date of creation to the document; default true.'),
    include_download_info_in_content: flag(false).describe(
      'A Message also shows the description of the file as text; default false.',
    ),
    font_size: z
      .preprocess((given) => given ?? 12, z.coerce.number().min(12).max(72))
      .describe('Size of the text, in points; default 12.'),
  }),
);

/** Parameters of {@link docGenerator}. */
export type DocGeneratorParams = z.output<typeof docGeneratorParams>;

/**
 * Makes a file of Markdown and stores it; a Message that reads `download` offers it to the user.
 *
 * Errors: `DOCUMENT_NOT_WRITTEN` for content that the format cannot hold, `CONFIG_INVALID` without a store for files, those
 * of the store.
 */
export const docGenerator = defineComponent<DocGeneratorParams>({
  type: 'DocGenerator',
  aliases: ['DocsGenerator'],
  group: 'data',
  summary: 'Makes a PDF, Word, Excel, HTML or text file of Markdown.',
  thoughts: 'Writing a document.',
  params: docGeneratorParams,
  outputs: {
    doc_id: { type: 'string', description: 'Id of the file.' },
    filename: { type: 'string', description: 'Name of the file.' },
    mime_type: { type: 'string', description: 'Its media type.' },
    size: { type: 'number', description: 'Its size in bytes.' },
    download: { type: 'string', description: 'Its description as JSON, with its bytes in Base64 up to 256 KiB.' },
  },
  primaryOutput: 'download',
  needs: (params) => referencedOutputs(textsOf(params)),
  create: (params) => (activation) => generate(activation, params),
});

function textsOf(params: DocGeneratorParams): string[] {
  return [params.content, params.filename, params.header_text, params.footer_text, params.watermark_text];
}

function generate(activation: Activation, params: DocGeneratorParams): Observable<NodeEvent> {
  const files = serviceOf(activation, 'files');
  const reader = createTextReader(activation);
  const { template_engine: engine } = params;
  const content = engine ? reader.render(params.content, engine) : reader.read(params.content);
  const [, name = '', header = '', footer = '', watermark = ''] = textsOf(params).map(reader.read);
  const format = params.output_format;
  const now = new Date(activation.now());
  const { extension } = DOCUMENT_FORMATS[format];
  const filename = name.trim() === '' ? generatedName(now, activation.random(), extension) : fileName(name, extension);
  const options: DocumentOptions = {
    format,
    title: filename.slice(0, -extension.length - 1),
    fontSize: params.font_size,
    header,
    footer,
    watermark,
    pageNumbers: params.add_page_numbers,
    created: now,
    threads: threadsOf(activation.services),
    ...(params.layout !== '' && { layout: params.layout }),
    ...(params.add_timestamp && { timestamp: now }),
  };
  const made$ = fromAbortable((signal) => make(documentText(content), { ...options, signal }, filename, files));
  const settled$ = made$.pipe(map((file) => settled(outputsOf(file, params))));
  return concat(
    defer(() => from(reader.warnings)),
    settled$,
  );
}

/** A file that was made and stored. */
type MadeFile = Awaited<ReturnType<typeof make>>;

async function make(content: string, options: DocumentOptions, name: string, files: Files) {
  const file = await convertMarkdown(content, options).catch((error: unknown) => {
    if (!EngineError.is(error)) throw error;
    const { code, message, details } = error;
    throw new EngineError(code, `Document generation failed: ${message}`, { details, cause: error });
  });
  options.signal?.throwIfAborted();
  const id = await files.save({ name, mimeType: file.mimeType, bytes: file.bytes });
  return { ...file, id, name };
}

function outputsOf({ id, name, mimeType, extension, bytes }: MadeFile, params: DocGeneratorParams): JsonObject {
  const described = { doc_id: id, filename: name, mime_type: mimeType, size: bytes.length };
  const place = `/api/v1/agents/attachments/${encodeURIComponent(id)}`;
  const query = new URLSearchParams({ ext: extension, mime_type: mimeType });
  const download = {
    ...described,
    preview_url: `${place}/preview?${query}`,
    url: `${place}/download?${query}&${new URLSearchParams({ filename: name })}`,
    ...(bytes.length <= MAX_INLINE_BYTES && { base64: Buffer.from(bytes).toString('base64') }),
    include_download_info_in_content: params.include_download_info_in_content,
  };
  return { ...described, download: JSON.stringify(download) };
}
