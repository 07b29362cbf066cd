/** The lines of a trace over time. Only those in sight are drawn, however many there are. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { useTexts } from '../shell/texts.js';
import { type Strip, type TimeWindow, xOf } from './draw-bars.js';
import { rowHeight } from './row-sizes.js';
import { TimeAxis } from './time-axis.js';
import type { TraceBar } from './trace-bars.js';
import type { TraceRow } from './trace-rows.js';
import { traceTexts } from './trace-texts.js';
import { useWidth } from './use-width.js';
import style from './waterfall.module.css';
import { WaterfallRow } from './waterfall-row.js';

export interface WaterfallProps {
  readonly rows: readonly TraceRow[];
  readonly window: TimeWindow;
  /** When the run began, in milliseconds since 1970. */
  readonly startMs: number;
  /** The moment that the scrubber shows. */
  readonly atMs: number | undefined;
  /** Key of the line whose details are shown. */
  readonly chosen: string | undefined;
  /** Id of the node that is marked on the canvas. */
  readonly marked: string | undefined;
  readonly onChoose: (row: TraceRow, bar?: TraceBar) => void;
  readonly onToggle: (row: TraceRow) => void;
  readonly onHover: (row: TraceRow | undefined) => void;
  readonly onSeek: (seq: number) => void;
  /** Called with how much more or less time is to be seen, around a moment. */
  readonly onZoom: (factor: number, aroundMs: number) => void;
}

export function Waterfall(props: WaterfallProps) {
  const { rows, window, startMs, atMs, chosen, marked } = props;
  const words = useTexts(traceTexts);
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const axis = useRef<HTMLDivElement>(null);
  const width = useWidth(axis);
  const { fromMs, toMs } = window;
  const strip = useMemo<Strip>(() => ({ fromMs, toMs, width }), [fromMs, toMs, width]);
  const [cursor, setCursor] = useState<string>();
  const active = Math.max(
    0,
    rows.findIndex(({ key }) => key === (cursor ?? chosen)),
  );
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (at) => rowHeight(rows[at] as TraceRow),
    getItemKey: (at) => (rows[at] as TraceRow).key,
    overscan: 12,
  });
  const goTo = (at: number) => {
    setCursor(rows[at]?.key);
    virtual.scrollToIndex(at);
  };
  useScrollToMarked(rows, marked, chosen, (at) => virtual.scrollToIndex(at));
  useScrollToChosen(rows, chosen, (at) => virtual.scrollToIndex(at));
  const press = (event: KeyboardEvent) => {
    const row = rows[active];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!handleKey(event.key, { ...props, active, row, goTo })) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className={style.waterfall}>
      <div className={style.head} aria-hidden="true">
        <span className={style.headName}>{words.name}</span>
        <div ref={axis} className={style.axis}>
          <TimeAxis strip={strip} startMs={startMs} atMs={atMs} onZoom={props.onZoom} />
        </div>
        <span className={style.number}>{words.time}</span>
        <span className={style.number}>{words.tokens}</span>
      </div>
      <div
        ref={scroller}
        role="treegrid"
        aria-label={words.trace}
        aria-rowcount={rows.length}
        aria-activedescendant={rows.length > 0 ? `${id}${active}` : undefined}
        tabIndex={0}
        className={style.rows}
        onKeyDown={press}
      >
        <div role="presentation" className={style.all} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const row = rows[index] as TraceRow;
            return (
              <WaterfallRow
                key={key}
                id={`${id}${index}`}
                row={row}
                top={start}
                strip={strip}
                startMs={startMs}
                cursorX={atMs === undefined ? undefined : xOf(atMs, strip)}
                isActive={index === active}
                isChosen={row.key === chosen}
                isMarked={row.kind === 'node' && row.node.id === marked}
                onChoose={props.onChoose}
                onToggle={props.onToggle}
                onHover={props.onHover}
                onSeek={props.onSeek}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface KeyTarget extends Pick<WaterfallProps, 'onChoose' | 'onToggle'> {
  readonly rows: readonly TraceRow[];
  readonly active: number;
  readonly row: TraceRow;
  readonly goTo: (at: number) => void;
}

const PAGE = 12;

/** Gives whether the key means something here. */
function handleKey(key: string, { rows, active, row, goTo, onChoose, onToggle }: KeyTarget): boolean {
  const last = rows.length - 1;
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };
  const step = steps[key];
  if (step !== undefined) goTo(Math.min(last, Math.max(0, active + step)));
  else if (key === 'Home' || key === 'End') goTo(key === 'Home' ? 0 : last);
  else if (key === 'Enter' || key === ' ') onChoose(row);
  else if (key === 'ArrowRight') {
    if (row.inside > 0 && !row.isOpen) onToggle(row);
    else goTo(Math.min(last, active + 1));
  } else if (key === 'ArrowLeft') {
    if (row.isOpen) onToggle(row);
    else
      goTo(
        Math.max(
          0,
          rows.findLastIndex(({ level }, at) => at < active && level < row.level),
        ),
      );
  } else return false;
  return true;
}

/** Brings the chosen line into sight once it is there; a line that is in sight stays where it is. */
function useScrollToChosen(
  rows: readonly TraceRow[],
  chosen: string | undefined,
  scrollTo: (at: number) => void,
): void {
  const at = chosen === undefined ? -1 : rows.findIndex(({ key }) => key === chosen);
  const newest = useRef({ at, scrollTo });
  useEffect(() => {
    newest.current = { at, scrollTo };
  });
  const isThere = at >= 0;
  useEffect(() => {
    if (chosen !== undefined && isThere) newest.current.scrollTo(newest.current.at);
  }, [chosen, isThere]);
}

/** Brings the first line of a node into sight when it is chosen on the canvas. */
function useScrollToMarked(
  rows: readonly TraceRow[],
  marked: string | undefined,
  chosen: string | undefined,
  scrollTo: (at: number) => void,
): void {
  const newest = useRef({ rows, chosen, scrollTo });
  useEffect(() => {
    newest.current = { rows, chosen, scrollTo };
  });
  useEffect(() => {
    const { rows: lines, chosen: key, scrollTo: scroll } = newest.current;
    const isChosen = (row: TraceRow) => row.key === key && row.node.id === marked;
    if (marked === undefined || lines.some(isChosen)) return;
    const at = lines.findIndex(({ kind, node }) => kind === 'node' && node.id === marked);
    if (at >= 0) scroll(at);
  }, [marked]);
}
