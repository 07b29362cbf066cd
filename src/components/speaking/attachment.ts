import type { Observable } from 'rxjs';
import { convertMarkdown, DOCUMENT_FORMATS, type DocumentFormat } from '../../documents/index.js';
import { EngineError } from '../../errors.js';
import type { JsonObject } from '../../json.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import type { OptionalServices } from '../optional-services.js';
import { removeThinking } from './think-text.js';

/**
 * Keeps an answer as a file and describes it as `{doc_id, format, file_name}`. A format that nobody knows is Markdown, as in
 * RAGFlow.
 *
 * Errors: `NODE_FAILED` without a file store; `DOCUMENT_NOT_WRITTEN`; those of the file store.
 */
export function attach(text: string, wanted: string, { files }: OptionalServices): Observable<JsonObject> {
  const format = (Object.hasOwn(DOCUMENT_FORMATS, wanted) ? wanted : 'markdown') as DocumentFormat;
  const { mimeType } = DOCUMENT_FORMATS[format];
  return fromAbortable(async (signal) => {
    if (files === undefined) {
      throw new EngineError('NODE_FAILED', 'This process has no service for files; start the run with { files }.');
    }
    const content = removeThinking(text)
      .replace(/\n{3,}/g, '\n\n')
      .trim();
    const { bytes } = await convertMarkdown(content, { format, signal });
    signal.throwIfAborted();
    const id = await files.save({ name: `answer.${format}`, mimeType, bytes });
    return { doc_id: id, format, file_name: `${id.slice(0, 8)}.${format}` };
  });
}
