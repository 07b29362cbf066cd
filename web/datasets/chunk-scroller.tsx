/** Chunks in their order. Only those in sight are drawn. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { useTexts } from '../shell/texts.js';
import { ChunkCard } from './chunk-card.js';
import type { ChunkItem } from './chunk-data.js';
import { chunksTexts } from './chunks-texts.js';
import style from './document-page.module.css';

/** Height of a chunk before it is drawn, in CSS pixels. */
const GUESSED_HEIGHT = 180;

interface ChunkScrollerProps {
  /** Path of their document. */
  readonly path: string;
  readonly dataset: string;
  readonly chunks: readonly ChunkItem[];
  /** Number of the first one. */
  readonly first: number;
}

export function ChunkScroller({ path, dataset, chunks, first }: ChunkScrollerProps) {
  const words = useTexts(chunksTexts);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: chunks.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => GUESSED_HEIGHT,
    getItemKey: (at) => (chunks[at] as ChunkItem).id,
    overscan: 4,
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls takes the focus
    <section ref={scroller} className={style.scroller} aria-label={words.list} tabIndex={0}>
      <ol className={style.all} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => (
          <li
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            className={style.row}
            style={{ transform: `translateY(${start}px)` }}
            aria-setsize={chunks.length}
            aria-posinset={index + 1}
          >
            <ChunkCard path={path} dataset={dataset} chunk={chunks[index] as ChunkItem} number={first + index} />
          </li>
        ))}
      </ol>
    </section>
  );
}
