/** What takes time in a trace: activations, calls and passes, as bars. */
import type { ActivationPicture, ActivationStatus, RunPicture } from '../../src/canvas/picture/picture.js';
import type { KeyedCall } from '../../src/graph/calls.js';
import type { TraceFrame } from './trace-frames.js';

/** Something that took time: an activation, a call, or a pass. Times in milliseconds since 1970. */
export interface TraceBar {
  readonly fromMs: number;
  /** The last moment of the run when it has no end. */
  readonly toMs: number;
  readonly status: ActivationStatus;
  /** Number of its first event. */
  readonly seq: number;
  readonly tokens: number;
  /** Written into it where there is room. */
  readonly label?: string;
  /** Of a call: that which made it. */
  readonly activation?: ActivationPicture;
  readonly call?: KeyedCall;
}

/** The last moment that is drawn of a run, in milliseconds since 1970. */
export function endOf({ endedAtMs, lastAtMs, startedAtMs = 0 }: RunPicture): number {
  return Math.max(startedAtMs, endedAtMs ?? 0, lastAtMs ?? 0);
}

/** `end` is where what has no end is drawn to. */
export function activationBar(activation: ActivationPicture, end: number, label?: string): TraceBar {
  const { startedAtMs: fromMs, endedAtMs: toMs = end, status, startSeq: seq, usage } = activation;
  return {
    fromMs,
    toMs: Math.max(fromMs, toMs),
    status,
    seq,
    tokens: usage.totalTokens,
    activation,
    ...(label !== undefined && { label }),
  };
}

export function callBar(call: KeyedCall, activation: ActivationPicture, end: number): TraceBar {
  const { startedAtMs: fromMs, endedAtMs: toMs = end, status, usage } = call;
  const drawn = status === 'done' ? 'settled' : status;
  return {
    fromMs,
    toMs: Math.max(fromMs, toMs),
    status: drawn,
    seq: activation.startSeq,
    tokens: usage?.totalTokens ?? 0,
    activation,
    call,
  };
}

/** From its first activation to its last; a pass inside a pass counts with it. */
export function passBar({ path, round, nodes, firstSeq: seq }: TraceFrame, end: number): TraceBar {
  let [fromMs, toMs, tokens] = [Number.POSITIVE_INFINITY, 0, 0];
  let status: ActivationStatus = 'settled';
  for (const { activations, passes } of nodes) {
    const bars = [...activations.map((one) => activationBar(one, end)), ...passes.map((one) => passBar(one, end))];
    for (const bar of bars) {
      fromMs = Math.min(fromMs, bar.fromMs);
      toMs = Math.max(toMs, bar.toMs);
      tokens += bar.tokens;
      status = worse(status, bar.status);
    }
  }
  const first = nodes[0]?.activations[0];
  return {
    fromMs,
    toMs,
    status,
    seq,
    tokens,
    label: path === '' ? '' : round,
    ...(first !== undefined && { activation: first }),
  };
}

/** What matters more comes first. */
const BY_WEIGHT: readonly ActivationStatus[] = [
  'failed',
  'open',
  'waiting',
  'stopped',
  'retried',
  'settled',
  'skipped',
];

/** The status that matters more. */
export function worse(one: ActivationStatus, other: ActivationStatus): ActivationStatus {
  return BY_WEIGHT.indexOf(other) < BY_WEIGHT.indexOf(one) ? other : one;
}

/** What several bars come to: a failure counts before everything else. */
export function worstOf(bars: readonly TraceBar[]): ActivationStatus {
  return bars.reduce<ActivationStatus>((status, bar) => worse(status, bar.status), 'settled');
}
