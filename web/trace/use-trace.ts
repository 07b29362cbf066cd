/** What the user does with a trace: what is unfolded, chosen and in sight. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ActivationPicture, NodePicture, RunPicture } from '../../src/canvas/picture/picture.js';
import { changeQuery, useQueryValues } from '../parts/location.js';
import { moved, type TimeWindow, zoomed } from './draw-bars.js';
import { readStep, STEP, stepNumbered } from './steps.js';
import { endOf, type TraceBar } from './trace-bars.js';
import { placeOf } from './trace-frames.js';
import { type TraceRow, traceRows } from './trace-rows.js';

/** What the details are about, as it is now. */
export interface ChosenActivation {
  /** Key of its line. */
  readonly key: string;
  readonly node: NodePicture;
  readonly activation: ActivationPicture;
}

export interface Trace {
  readonly rows: readonly TraceRow[];
  readonly window: TimeWindow;
  readonly isZoomed: boolean;
  readonly chosen: ChosenActivation | undefined;
  /** The first activation that failed for good. */
  readonly failure: ActivationPicture | undefined;
  readonly choose: (row: TraceRow, bar?: TraceBar) => void;
  readonly toggle: (row: TraceRow) => void;
  readonly hover: (row: TraceRow | undefined) => void;
  readonly unfoldAll: (isOpen: boolean) => void;
  /** Unfolds the way to an activation, and shows its details. */
  readonly reveal: (activation: ActivationPicture) => void;
  readonly zoom: (factor: number, aroundMs?: number) => void;
  readonly pan: (part: number) => void;
  readonly fit: () => void;
}

/** Of runs with more activations only the outermost lines are open at first. */
const FEW = 40;

/** A line of a trace, and the step that its details are about. */
interface ChosenLine {
  readonly key: string;
  readonly ordinal: number;
}

/** What is chosen stands in the address: it outlives a reload, can be sent to others, and other parts of the screen can choose it. */
export function useTrace(picture: RunPicture, onSelect: (id: string | undefined) => void): Trace {
  const folds = useFolds(picture.activations <= FEW);
  const rows = useMemo(() => traceRows(picture, folds.isOpen), [picture, folds.isOpen]);
  const time = useTimeWindow(picture);
  const [query] = useQueryValues();
  const step = readStep(query);
  const [line, setLine] = useState<ChosenLine>();
  const chosen = useMemo(() => chosenOf(picture, step, line), [picture, step, line]);
  const select = useRef(onSelect);
  select.current = onSelect;
  const show = useCallback((key: string, { node, ordinal }: ActivationPicture) => {
    setLine({ key, ordinal });
    changeQuery({ [STEP]: ordinal });
    select.current(node);
  }, []);
  const choose = useCallback(
    (row: TraceRow, bar?: TraceBar) => {
      const activation = bar?.activation ?? row.activation;
      if (activation !== undefined) show(row.key, activation);
      else if (row.inside > 0) folds.toggle(row);
    },
    [show, folds.toggle],
  );
  const node = chosen?.node.id;
  const hover = useCallback((row: TraceRow | undefined) => select.current(row?.node.id ?? node), [node]);
  const open = (activation: ActivationPicture) => folds.open(keysTo(picture, activation));
  const reveal = (activation: ActivationPicture) => {
    open(activation);
    show(lineOf(picture, activation), activation);
  };
  useElsewhere(chosen?.activation, line, (activation) => {
    open(activation);
    select.current(activation.node);
  });
  return {
    rows,
    ...time,
    chosen,
    failure: failureOf(picture),
    choose,
    toggle: folds.toggle,
    hover,
    unfoldAll: folds.all,
    reveal,
  };
}

