/** What a run said and did, as it comes. */
import { memo, type ReactNode, useCallback, useMemo } from 'react';
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import { Markdown } from '../parts/markdown.js';
import style from './answer.module.css';
import { CitationMark } from './citation.js';
import { citedOf } from './evidence.js';
import { Thinking } from './thinking.js';
import { ToolCard } from './tool-card.js';
import { type Speaks, transcriptOf } from './transcript.js';

interface AnswerViewProps {
  readonly picture: RunPicture;
  /** Whether the text of a node is told to the user. @default of all nodes */
  readonly speaks?: Speaks | undefined;
}

export function AnswerView({ picture, speaks }: AnswerViewProps) {
  const items = useMemo(() => transcriptOf(picture, speaks), [picture, speaks]);
  const cited = useMemo(() => citedOf(picture), [picture]);
  const isAtWork = picture.status === 'running' || picture.status === 'stopping';
  const citation = useCallback(
    (n: string, key: string): ReactNode | undefined => {
      const evidence = cited.get(n);
      return evidence === undefined ? undefined : <CitationMark key={key} n={n} evidence={evidence} />;
    },
    [cited],
  );
  return items.map((item) => {
    if (item.kind === 'call') return <ToolCard key={item.key} item={item} isAtWork={isAtWork} />;
    const { text, isOpen } = item.part;
    if (item.kind === 'text')
      return <Said key={item.key} text={text} citation={cited.size === 0 ? undefined : citation} />;
    return <Thinking key={item.key} part={item.part} isOpen={isOpen && isAtWork} />;
  });
}

interface SaidProps {
  readonly text: string;
  readonly citation: ((n: string, key: string) => ReactNode | undefined) | undefined;
}

/** Drawn again only when its text grew. */
export const Said = memo(function Said({ text, citation }: SaidProps) {
  return (
    <div className={style.said}>
      <Markdown text={text} citation={citation} />
    </div>
  );
});
