/** A report as a file: Markdown with its sources, or what the document writers make of it. */

import { languageOf } from '../../chat/intents/utterance.js';
import { convertMarkdown } from '../../documents/index.js';
import type { Threads } from '../../threads/threads.js';
import type { CitedEvidence, ReportLanguage } from '../evidence/check-report.js';
import type { FoundEvidence } from '../evidence/evidence-table.js';
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

/** How a report is made a file. */
export interface ReportFileOptions {
  /** Address of the studio, such as `http://localhost:9380/`, where passages of datasets are read. @default they have no links */
  readonly studio?: string | undefined;
  readonly threads?: Threads | undefined;
  readonly signal?: AbortSignal;
}

/** The report with its title, and its sources as a list in the order of their numbers. */
export function reportMarkdown({ title, report, sources }: ResearchFinal): string {
  return withSources(title, report, sources, (source) => `[${source.n}] ${nameOf(source)}`);
}

/** The same with links: citations lead to their entries in the list, and entries to what was read. */
function linkedMarkdown({ title, report, sources }: ResearchFinal, studio: string | undefined): string {
  const known = new Set(sources.map(({ n }) => n));
  const linked = report.replaceAll(MARK, (mark: string, _: string | undefined, digits: string | undefined) => {
    const n = Number(digits);
    return known.has(n) ? `[\\[${n}\\]](#${anchorOf(n)})` : mark;
  });
  return withSources(title, linked, sources, (source) => {
    const address = passageAddress(source, studio);
    const name = address === undefined ? nameOf(source) : `[${nameOf(source)}](<${address}>)`;
    return `\\[${source.n}\\] <!-- anchor: ${anchorOf(source.n)} -->${name}`;
  });
}

/** A citation that is no link yet; or code, in which there are none. */
const MARK = /(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)|(?<!\\)\[(\d{1,3})\](?![(:])/g;

function withSources(
  title: string,
  report: string,
  sources: readonly CitedEvidence[],
  entryOf: (source: CitedEvidence) => string,
): string {
  const heading = SOURCES[languageOf(title)];
  const lines = [...sources]
    .sort((a, b) => a.n - b.n)
    .map((source) => `- ${entryOf(source)}${source.url === undefined ? '' : ` <${source.url}>`}`);
  const list = lines.length === 0 ? '' : `\n\n## ${heading}\n\n${lines.join('\n')}`;
  return `# ${plain(title)}\n\n${report}${list}\n`;
}

function nameOf({ source, page }: CitedEvidence): string {
  return `${plain(source)}${page === undefined ? '' : `, p. ${page}`}`;
}

function anchorOf(n: number): string {
  return `source_${n}`;
}

/**
 * Where a source is read as it was read: a passage in the studio, on the page of its document, and a page of the web at its address. Undefined for what a tool
 * gave, which is nowhere else.
 *
 * @param studio its address, with a slash at the end
 */
export function passageAddress(
  { id, dataset_id, document_id, url }: FoundEvidence,
  studio: string | undefined,
): string | undefined {
  if (dataset_id === undefined || document_id === undefined || studio === undefined) {
    // What stands between < and > has none of these.
    return url === undefined || !URL.canParse(url)
      ? undefined
      : new URL(url).href.replaceAll(/[<>]/g, encodeURIComponent);
  }
  const path = `datasets/${encodeURIComponent(dataset_id)}/documents/${encodeURIComponent(document_id)}`;
  return `${studio}#/${path}?chunk=${encodeURIComponent(id)}`;
}

/** Makes the file. @throws EngineError DOCUMENT_NOT_WRITTEN */
export async function reportFile(
  final: ResearchFinal,
  format: ReportFormat,
  { studio, threads, signal }: ReportFileOptions = {},
): Promise<ReportFile> {
  if (format === 'md') {
    return { bytes: new TextEncoder().encode(reportMarkdown(final)), mimeType: 'text/markdown; charset=utf-8' };
  }
  const { bytes, mimeType } = await convertMarkdown(linkedMarkdown(final, studio), {
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
