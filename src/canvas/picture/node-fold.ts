/** A node of a run, in its working form. */
import type { NodeHeader, RunUsage } from '../../graph/events.js';
import { addUsed, OpenActivation } from './open-activation.js';
import {
  type ActivationPicture,
  type ActivationStatus,
  type DescribedNode,
  MAX_ACTIVATIONS,
  NOTHING_USED,
  type NodePicture,
  type NodeStatus,
  type NodeSums,
  type RoundsPicture,
} from './picture.js';

type Sums = { -readonly [K in keyof NodeSums]: NodeSums[K] };

/** Folds what happens at one node. */
export class NodeFold {
  readonly about: DescribedNode;
  /** In the order in which they began. */
  readonly #activations: (ActivationPicture | OpenActivation)[] = [];
  /** The same as they were shown last; up to `#changedFrom` they are shown so again. */
  #shown: readonly ActivationPicture[] = [];
  #changedFrom = 0;
  /** Tokens that wait for an answer; those that wait for their next try. */
  readonly #waiting = new Set<number>();
  readonly #retrying = new Set<number>();
  #isQueued = false;
  #attempts: number | undefined = undefined;
  #rounds: RoundsPicture | undefined = undefined;
  #firstSeq: number | undefined = undefined;
  /** Those that have not ended, in the order in which they began. */
  readonly #open = new Set<OpenActivation>();
  readonly #sums: Sums;
  #view: NodePicture | undefined = undefined;

  /** @param view what another fold showed, to go on with */
  constructor(about: DescribedNode, view?: NodePicture) {
    this.about = about;
    this.#sums = view === undefined ? noSums() : { ...view.sums };
    if (view === undefined) return;
    for (const one of view.activations) {
      if (one.endSeq !== undefined) {
        this.#activations.push(one);
        continue;
      }
      const open = OpenActivation.of(one);
      this.#open.add(open);
      this.#activations.push(open);
    }
    this.#shown = view.activations;
    this.#changedFrom = this.#firstOpen();
    for (const token of view.waiting ?? []) this.#waiting.add(token);
    for (const token of view.retrying ?? []) this.#retrying.add(token);
    this.#isQueued = view.isQueued === true;
    this.#attempts = view.attempts;
    this.#rounds = view.rounds;
    this.#firstSeq = view.firstSeq;
    this.#view = view;
  }

  /** As a picture shows it; the same object until something changes. */
  get view(): NodePicture {
    this.#view ??= this.#show();
    return this.#view;
  }