function useFolds(isOpenAtFirst: boolean) {
  const [first, setFirst] = useState<boolean>();
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const isOpen = useCallback((key: string) => folds.get(key) ?? first ?? isOpenAtFirst, [folds, first, isOpenAtFirst]);
  const toggle = useCallback((row: TraceRow) => setFolds((now) => new Map(now).set(row.key, !row.isOpen)), []);
  const open = (keys: readonly string[]) =>
    setFolds((now) => new Map([...now, ...keys.map((key) => [key, true] as const)]));
  const all = (isUnfolded: boolean) => {
    setFirst(isUnfolded);
    setFolds(new Map());
  };
  return { isOpen, toggle, open, all };
}

function useTimeWindow(picture: RunPicture) {
  const [part, setPart] = useState<TimeWindow>();
  const fromMs = picture.startedAtMs ?? 0;
  const toMs = Math.max(fromMs + 1, endOf(picture));
  const whole = useMemo<TimeWindow>(() => ({ fromMs, toMs }), [fromMs, toMs]);
  const window = part ?? whole;
  const middle = (window.fromMs + window.toMs) / 2;
  return {
    window,
    isZoomed: part !== undefined,
    zoom: (factor: number, aroundMs = middle) => setPart(zoomed(window, whole, factor, aroundMs)),
    pan: (by: number) => part !== undefined && setPart(moved(part, whole, by)),
    fit: () => setPart(undefined),
  };
}

/** Calls `onChosen` when a step is chosen in another part of the screen, or by the address that was opened. */
function useElsewhere(
  step: ActivationPicture | undefined,
  line: ChosenLine | undefined,
  onChosen: (step: ActivationPicture) => void,
): void {
  const newest = useRef({ step, onChosen });
  useEffect(() => {
    newest.current = { step, onChosen };
  });
  const ordinal = step?.ordinal === line?.ordinal ? undefined : step?.ordinal;
  useEffect(() => {
    const { step: now, onChosen: tell } = newest.current;
    if (ordinal !== undefined && now !== undefined) tell(now);
  }, [ordinal]);
}

/** Of a live run the activation changes, and its number stays. */
function chosenOf(
  picture: RunPicture,
  step: number | undefined,
  line: ChosenLine | undefined,
): ChosenActivation | undefined {
  const activation = step === undefined ? undefined : stepNumbered(picture, step);
  const node = activation === undefined ? undefined : picture.nodes.get(activation.node);
  if (node === undefined || activation === undefined) return undefined;
  return { key: line?.ordinal === step ? (line?.key ?? '') : lineOf(picture, activation), node, activation };
}

/** Key of the line of an activation: its node's when that ran once there, else one of its own below it. */
function lineOf(picture: RunPicture, { within = '', node, ordinal }: ActivationPicture): string {
  return countIn(picture, within, node) <= 1 ? `${within}/${node}` : `try ${ordinal}`;
}

/** Keys of the lines that are open when the line of an activation can be seen. */
function keysTo(picture: RunPicture, { within = '', node }: ActivationPicture): readonly string[] {
  return [...keysAround(within), ...(countIn(picture, within, node) <= 1 ? [] : [`${within}/${node}`])];
}

/** The innermost of the first failures: a container fails because of what is in it. */
function failureOf({ nodes }: RunPicture): ActivationPicture | undefined {
  let first: ActivationPicture | undefined;
  for (const { activations, sums } of nodes.values()) {
    if (sums.failures === 0) continue;
    for (const one of activations) {
      if (one.status === 'failed' && (first === undefined || (one.endSeq ?? 0) < (first.endSeq ?? 0))) first = one;
    }
  }
  return first;
}

/** Keys of the lines that an activation lies in. */
function keysAround(within: string): readonly string[] {
  const keys: string[] = [];
  for (let path = within; path !== ''; ) {
    const { container, around } = placeOf(path);
    keys.push(path, `${around}/${container}`);
    path = around;
  }
  return keys;
}

/** How often a node ran in a frame. */
function countIn(picture: RunPicture, within: string, id: string): number {
  return picture.nodes.get(id)?.activations.filter((one) => (one.within ?? '') === within).length ?? 0;
}
