/** A log that stays at its end while it grows, unless its reader has scrolled up. */
import { ArrowDown } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { IconButton } from '../parts/button.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './scroll-log.module.css';

const texts = defineTexts({
  en: { down: 'To the newest' },
  zh: { down: '跳到最新' },
});

/** So near to the end counts as at the end, in CSS pixels. */
const NEAR = 48;

export function ScrollLog({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  const words = useTexts(texts);
  const frame = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const [isAtEnd, setIsAtEnd] = useState(true);
  const follows = useRef(true);
  const goDown = () => {
    const element = frame.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  };
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      if (follows.current) goDown();
    });
    if (inside.current !== null) observer.observe(inside.current);
    if (frame.current !== null) observer.observe(frame.current);
    return () => observer.disconnect();
  });
  const scrolled = () => {
    const element = frame.current;
    if (element === null) return;
    follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    setIsAtEnd(follows.current);
  };
  return (
    <div className={style.frame}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls takes the focus */}
      <div ref={frame} role="log" aria-label={label} tabIndex={0} className={style.log} onScroll={scrolled}>
        <div ref={inside} className={style.inside}>
          {children}
        </div>
      </div>
      {!isAtEnd && (
        <IconButton look="plain" label={words.down} className={style.down} onClick={goDown}>
          <ArrowDown size={16} aria-hidden="true" />
        </IconButton>
      )}
    </div>
  );
}
