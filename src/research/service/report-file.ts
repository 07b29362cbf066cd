/** A report as a file: Markdown with its sources, or what the document writers make of it. */

import { languageOf } from '../../chat/intents/utterance.js';
import { convertMarkdown } from '../../documents/index.js';
import type { Threads } from '../../threads/threads.js';
import type { ReportLanguage } from '../evidence/check-report.js';
import type { ResearchFinal } from '../research-events.js';

/** The formats of reports. */
export const REPORT_FORMATS = ['md', 'pdf', 'docx', 'html'] as const;

/** One of {@link REPORT_FORMATS}. */
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** A report as a file. */
export interface ReportFile {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
}

const SOURCES: Readonly<Record<ReportLanguage, string>> = { en: 'Sources', zh: '来源' };

/** The report with its title, and its sources as a list in the order of their numbers. */
export function reportMarkdown({ title, report, sources }: ResearchFinal): string {
  const heading = SOURCES[languageOf(title)];
  const lines = [...sources]
    .sort((a, b) => a.n - b.n)
    .map(
      ({ n, source, url, page }) =>
        `- [${n}] ${plain(source)}${page === undefined ? '' : `, p. ${page}`}${url === undefined ? '' : ` <${url}>`}`,
    );
  const list = lines.length === 0 ? '' : `\n\n## ${heading}\n\n${lines.join('\n')}`;
  return `# ${plain(title)}\n\n${report}${list}\n`;
}

/** Makes the file. @throws EngineError DOCUMENT_NOT_WRITTEN */
export async function reportFile(
  final: ResearchFinal,
  format: ReportFormat,
  { threads, signal }: { readonly threads?: Threads | undefined; readonly signal?: AbortSignal } = {},
): Promise<ReportFile> {
  const markdown = reportMarkdown(final);
  if (format === 'md') return { bytes: new TextEncoder().encode(markdown), mimeType: 'text/markdown; charset=utf-8' };
  const { bytes, mimeType } = await convertMarkdown(markdown, {
    format,
    title: plain(final.title).slice(0, 200),
    pageNumbers: true,
    threads,
    ...(signal && { signal }),
  });
  return { bytes, mimeType };
}

/** A text in one line, in which nothing is Markdown of its own. */
function plain(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/([\\`*_[\]<>#|])/g, '\\$1')
    .trim();
}
