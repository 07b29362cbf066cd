// biome-ignore-all lint/a11y/useSemanticElements: elements of tables cannot be placed one by one, as lines of a long list are
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid around has the focus, and says which line is active
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the grid around has the keys
// biome-ignore-all lint/a11y/noStaticElementInteractions: bars and marks are there for pointers; lines and scrubber have the same by keyboard
/** One line of the waterfall: its name, its bars in time, its sums. */
import { Bot, ChevronDown, ChevronRight, Cpu, Wrench } from 'lucide-react';
import { type MouseEvent, memo, useMemo } from 'react';
import { formatMs } from '../../src/canvas/timeline-rows.js';
import { useTexts } from '../shell/texts.js';
import { drawnBars, drawnMarks, type Strip } from './draw-bars.js';
import { LANE_HEIGHT, laneTop, rowHeight } from './row-sizes.js';
import { StatusTag } from './status-tag.js';
import { statusTexts, toneOf } from './statuses.js';
import type { TraceBar } from './trace-bars.js';
import type { TraceRow } from './trace-rows.js';
import { traceTexts } from './trace-texts.js';
import style from './waterfall.module.css';

const SIGNS = { model: Cpu, tool: Wrench, agent: Bot } as const;

export interface WaterfallRowProps {
  readonly id: string;
  readonly row: TraceRow;
  readonly top: number;
  readonly strip: Strip;
  readonly startMs: number;
  /** Where the moment lies that the scrubber shows, in CSS pixels. */
  readonly cursorX: number | undefined;
  /** It has the cursor of the keyboard. */
  readonly isActive: boolean;
  /** Its details are shown, or its node is selected on the canvas. */
  readonly isChosen: boolean;
  readonly isMarked: boolean;
  readonly onChoose: (row: TraceRow, bar?: TraceBar) => void;
  readonly onToggle: (row: TraceRow) => void;
  readonly onHover: (row: TraceRow | undefined) => void;
  readonly onSeek: (seq: number) => void;
}

export const WaterfallRow = memo(function WaterfallRow(props: WaterfallRowProps) {
  const { id, row, top, isActive, isChosen, isMarked, onChoose, onToggle, onHover } = props;
  const words = useTexts(traceTexts);
  const { level, inside, isOpen, kind, status, busyMs, tokens } = row;
  const Sign = kind === 'model' || kind === 'tool' || kind === 'agent' ? SIGNS[kind] : undefined;
  const look = [style.row, isActive && style.active, isChosen && style.chosen, isMarked && style.marked];
  return (
    <div
      role="row"
      id={id}
      aria-level={level}
      aria-expanded={inside > 0 ? isOpen : undefined}
      aria-selected={isChosen}
      className={look.filter(Boolean).join(' ')}
      style={{ transform: `translateY(${top}px)`, height: rowHeight(row) }}
      onClick={() => onChoose(row)}
      onMouseEnter={() => onHover(row)}
      onMouseLeave={() => onHover(undefined)}
    >
      <span role="rowheader" className={style.name} style={{ paddingLeft: 4 + 14 * Math.min(10, level - 1) }}>
        <FoldButton row={row} onToggle={onToggle} />
        <StatusTag status={status} isSmall />
        {Sign !== undefined && <Sign size={13} aria-hidden="true" className={style.sign} />}
        <span className={kind === 'node' ? style.node : style.part} title={row.node.id}>
          {words.label(row)}
        </span>
      </span>
      <RowBars {...props} />
      <span role="gridcell" className={style.number}>
        {formatMs(busyMs)}
      </span>
      <span role="gridcell" className={style.number}>
        {tokens > 0 ? tokens.toLocaleString() : <span className="unseen">0</span>}
      </span>
    </div>
  );
});

function FoldButton({ row, onToggle }: Pick<WaterfallRowProps, 'row' | 'onToggle'>) {
  const words = useTexts(traceTexts);
  const { inside, isOpen } = row;
  if (inside === 0) return <span className={style.fold} />;
  const press = (event: MouseEvent) => {
    event.stopPropagation();
    onToggle(row);
  };
  return (
    <button
      type="button"
      tabIndex={-1}
      className={style.fold}
      aria-label={isOpen ? words.fold : words.unfold}
      onClick={press}
    >
      {isOpen ? <ChevronDown size={14} /> : <ChevronRight size={14} />}
    </button>
  );
}

