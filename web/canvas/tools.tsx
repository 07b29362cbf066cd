/** Zoom, the whole canvas, and a tidy layout. */
import { type FitViewOptions, Panel, useReactFlow, useStore } from '@xyflow/react';
import { Maximize, Minus, Plus, Wand2 } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { IconButton } from '../parts/button.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './tools.module.css';

const texts = defineTexts({
  en: {
    larger: 'Zoom in',
    smaller: 'Zoom out',
    fit: 'Show all',
    tidy: 'Tidy',
    untidy: 'Back to the places of the file',
    zoom: (percent: number) => `${percent} %`,
  },
  zh: {
    larger: '放大',
    smaller: '缩小',
    fit: '显示全部',
    tidy: '整理布局',
    untidy: '恢复文件中的位置',
    zoom: (percent: number) => `${percent} %`,
  },
});

interface ToolsProps {
  readonly isTidied: boolean;
  readonly onTidy: (isTidied: boolean) => void;
  readonly fit: FitViewOptions;
}

export function Tools({ isTidied, onTidy, fit }: ToolsProps) {
  const words = useTexts(texts);
  const { zoomIn, zoomOut, fitView } = useReactFlow();
  const before = useRef(isTidied);
  useEffect(() => {
    if (before.current === isTidied) return;
    before.current = isTidied;
    void fitView(fit);
  }, [isTidied, fitView, fit]);
  return (
    <Panel position="bottom-left" className={style.tools}>
      <IconButton label={words.smaller} onClick={() => void zoomOut()}>
        <Minus size={16} aria-hidden="true" />
      </IconButton>
      <Zoom />
      <IconButton label={words.larger} onClick={() => void zoomIn()}>
        <Plus size={16} aria-hidden="true" />
      </IconButton>
      <IconButton label={words.fit} onClick={() => void fitView(fit)}>
        <Maximize size={16} aria-hidden="true" />
      </IconButton>
      <IconButton
        label={isTidied ? words.untidy : words.tidy}
        aria-pressed={isTidied}
        onClick={() => onTidy(!isTidied)}
      >
        <Wand2 size={16} aria-hidden="true" />
      </IconButton>
    </Panel>
  );
}

function Zoom() {
  const words = useTexts(texts);
  const percent = useStore(({ transform }) => Math.round(transform[2] * 100));
  return <span className={style.zoom}>{words.zoom(percent)}</span>;
}
