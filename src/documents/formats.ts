/** The formats that Markdown can be converted to. */
export const DOCUMENT_FORMATS = {
  pdf: { mimeType: 'application/pdf', extension: 'pdf' },
  docx: { mimeType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', extension: 'docx' },
  txt: { mimeType: 'text/plain', extension: 'txt' },
  markdown: { mimeType: 'text/markdown', extension: 'md' },
  html: { mimeType: 'text/html', extension: 'html' },
  xlsx: { mimeType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', extension: 'xlsx' },
} as const;

/** The name of a format. */
export type DocumentFormat = keyof typeof DOCUMENT_FORMATS;