/** Characters of the labels of bars are about so wide. */
const LABEL_PX = 6.5;

function RowBars({ row, strip, startMs, cursorX, onChoose, onSeek }: WaterfallRowProps) {
  const words = useTexts(traceTexts);
  const states = useTexts(statusTexts);
  const lanes = useMemo(() => row.lanes.map((lane) => drawnBars(lane, strip)), [row.lanes, strip]);
  const nameOf = ({ label }: TraceBar) =>
    label === undefined || label === '' ? '' : words.label({ kind: row.hasPasses === true ? 'pass' : 'node', label });
  const told = (bar: TraceBar, count: number) => {
    const parts = [
      nameOf(bar),
      count > 1 ? words.several(count) : states[bar.status],
      words.after(formatMs(bar.fromMs - startMs)),
      formatMs(bar.toMs - bar.fromMs),
    ];
    return parts.filter((part) => part !== '').join(', ');
  };
  const bars = row.lanes.flat();
  const [first] = bars;
  const summary = first === undefined ? '' : told({ ...first, ...(bars.length > 1 && { label: '' }) }, bars.length);
  return (
    <span role="gridcell" aria-label={summary} className={style.bars}>
      <svg width={strip.width} height={rowHeight(row)} aria-hidden="true" focusable="false">
        {lanes.map((drawn, lane) =>
          drawn.map(({ x, width, status, count, bar }) => (
            <g
              key={bar.seq}
              className={style[toneOf(status)]}
              onClick={(event) => {
                event.stopPropagation();
                onChoose(row, bar);
              }}
            >
              <title>{told(bar, count)}</title>
              <rect className={style.bar} x={x} y={laneTop(lane)} width={width} height={LANE_HEIGHT} rx={2} />
              {count === 1 && <BarLabel x={x} width={width} lane={lane} label={nameOf(bar)} />}
              {count === 1 && bar.call === undefined && row.hasPasses !== true && (
                <BarMarks bar={bar} lane={lane} width={width} strip={strip} startMs={startMs} onSeek={onSeek} />
              )}
            </g>
          )),
        )}
        {cursorX !== undefined && (
          <line className={style.cursor} x1={cursorX} x2={cursorX} y1={0} y2={rowHeight(row)} />
        )}
      </svg>
    </span>
  );
}

interface BarLabelProps {
  readonly x: number;
  readonly width: number;
  readonly lane: number;
  readonly label: string;
}

function BarLabel({ x, width, lane, label }: BarLabelProps) {
  if (label === '' || label.length * LABEL_PX + 8 > width) return null;
  return (
    <text x={Math.max(0, x) + 4} y={laneTop(lane) + LANE_HEIGHT - 4} className={style.label}>
      {label}
    </text>
  );
}

interface BarMarksProps extends Pick<WaterfallRowProps, 'strip' | 'startMs' | 'onSeek'> {
  readonly bar: TraceBar;
  readonly lane: number;
  readonly width: number;
}

function BarMarks({ bar: { activation }, lane, width, strip, startMs, onSeek }: BarMarksProps) {
  const words = useTexts(traceTexts);
  if (activation === undefined) return null;
  return drawnMarks(activation, width, strip).map(({ x, kind, seq, atMs, pieces, characters }) => (
    <g
      key={seq}
      className={style.mark}
      onClick={(event) => {
        event.stopPropagation();
        onSeek(seq);
      }}
    >
      <title>{`${words.mark[kind]}, ${words.after(formatMs(atMs - startMs))}${words.pieces(pieces, characters)}`}</title>
      <rect x={x - 3} y={laneTop(lane) - 2} width={7} height={LANE_HEIGHT + 4} className={style.reach} />
      <rect x={x} y={laneTop(lane) + 2} width={kind === 'thinking' ? 1 : 2} height={LANE_HEIGHT - 4} />
    </g>
  ));
}
