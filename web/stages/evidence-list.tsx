/** What an answer rests on, folded: each source as the answer cites it. */
import { useMemo } from 'react';
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import { citedOf } from '../chat/evidence.js';
import { EvidenceView } from '../chat/evidence-view.js';
import { useTexts } from '../shell/texts.js';
import style from './stages.module.css';
import { stagesTexts } from './stages-texts.js';

export function EvidenceList({ picture }: { readonly picture: RunPicture }) {
  const words = useTexts(stagesTexts);
  const cited = useMemo(() => [...citedOf(picture)], [picture]);
  if (cited.length === 0) return null;
  return (
    <details className={style.evidence}>
      <summary>{words.evidence(cited.length)}</summary>
      <ol>
        {cited.map(([n, evidence]) => (
          <li key={n} aria-label={words.item(Number(n))}>
            <EvidenceView n={n} evidence={evidence} />
          </li>
        ))}
      </ol>
    </details>
  );
}
