/** The lines of a trace: nodes, the passes of containers, tries and calls, as far as they are unfolded. */
import type { ActivationPicture, ActivationStatus, NodePicture, RunPicture } from '../../src/canvas/picture/picture.js';
import { lanesOf } from '../../src/canvas/timeline-rows.js';
import type { KeyedCall } from '../../src/graph/calls.js';
import { tellingStep } from './steps.js';
import { activationBar, callBar, endOf, passBar, type TraceBar, worstOf } from './trace-bars.js';
import { type FrameNode, framesOf, type TraceFrame } from './trace-frames.js';

/** A line of a trace. */
export interface TraceRow {
  /** Stays the same while the run grows. */
  readonly key: string;
  readonly kind: 'node' | 'pass' | 'try' | KeyedCall['kind'];
  readonly node: NodePicture;
  /** Name of the node or of what is called; of a pass its round, of a try its place among them, from 1. */
  readonly label: string;
  /** 1 for the outermost. */
  readonly level: number;
  readonly isOpen: boolean;
  /** Lines below it when it is open; 0 for what cannot be unfolded. */
  readonly inside: number;
  /** Its bars are passes. */
  readonly hasPasses?: true;
  /** Bars at the same time lie in different lanes. */
  readonly lanes: readonly (readonly TraceBar[])[];
  readonly status: ActivationStatus;
  /** Milliseconds at work, side by side or not. */
  readonly busyMs: number;
  readonly tokens: number;
  /** What its details are about: an activation of it, the failed one rather than another. */
  readonly activation?: ActivationPicture;
  readonly call?: KeyedCall;
}

/** Whether a line is unfolded; asked only for lines that have something inside. */
export type IsUnfolded = (key: string) => boolean;

/** The lines of a run, in the order in which what they show began. */
export function traceRows(picture: RunPicture, isUnfolded: IsUnfolded): readonly TraceRow[] {
  const rows: TraceRow[] = [];
  new Rows(rows, endOf(picture), isUnfolded).frame(framesOf(picture), 1);
  return rows;
}

/** What a line shows. */
interface RowContent {
  readonly inside: number;
  readonly bars: readonly TraceBar[];
  readonly status: ActivationStatus;
  /** What its time is the sum of. @default its bars */
  readonly timed?: readonly TraceBar[];
}

class Rows {
  readonly #rows: TraceRow[];
  readonly #end: number;
  readonly #isUnfolded: IsUnfolded;

  constructor(rows: TraceRow[], end: number, isUnfolded: IsUnfolded) {
    this.#rows = rows;
    this.#end = end;
    this.#isUnfolded = isUnfolded;
  }

  frame({ path, nodes }: TraceFrame, level: number): void {
    for (const one of nodes) this.#node(one, path, level);
  }

  #node(one: FrameNode, path: string, level: number): void {
    const { node, activations, passes } = one;
    const key = `${path}/${node.id}`;
    const only = activations.length === 1 ? activations[0] : undefined;
    const isContainer = passes.length > 0;
    const inside = isContainer
      ? passes.length
      : only === undefined
        ? activations.length
        : callsBelow(only, undefined).length;
    const bars = isContainer
      ? passes.map((pass) => passBar(pass, this.#end))
      : activations.map((each, at) =>
          activationBar(each, this.#end, activations.length > 1 ? String(at + 1) : undefined),
        );
    const shown = tellingStep(activations);
    const isOpen = this.#push(
      {
        key,
        kind: 'node',
        node,
        label: node.name || node.id,
        level,
        ...(isContainer && { hasPasses: true as const }),
        ...(shown !== undefined && { activation: shown }),
      },
      {
        inside,
        bars,
        status: shown?.status ?? worstOf(bars),
        // Its passes may lie side by side, and there are pauses between them.
        ...(shown !== undefined && { timed: activations.map((each) => activationBar(each, this.#end)) }),
      },
    );
    if (!isOpen) return;
    if (isContainer) for (const pass of passes) this.#pass(pass, node, level + 1);
    else if (only !== undefined) this.#calls(only, node, undefined, level + 1);
    else for (const [at, each] of activations.entries()) this.#try(each, node, at + 1, level + 1);
  }

  #pass(pass: TraceFrame, node: NodePicture, level: number): void {
    const bars = pass.nodes.flatMap(({ node: { name, id }, activations }) =>
      activations.map((each) => activationBar(each, this.#end, name || id)),
    );
    const about = { key: pass.path, kind: 'pass', node, label: pass.round, level } as const;
    if (this.#push(about, { inside: pass.nodes.length, bars, status: worstOf(bars) })) this.frame(pass, level + 1);
  }

  #try(activation: ActivationPicture, node: NodePicture, place: number, level: number): void {
    const about = {
      key: `try ${activation.ordinal}`,
      kind: 'try',
      node,
      label: String(place),
      level,
      activation,
    } as const;
    const inside = callsBelow(activation, undefined).length;
    const { status } = activation;
    if (this.#push(about, { inside, bars: [activationBar(activation, this.#end)], status }))
      this.#calls(activation, node, undefined, level + 1);
  }

  #calls(activation: ActivationPicture, node: NodePicture, parent: number | undefined, level: number): void {
    for (const call of callsBelow(activation, parent)) {
      const key = `call ${activation.ordinal}/${call.id}`;
      const bar = callBar(call, activation, this.#end);
      const about = { key, kind: call.kind, node, label: call.name, level, activation, call } as const;
      const inside = callsBelow(activation, call.id).length;
      if (this.#push(about, { inside, bars: [bar], status: bar.status }))
        this.#calls(activation, node, call.id, level + 1);
    }
  }

  /** Gives whether it is unfolded. */
  #push(
    about: Pick<TraceRow, 'key' | 'kind' | 'node' | 'label' | 'level' | 'hasPasses' | 'activation' | 'call'>,
    { inside, bars, status, timed = bars }: RowContent,
  ): boolean {
    const isOpen = inside > 0 && this.#isUnfolded(about.key);
    const busyMs = timed.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
    const tokens = bars.reduce((sum, bar) => sum + bar.tokens, 0);
    this.#rows.push({
      ...about,
      isOpen,
      inside,
      lanes: bars.length < 2 ? [bars] : lanesOf(bars),
      status,
      busyMs,
      tokens,
    });
    return isOpen;
  }
}

/** Calls that an activation makes by itself, or that are part of another call. */
function callsBelow({ calls }: ActivationPicture, parent: number | undefined): readonly KeyedCall[] {
  return calls.filter((call) => call.parent === parent);
}
