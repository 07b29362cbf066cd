/** Where bars and marks lie in a strip of pixels; what is too small to be told apart becomes one block. */
import type { ActivationPicture, ActivationStatus, Emission } from '../../src/canvas/picture/picture.js';
import { tickStepOf } from '../../src/canvas/timeline-rows.js';
import { type TraceBar, worse } from './trace-bars.js';

/** The part of time that is shown, in milliseconds since 1970. */
export interface TimeWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A strip: what it shows, and how wide it is in CSS pixels. */
export interface Strip extends TimeWindow {
  readonly width: number;
}

/** A bar as it is drawn; several that are too small are one. */
export interface DrawnBar {
  readonly x: number;
  readonly width: number;
  readonly status: ActivationStatus;
  /** How many bars it stands for. */
  readonly count: number;
  /** The bar, or the first one. */
  readonly bar: TraceBar;
}

/** A mark: something came at this moment. */
export interface DrawnMark {
  readonly x: number;
  readonly kind: Emission['kind'];
  /** Number of the event that it stands for. */
  readonly seq: number;
  readonly atMs: number;
  readonly pieces: number;
  readonly characters: number;
}

/** Bars narrower than this are drawn so wide; those of them that touch are one. */
const LEAST_PX = 3;
/** Bars narrower than this have no marks. */
const MARKED_PX = 12;
/** Marks nearer to each other than this are one. */
const MARK_PX = 3;

export function xOf(atMs: number, { fromMs, toMs, width }: Strip): number {
  return ((atMs - fromMs) / Math.max(1, toMs - fromMs)) * width;
}

/** The bars of a lane that lie in the strip, in order. */
export function drawnBars(lane: readonly TraceBar[], strip: Strip): readonly DrawnBar[] {
  const drawn: DrawnBar[] = [];
  for (const bar of lane) {
    if (bar.toMs < strip.fromMs) continue;
    if (bar.fromMs > strip.toMs) break;
    const x = Math.max(-2, xOf(bar.fromMs, strip));
    const width = Math.max(LEAST_PX, Math.min(strip.width + 2, xOf(bar.toMs, strip)) - x);
    const last = drawn.at(-1);
    const isCrowded = last !== undefined && width <= LEAST_PX && x < last.x + last.width && last.width < strip.width;
    if (!isCrowded || (last.count === 1 && last.width > LEAST_PX)) {
      drawn.push({ x, width, status: bar.status, count: 1, bar });
      continue;
    }
    const wider = Math.max(last.width, x + width - last.x);
    drawn[drawn.length - 1] = { ...last, width: wider, status: worse(last.status, bar.status), count: last.count + 1 };
  }
  return drawn;
}

/** Marks of what an activation emitted, where its bar has room for them. */
export function drawnMarks({ emissions }: ActivationPicture, barWidth: number, strip: Strip): readonly DrawnMark[] {
  if (barWidth < MARKED_PX) return [];
  const marks: DrawnMark[] = [];
  for (const { kind, fromSeq, atMs, pieces, characters } of emissions) {
    if (atMs < strip.fromMs || atMs > strip.toMs) continue;
    const x = xOf(atMs, strip);
    const last = marks.at(-1);
    if (last !== undefined && x - last.x < MARK_PX) continue;
    marks.push({ x, kind, seq: fromSeq, atMs, pieces, characters });
  }
  return marks;
}

/** Round times in the strip, in milliseconds since `startMs`. */
export function ticksIn({ fromMs, toMs, width }: Strip, startMs: number): readonly number[] {
  const step = tickStepOf(Math.max(1, toMs - fromMs), Math.max(1, Math.floor(width / 90)));
  const ticks: number[] = [];
  for (let at = Math.ceil((fromMs - startMs) / step) * step; at <= toMs - startMs; at += step) ticks.push(at);
  return ticks;
}

/** The window moved or made larger by `factor` around a moment, within `whole`; the whole is undefined, so that it grows with the run. */
export function zoomed(
  window: TimeWindow,
  whole: TimeWindow,
  factor: number,
  aroundMs: number,
): TimeWindow | undefined {
  const fromMs = Math.max(whole.fromMs, aroundMs - (aroundMs - window.fromMs) * factor);
  const toMs = Math.min(whole.toMs, aroundMs + (window.toMs - aroundMs) * factor);
  if (toMs - fromMs < 1) return window;
  return fromMs <= whole.fromMs && toMs >= whole.toMs ? undefined : { fromMs, toMs };
}

/** The window moved by a part of its width, within `whole`. */
export function moved(window: TimeWindow, whole: TimeWindow, part: number): TimeWindow {
  const span = window.toMs - window.fromMs;
  const fromMs = Math.min(
    Math.max(whole.fromMs, window.fromMs + span * part),
    Math.max(whole.fromMs, whole.toMs - span),
  );
  return { fromMs, toMs: fromMs + span };
}
