/** A passage or page that was read: its source, which opens it, and its words. */
import { Ban } from 'lucide-react';
import type { ResearchEvidence } from '../../../src/research/evidence/evidence-table.js';
import { Button } from '../../parts/button.js';
import { ExternalLink } from '../../parts/external-link.js';
import { useTexts } from '../../shell/texts.js';
import { passageAddress } from '../report/cited.js';
import style from '../research.module.css';
import { treeTexts } from './tree-texts.js';

/** Characters of a text that are shown. */
const MAX_TEXT = 1_200;

export interface EvidenceItemProps {
  readonly evidence: ResearchEvidence;
  /** An answer stands on it. @default false */
  readonly isSupport?: boolean;
  /** Leaves its source out from now on. @default it cannot be left out */
  readonly onExclude?: ((source: string) => void) | undefined;
}

export function EvidenceItem({ evidence, isSupport = false, onExclude }: EvidenceItemProps) {
  const words = useTexts(treeTexts);
  const { source, text, where, url, date, document_id: document, page } = evidence;
  const passage = passageAddress(evidence);
  return (
    <div className={style.evidence}>
      <p className={style.facts}>
        <span>{words.places[where] ?? where}</span>
        {passage !== undefined && (
          <a href={`#${passage}`} title={words.open}>
            {source}
          </a>
        )}
        {passage === undefined && url !== undefined && <ExternalLink href={url}>{source}</ExternalLink>}
        {passage === undefined && url === undefined && <span>{source}</span>}
        {page !== undefined && <span>{words.page(page)}</span>}
        {date !== undefined && <span>{date}</span>}
        {isSupport && <strong>{words.supports}</strong>}
      </p>
      <blockquote>
        {text.slice(0, MAX_TEXT)}
        {text.length > MAX_TEXT && ' …'}
      </blockquote>
      {onExclude !== undefined && (
        <Button
          look="quiet"
          aria-label={words.excludeNamed(source)}
          onClick={() => onExclude(url ?? document ?? source)}
        >
          <Ban size={14} aria-hidden="true" /> {words.exclude}
        </Button>
      )}
    </div>
  );
}
