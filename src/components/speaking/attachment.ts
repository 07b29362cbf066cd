import type { Observable } from 'rxjs';
import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import type { Converter, OptionalServices } from '../optional-services.js';
import { removeThinking } from './think-text.js';

/** A format that an answer can be given in. */
interface Format {
  readonly mimeType: string;
  /** Absent for formats that only a service can make. */
  readonly convert?: Converter;
}

const utf8 = new TextEncoder();
const plain: Converter = (text) => utf8.encode(text);

const FORMATS: Readonly<Record<string, Format>> = {
  markdown: { mimeType: 'text/markdown', convert: plain },
  html: { mimeType: 'text/html', convert: (text) => utf8.encode(toHtml(text)) },
  txt: { mimeType: 'text/plain', convert: plain },
  pdf: { mimeType: 'application/pdf' },
  docx: { mimeType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document' },
  xlsx: { mimeType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' },
};

/**
 * Keeps an answer as a file and describes it as `{doc_id, format, file_name}`. A format that nobody knows is Markdown, as in
 * RAGFlow. A converter among the services comes before the built-in one.
 *
 * Errors: `NODE_FAILED` when a service is missing; those of the converter and of the file store.
 */
export function attach(text: string, wanted: string, services: OptionalServices): Observable<JsonObject> {
  const format = Object.hasOwn(FORMATS, wanted) ? wanted : 'markdown';
  const { mimeType, convert: builtIn } = FORMATS[format] as Format;
  return fromAbortable(async () => {
    const convert = services.converters?.[format] ?? builtIn;
    const { files } = services;
    if (convert === undefined) throw missing(`the format ${format}`, 'converters');
    if (files === undefined) throw missing('files', 'files');
    const bytes = await convert(
      removeThinking(text)
        .replace(/\n{3,}/g, '\n\n')
        .trim(),
    );
    const id = await files.save({ name: `answer.${format}`, mimeType, bytes });
    return { doc_id: id, format, file_name: `${id.slice(0, 8)}.${format}` };
  });
}

function missing(what: string, service: string): EngineError {
  return new EngineError('NODE_FAILED', `This process has no service for ${what}; start the run with { ${service} }.`);
}

/** A page that shows the text as it is written. */
function toHtml(text: string): string {
  const escaped = text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<!doctype html>\n<meta charset="utf-8">\n<div style="white-space: pre-wrap">${escaped}</div>\n`;
}
