/** A log that stays at its end while it grows, unless its reader has scrolled up. */
import { ArrowDown } from 'lucide-react';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { IconButton } from '../parts/button.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './scroll-log.module.css';

const texts = defineTexts({
  en: { down: 'To the newest' },
  zh: { down: '跳到最新' },
});

/** So near to the end counts as at the end, in CSS pixels. */
const NEAR = 48;

export interface ScrollLogProps {
  readonly label: string;
  /** When it changes, the log goes to its end, such as with what its reader sent. */
  readonly goesDownWith: unknown;
  readonly children: ReactNode;
}

export function ScrollLog({ label, goesDownWith, children }: ScrollLogProps) {
  const words = useTexts(texts);
  const frame = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const [isAtEnd, setIsAtEnd] = useState(true);
  const follows = useRef(true);
  const lastTop = useRef(0);
  const goDown = useCallback(() => {
    const element = frame.current;
    follows.current = true;
    if (element !== null) element.scrollTop = element.scrollHeight;
  }, []);
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      if (follows.current) goDown();
    });
    if (inside.current !== null) observer.observe(inside.current);
    if (frame.current !== null) observer.observe(frame.current);
    return () => observer.disconnect();
  }, [goDown]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: that it changed is the reason
  useEffect(goDown, [goesDownWith]);
  const scrolled = () => {
    const element = frame.current;
    if (element === null) return;
    const { scrollTop, scrollHeight, clientHeight } = element;
    // What was written since the log last went down is no wish of its reader; going up is.
    if (scrollHeight - scrollTop - clientHeight < NEAR) follows.current = true;
    else if (scrollTop < lastTop.current) follows.current = false;
    lastTop.current = scrollTop;
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
