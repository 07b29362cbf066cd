/** The mark `[n]` in an answer, which opens what it cites. */
import { Popover } from 'radix-ui';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './citation.module.css';
import type { CitedSource } from './evidence.js';
import { EvidenceView } from './evidence-view.js';

const texts = defineTexts({
  en: { open: (n: string) => `Evidence ${n}` },
  zh: { open: (n: string) => `证据 ${n}` },
});

export function CitationMark({ n, evidence }: { readonly n: string; readonly evidence: CitedSource }) {
  const words = useTexts(texts);
  return (
    <Popover.Root>
      <Popover.Trigger className={style.mark} aria-label={words.open(n)}>
        [{n}]
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className={style.source} sideOffset={4} collisionPadding={8} aria-label={words.open(n)}>
          <EvidenceView n={n} evidence={evidence} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
