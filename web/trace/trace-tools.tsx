/** Above the waterfall: sums, zoom, folding, the first failure, and the same as a table. */
import { ChevronsDownUp, ChevronsUpDown, Maximize2, Table2, TriangleAlert, ZoomIn, ZoomOut } from 'lucide-react';
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import { formatMs } from '../../src/canvas/timeline-rows.js';
import { Button, IconButton } from '../parts/button.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { useShortcuts } from '../shell/use-shortcuts.js';
import { StatusTag } from './status-tag.js';
import { endOf } from './trace-bars.js';
import style from './trace-panel.module.css';
import type { Trace } from './use-trace.js';

const texts = defineTexts({
  en: {
    keys: 'Trace',
    zoomIn: 'Zoom in',
    zoomOut: 'Zoom out',
    fit: 'Show the whole time',
    left: 'Earlier',
    right: 'Later',
    unfold: 'Unfold all',
    fold: 'Fold all',
    failure: 'First failure',
    table: 'As a table',
    sums: (steps: number, tokens: number, calls: number) =>
      [
        steps === 1 ? '1 step' : `${steps.toLocaleString('en')} steps`,
        ...(tokens > 0
          ? [
              `${tokens.toLocaleString('en')} tokens in ${calls === 1 ? '1 call' : `${calls.toLocaleString('en')} calls`}`,
            ]
          : []),
      ].join(' · '),
  },
  zh: {
    keys: '轨迹',
    zoomIn: '放大',
    zoomOut: '缩小',
    fit: '显示全部时间',
    left: '更早',
    right: '更晚',
    unfold: '全部展开',
    fold: '全部折叠',
    failure: '首个失败',
    table: '以表格显示',
    sums: (steps: number, tokens: number, calls: number) =>
      [
        `${steps.toLocaleString('zh')} 步`,
        ...(tokens > 0 ? [`${calls.toLocaleString('zh')} 次调用共 ${tokens.toLocaleString('zh')} 词元`] : []),
      ].join(' · '),
  },
});

const FACTOR = 1.6;

export interface TraceToolsProps {
  readonly picture: RunPicture;
  readonly trace: Trace;
  readonly isTable: boolean;
  readonly onTable: () => void;
}

export function TraceTools({ picture, trace, isTable, onTable }: TraceToolsProps) {
  const words = useTexts(texts);
  const { isZoomed, failure, zoom, pan, fit, unfoldAll, reveal } = trace;
  const { usage, activations, startedAtMs = 0, elapsedMs = endOf(picture) - startedAtMs, status } = picture;
  useShortcuts(words.keys, [
    { key: '+', label: words.zoomIn, act: () => zoom(1 / FACTOR) },
    { key: '-', label: words.zoomOut, act: () => zoom(FACTOR) },
    { key: '0', label: words.fit, act: fit },
    { key: 'Shift+ArrowLeft', label: words.left, act: () => pan(-0.25) },
    { key: 'Shift+ArrowRight', label: words.right, act: () => pan(0.25) },
    ...(failure === undefined ? [] : [{ key: 'f', label: words.failure, act: () => reveal(failure) }]),
  ]);
  return (
    <div className={style.tools}>
      <StatusTag status={status} />
      <span className={style.sums}>
        <strong>{formatMs(elapsedMs)}</strong> · {words.sums(activations, usage.totalTokens, usage.calls)}
      </span>
      {failure !== undefined && (
        <Button look="danger" className={style.small} onClick={() => reveal(failure)}>
          <TriangleAlert size={14} aria-hidden="true" />
          {words.failure}
        </Button>
      )}
      <span className={style.icons}>
        <IconButton label={words.zoomIn} disabled={isTable} onClick={() => zoom(1 / FACTOR)}>
          <ZoomIn size={16} aria-hidden="true" />
        </IconButton>
        <IconButton label={words.zoomOut} disabled={isTable || !isZoomed} onClick={() => zoom(FACTOR)}>
          <ZoomOut size={16} aria-hidden="true" />
        </IconButton>
        <IconButton label={words.fit} disabled={isTable || !isZoomed} onClick={fit}>
          <Maximize2 size={15} aria-hidden="true" />
        </IconButton>
        <IconButton label={words.unfold} disabled={isTable} onClick={() => unfoldAll(true)}>
          <ChevronsUpDown size={16} aria-hidden="true" />
        </IconButton>
        <IconButton label={words.fold} disabled={isTable} onClick={() => unfoldAll(false)}>
          <ChevronsDownUp size={16} aria-hidden="true" />
        </IconButton>
        <IconButton label={words.table} aria-pressed={isTable} onClick={onTable}>
          <Table2 size={16} aria-hidden="true" />
        </IconButton>
      </span>
    </div>
  );
}
