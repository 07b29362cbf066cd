/** The mark `[n]` in an answer, which opens what it cites. */
import { Suspense } from 'react';
import { laterPart } from '../parts/later-part.js';
import { LoadingNote } from '../parts/notes.js';
import { Popover } from '../parts/popover.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './citation.module.css';
import type { CitedSource } from './evidence.js';

const EvidenceView = laterPart(async () => (await import('./evidence-view.js')).EvidenceView);

const texts = defineTexts({
  en: { open: (n: string) => `Evidence ${n}` },
  zh: { open: (n: string) => `证据 ${n}` },
});

export function CitationMark({ n, evidence }: { readonly n: string; readonly evidence: CitedSource }) {
  const words = useTexts(texts);
  return (
    <Popover
      label={words.open(n)}
      className={style.source}
      opener={
        <button type="button" className={style.mark} aria-label={words.open(n)}>
          [{n}]
        </button>
      }
    >
      <Suspense fallback={<LoadingNote />}>
        <EvidenceView n={n} evidence={evidence} />
      </Suspense>
    </Popover>
  );
}
