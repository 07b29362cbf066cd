/** What a tool gave, as evidence of a research. */
import type { Json, JsonObject } from '../../json.js';
import type { ToolResult } from '../../tools/tool.js';
import { keyOf } from '../calls/ask-call.js';
import { FOUND_AT_ONCE } from '../deep/looks.js';
import { canonicalAddress } from '../evidence/canonical-address.js';
import { HeldWords } from '../evidence/check-statement.js';
import type { FoundEvidence } from '../evidence/evidence-table.js';
import { piecesOf } from './text-pieces.js';

/** What was called. */
export interface CalledTool {
  /** Its title, as a reader knows it. */
  readonly title: string;
  readonly args: JsonObject;
  /** Whether all that it says are the passages that it found. */
  readonly isSearch: boolean;
}

/** UTF-16 units of a text that is read, and of the name of a source. */
const MAX_TEXT = 100_000;
const MAX_SOURCE = 120;

/** The pieces of its text that fit the question best, and the passages that it found; both in the order in which they should be read. */
export function evidenceOfTool(result: ToolResult, tool: CalledTool, question: string): readonly FoundEvidence[] {
  const passages = passagesOf(result, tool);
  const pieces = tool.isSearch && passages.length > 0 ? [] : textPieces(result.text, tool, question);
  return [...pieces, ...passages].slice(0, FOUND_AT_ONCE);
}

function textPieces(text: string, tool: CalledTool, question: string): readonly FoundEvidence[] {
  const source = sourceOf(tool);
  return piecesOf(text.slice(0, MAX_TEXT))
    .map((piece) => ({ piece, share: new HeldWords([piece]).shareOf(question) }))
    .sort((a, b) => b.share - a.share)
    .map(({ piece }) => {
      const id = keyOf('tool', { source, piece });
      return { id, where: 'tool', source, text: piece, score: 1 };
    });
}

/** The tool with what it was asked, in one line. */
function sourceOf({ title, args }: CalledTool): string {
  const asked = Object.entries(args)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
  const source = asked === '' ? title : `${title} (${asked})`;
  return source.replaceAll(/\s+/g, ' ').slice(0, MAX_SOURCE);
}

/** Passages that a tool found: pages of the web by their address, those of datasets by their place. */
function passagesOf({ references }: ToolResult, { title }: CalledTool): readonly FoundEvidence[] {
  return Object.values(references?.chunks ?? {}).flatMap((chunk): FoundEvidence[] => {
    const [id, text, url] = [chunk.id, chunk.content, chunk.url].map(textIn) as [string, string, string];
    const [documentId, datasetId] = [chunk.document_id, chunk.dataset_id].map(textIn) as [string, string];
    if (text === '') return [];
    const score = typeof chunk.similarity === 'number' ? chunk.similarity : 0.5;
    const source = textIn(chunk.document_name) || url || title;
    if (datasetId !== '') {
      const page = firstPage(chunk.positions);
      const about = { document_id: documentId, dataset_id: datasetId, ...(page !== undefined && { page }) };
      return [{ id, where: 'kb', source, text, score, ...about, ...(url !== '' && { url }) }];
    }
    if (url !== '') return [{ id: canonicalAddress(url), where: 'web', source, text, score, url }];
    return [{ id: keyOf('tool', { source, text }), where: 'tool', source, text, score }];
  });
}

/** The pages that a search of the web found. */
export function webPagesOf(result: ToolResult): readonly FoundEvidence[] {
  const found = passagesOf(result, { title: '', args: {}, isSearch: true });
  return found.filter(({ where }) => where === 'web');
}

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function firstPage(positions: Json | undefined): number | undefined {
  const [first] = Array.isArray(positions) ? (positions as readonly Json[]) : [];
  const page = Array.isArray(first) ? (first as readonly Json[])[0] : undefined;
  return typeof page === 'number' ? page : undefined;
}
