/** How high lines of the waterfall are, in CSS pixels. */
import type { TraceRow } from './trace-rows.js';

export const LANE_HEIGHT = 14;
const LANE_GAP = 3;
const MARGIN = 6;

export const laneTop = (lane: number): number => MARGIN + lane * (LANE_HEIGHT + LANE_GAP);

export function rowHeight({ lanes }: Pick<TraceRow, 'lanes'>): number {
  return laneTop(Math.max(1, lanes.length)) - LANE_GAP + MARGIN;
}