  /** Activations that have not ended. */
  get open(): readonly OpenActivation[] {
    return [...this.#open];
  }

  get rounds(): RoundsPicture | undefined {
    return this.#rounds;
  }

  set rounds(rounds: RoundsPicture) {
    this.#rounds = rounds;
    this.#view = undefined;
  }

  set isQueued(isQueued: boolean) {
    if (this.#isQueued === isQueued) return;
    this.#isQueued = isQueued;
    this.#view = undefined;
  }

  /** Something of it will change. @param seq number of the event that changes it */
  touch(seq: number): void {
    this.#firstSeq ??= seq;
    this.#view = undefined;
  }

  begin(
    header: NodeHeader,
    place: { readonly ordinal: number; readonly attempt: number; readonly startedAtMs: number },
  ): OpenActivation {
    const one = new OpenActivation(header, place);
    this.touch(header.seq);
    this.#activations.push(one);
    this.#open.add(one);
    this.#isQueued = false;
    this.#waiting.delete(header.token);
    this.#retrying.delete(header.token);
    this.#sums.firstStartedAtMs ??= place.startedAtMs;
    if (place.attempt === 1) this.#sums.activations += 1;
    return one;
  }

  /** Puts what an activation came to in its place. */
  end(open: OpenActivation, ended: ActivationPicture): void {
    const at = this.#activations.lastIndexOf(open);
    this.#changed(at);
    this.#open.delete(open);
    this.#activations[at] = ended;
    if (ended.ordinal > MAX_ACTIVATIONS) this.#forgetBefore(at);
    this.#count(ended);
    const { token, status, isRetracted } = ended;
    if (status === 'waiting') this.#waiting.add(token);
    if (status === 'retried' && isRetracted !== true) this.#retrying.add(token);
  }

  /** How many tries the node has at most. */
  set attempts(attempts: number) {
    this.#attempts = attempts;
  }

  /** No token waits any more; gives whether one did. */
  rest(): boolean {
    if (this.#waiting.size + this.#retrying.size === 0 && !this.#isQueued) return false;
    this.#waiting.clear();
    this.#retrying.clear();
    this.#isQueued = false;
    this.#view = undefined;
    return true;
  }

  /** Texts that ended activations of a place wrote since an event are void. */
  retract(within: string | undefined, fromSeq: number): void {
    for (let at = this.#activations.length - 1; at >= 0; at -= 1) {
      const one = this.#activations[at] as ActivationPicture | OpenActivation;
      if (one.startSeq < fromSeq) break;
      if (one instanceof OpenActivation || one.within !== within || one.isRetracted === true) continue;
      this.#activations[at] = { ...one, isRetracted: true };
      this.#changed(at);
    }
  }

  emitted(at: number, pieces: number, characters: number): void {
    this.#view = undefined;
    this.#sums.firstStartedAtMs ??= at;
    this.#sums.pieces += pieces;
    this.#sums.characters += characters;
  }

  use(usage: RunUsage): void {
    this.#view = undefined;
    this.#sums.usage = addUsed(this.#sums.usage, usage);
  }

  /** Behind the bound of the run only the one that ended last stays. */
  #forgetBefore(at: number): void {
    for (let before = at - 1; before >= 0; before -= 1) {
      const one = this.#activations[before] as ActivationPicture | OpenActivation;
      if (one.ordinal <= MAX_ACTIVATIONS) return;
      if (one instanceof OpenActivation) continue;
      this.#activations.splice(before, 1);
      this.#changed(before);
    }
  }

  #count({ status, endedAtMs, elapsedMs = 0 }: ActivationPicture): void {
    // What was stopped has no end of its own.
    if (status === 'stopped') return;
    const sums = this.#sums;
    if (endedAtMs !== undefined) sums.lastEndedAtMs = endedAtMs;
    sums.busyMs += elapsedMs;
    sums.longestMs = Math.max(sums.longestMs, elapsedMs);
    if (status === 'failed') sums.failures += 1;
    if (status === 'retried') sums.retries += 1;
    if (status === 'skipped') {
      sums.skips += 1;
      sums.activations -= 1;
    }
  }

  #show(): NodePicture {
    const { id, type, name, parent } = this.about;
    const activations = this.#shownActivations();
    const status = this.#status(activations);
    const last = activations.at(-1);
    const isRetried = status === 'retrying';
    const attempt = last === undefined ? undefined : isRetried ? last.attempt + 1 : last.attempt;
    const isAtWork = isRetried || status === 'running';
    return {
      id,
      ...(type !== undefined && { type }),
      ...(name !== undefined && { name }),
      ...(parent !== undefined && { parent }),
      status,
      ...(isAtWork && attempt !== undefined && { attempt }),
      ...(this.#attempts !== undefined && { attempts: this.#attempts }),
      activations,
      ...(this.#isQueued && { isQueued: true as const }),
      ...(this.#waiting.size > 0 && { waiting: [...this.#waiting] }),
      ...(this.#retrying.size > 0 && { retrying: [...this.#retrying] }),
      ...(this.#rounds !== undefined && { rounds: this.#rounds }),
      ...(this.#firstSeq !== undefined && { firstSeq: this.#firstSeq }),
      sums: { ...this.#sums },
    };
  }

  #shownActivations(): readonly ActivationPicture[] {
    const shown = this.#shown.slice(0, this.#changedFrom);
    for (let at = shown.length; at < this.#activations.length; at += 1) {
      const one = this.#activations[at] as ActivationPicture | OpenActivation;
      shown.push(one instanceof OpenActivation ? one.view : one);
    }
    this.#shown = shown;
    this.#changedFrom = this.#firstOpen();
    return shown;
  }

  /** Where the first one stands that may change by itself. Looked for from the end: of a long list few are open, and those began last. */
  #firstOpen(): number {
    let { size: left } = this.#open;
    let at = this.#activations.length;
    while (left > 0) {
      at -= 1;
      if (this.#activations[at] instanceof OpenActivation) left -= 1;
    }
    return at;
  }

  #changed(at: number): void {
    this.#changedFrom = Math.min(this.#changedFrom, at);
    this.#view = undefined;
  }

  /** What is at work counts before what waits, and that before what has ended. */
  #status(activations: readonly ActivationPicture[]): NodeStatus {
    for (const { status } of this.#open) if (status === 'open') return 'running';
    if (this.#retrying.size > 0) return 'retrying';
    if (this.#open.size + this.#waiting.size > 0) return 'waiting';
    if (this.#isQueued) return 'queued';
    const last = activations.at(-1);
    return last === undefined ? 'idle' : ENDED[last.status];
  }
}

/** How a node stands whose last activation ended so, when nothing else is under way. */
const ENDED: Readonly<Record<ActivationStatus, NodeStatus>> = {
  open: 'running',
  settled: 'done',
  failed: 'failed',
  retried: 'stopped',
  skipped: 'skipped',
  waiting: 'stopped',
  stopped: 'stopped',
};

function noSums(): Sums {
  return {
    activations: 0,
    failures: 0,
    retries: 0,
    skips: 0,
    busyMs: 0,
    longestMs: 0,
    pieces: 0,
    characters: 0,
    usage: NOTHING_USED,
  };
}
