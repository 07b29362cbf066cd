/** The mark `[n]` in an answer, which opens what it cites. */
import { Popover } from 'radix-ui';
import { ExternalLink } from '../parts/external-link.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './citation.module.css';
import type { CitedSource } from './evidence.js';

const texts = defineTexts({
  en: {
    open: (n: string) => `Evidence ${n}`,
    score: 'score',
    page: (page: number) => `page ${page}`,
    kinds: { kb: 'document', mcp: 'tool', graph: 'knowledge graph', web: 'web' } as Record<string, string>,
  },
  zh: {
    open: (n: string) => `证据 ${n}`,
    score: '得分',
    page: (page: number) => `第 ${page} 页`,
    kinds: { kb: '文档', mcp: '工具', graph: '知识图谱', web: '网页' } as Record<string, string>,
  },
});

/** Characters of a source that are shown. */
const MAX_TEXT = 4_000;

export function CitationMark({ n, evidence }: { readonly n: string; readonly evidence: CitedSource }) {
  const words = useTexts(texts);
  const { source, text, kind, score, url, page } = evidence;
  return (
    <Popover.Root>
      <Popover.Trigger className={style.mark} aria-label={words.open(n)}>
        [{n}]
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className={style.source} sideOffset={4} collisionPadding={8} aria-label={words.open(n)}>
          <h3>
            [{n}] {source}
          </h3>
          <p className={style.about}>
            {words.kinds[kind] ?? kind}
            {page !== undefined && `, ${words.page(page)}`}
            {score !== undefined && `, ${words.score} ${score.toFixed(3)}`}
          </p>
          {url !== undefined && <ExternalLink href={url}>{url}</ExternalLink>}
          <blockquote>{text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} …` : text}</blockquote>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
