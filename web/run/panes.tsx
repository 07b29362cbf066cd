/** Two panes with a border between them that is moved by pointer or keyboard; on narrow screens only the second. */
import { type CSSProperties, type KeyboardEvent, type PointerEvent, type ReactNode, useRef, useState } from 'react';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './panes.module.css';

const texts = defineTexts({
  en: { border: 'Width of the run panel' },
  zh: { border: '运行面板的宽度' },
});

/** Widths of the side pane, in CSS pixels. */
const LEAST = 320;
const MOST = 900;
const USUAL = 420;
const STEP = 24;

export interface PanesProps {
  /** Under which the width is kept on this device. */
  readonly name: string;
  readonly main: ReactNode;
  readonly side: ReactNode;
}

export function Panes({ name, main, side }: PanesProps) {
  const words = useTexts(texts);
  const [width, setWidth] = useState(() => bounded(Number(localStorage.getItem(name)) || USUAL));
  const frame = useRef<HTMLDivElement>(null);
  const change = (wanted: number) => {
    const next = bounded(wanted);
    setWidth(next);
    localStorage.setItem(name, String(next));
  };
  const move = (event: PointerEvent<HTMLDivElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const { right = 0 } = frame.current?.getBoundingClientRect() ?? {};
    change(right - event.clientX);
  };
  const press = ({ key }: KeyboardEvent) => {
    const wanted = { ArrowLeft: width + STEP, ArrowRight: width - STEP, Home: MOST, End: LEAST }[key];
    if (wanted !== undefined) change(wanted);
  };
  return (
    <div ref={frame} className={style.panes} style={{ '--side': `${width}px` } as CSSProperties}>
      <div className={style.main}>{main}</div>
      {/* biome-ignore lint/a11y/useSemanticElements: a rule that can be moved is a separator with a value */}
      <div
        role="separator"
        aria-orientation="vertical"
        aria-label={words.border}
        aria-valuenow={width}
        aria-valuemin={LEAST}
        aria-valuemax={MOST}
        tabIndex={0}
        className={style.border}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={move}
        onDoubleClick={() => change(USUAL)}
        onKeyDown={press}
      />
      <div className={style.side}>{side}</div>
    </div>
  );
}

const bounded = (width: number): number => Math.round(Math.min(MOST, Math.max(LEAST, width)));
