/** The drawing of a graph, with its buttons; all that it shows stands in the list beside it as well. */
import { Maximize, ZoomIn, ZoomOut } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { IconButton } from '../parts/button.js';
import { useChoices } from '../shell/studio.js';
import { useTexts } from '../shell/texts.js';
import { drawGraph, type GraphDrawing } from './draw-graph.js';
import style from './drawing.module.css';
import type { DrawnPart } from './drawn-part.js';
import { graphTexts } from './graph-texts.js';

export interface DrawingProps {
  readonly part: DrawnPart;
  readonly chosen: string | undefined;
  /** The same function from one drawing to the next. */
  readonly onChoose: (id: string) => void;
}

export function Drawing({ part, chosen, onChoose }: DrawingProps) {
  const words = useTexts(graphTexts);
  const { theme } = useChoices();
  const element = useRef<HTMLDivElement>(null);
  const drawing = useRef<GraphDrawing>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are those of the theme
  useEffect(() => {
    if (element.current === null) return undefined;
    const colours = getComputedStyle(document.documentElement);
    const opened = drawGraph(element.current, part, {
      onChoose,
      colour: (name) => colours.getPropertyValue(name).trim(),
    });
    drawing.current = opened;
    return () => {
      drawing.current = undefined;
      opened.close();
    };
  }, [part, onChoose, theme]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new drawing knows of no choice
  useEffect(() => drawing.current?.choose(chosen), [chosen, part, theme]);
  return (
    <div className={style.frame}>
      <div ref={element} className={style.drawing} role="img" aria-label={words.drawing(part.nodes.length)} />
      <div className={style.buttons} role="toolbar" aria-label={words.view}>
        <IconButton label={words.zoomIn} onClick={() => drawing.current?.zoom('in')}>
          <ZoomIn size={16} aria-hidden="true" />
        </IconButton>
        <IconButton label={words.zoomOut} onClick={() => drawing.current?.zoom('out')}>
          <ZoomOut size={16} aria-hidden="true" />
        </IconButton>
        <IconButton label={words.zoomAll} onClick={() => drawing.current?.zoom('all')}>
          <Maximize size={16} aria-hidden="true" />
        </IconButton>
      </div>
    </div>
  );
}
