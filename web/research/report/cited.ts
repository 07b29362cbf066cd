/** What a research has read, as views of evidence show it. */
import { citableEvidence } from '../../../src/research/deep/fold-research.js';
import type { ResearchEvidence } from '../../../src/research/evidence/evidence-table.js';
import type { CitedSource } from '../../chat/evidence.js';
import { documentAddress } from '../../datasets/dataset-data.js';
import type { ResearchShown } from '../research-picture.js';

/** Kinds by the names that chats have for them. */
const KINDS: Readonly<Record<ResearchEvidence['where'], string>> = {
  kb: 'kb',
  graph: 'graph',
  web: 'web',
  tool: 'mcp',
};

/** The address of a passage in its document, behind `#`; undefined for what is in no dataset. */
export function passageAddress({ id, dataset_id: dataset, document_id: document }: ResearchEvidence) {
  if (typeof dataset !== 'string' || typeof document !== 'string') return undefined;
  return `${documentAddress(dataset, document)}?chunk=${encodeURIComponent(id)}`;
}

export function citedSource(evidence: ResearchEvidence): CitedSource {
  const { id, source, text, where, score, url, page, start, end } = evidence;
  const { dataset_id: dataset, document_id: document } = evidence;
  const chunks = passageAddress(evidence);
  const hasPlace = chunks !== undefined && typeof start === 'number' && typeof end === 'number';
  return {
    source,
    text,
    kind: KINDS[where] ?? where,
    ...(typeof score === 'number' && { score }),
    ...(typeof url === 'string' && { url }),
    ...(typeof page === 'number' && { page }),
    ...(chunks !== undefined && { chunks }),
    ...(hasPlace && { place: { dataset: dataset as string, document: document as string, chunks: [id], start, end } }),
  };
}

/**
 * Sources by the number with which the report cites them. Before the end they are those that a report would have now; none where that is not known: plans order
 * their findings anew, and sources that were left out move the numbers.
 */
export function sourcesOf({
  final,
  picture,
  steers,
}: Pick<ResearchShown, 'final' | 'picture' | 'steers'>): ReadonlyMap<string, ResearchEvidence> {
  if (final !== undefined) return new Map(final.sources.map((one) => [String(one.n), one]));
  if (picture.planned !== undefined || steers.some(({ action }) => action === 'exclude')) return new Map();
  return new Map(citableEvidence(picture, picture.evidence).map((one, at) => [String(at + 1), one]));
}
