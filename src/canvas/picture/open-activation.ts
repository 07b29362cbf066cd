/** An activation that has not ended, in its working form. */
import { CallLog, type CallSummary, type KeyedCall } from '../../graph/calls.js';
import type { NodeHeader, NodeNotice, RunUsage } from '../../graph/events.js';
import type { Outputs } from '../../graph/node-events.js';
import { toldOfChat } from './chat-picture.js';
import {
  type ActivationPicture,
  type ActivationStatus,
  type ChatPicture,
  type Emission,
  type Held,
  MAX_EMISSIONS,
  MAX_NOTICES,
  MAX_RUN_CALLS,
  MAX_RUN_EMISSIONS,
  MAX_RUN_NOTICES,
  MAX_RUN_TEXT,
  MAX_TEXT,
  NOTHING_USED,
  type NoticePicture,
} from './picture.js';

/** {@link Held} while it grows. */
export type Holding = { -readonly [K in keyof Held]: Held[K] };

/** How an activation ended, as far as its event says. */
export type Ending = Pick<
  ActivationPicture,
  'outputs' | 'next' | 'error' | 'recovered' | 'missing' | 'question' | 'isRetracted'
> & { readonly status: ActivationStatus; readonly elapsedMs?: number; readonly calls?: readonly CallSummary[] };

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type MutableEmission = Mutable<Emission>;

/** An activation that has not ended. */
export class OpenActivation {
  readonly ordinal: number;
  readonly node: string;
  readonly within: string | undefined;
  readonly token: number;
  readonly attempt: number;
  readonly startSeq: number;
  readonly startedAtMs: number;
  #status: ActivationStatus = 'open';
  #text = '';
  #thinking = '';
  #omittedCharacters = 0;
  #outputs: Outputs | undefined = undefined;
  #usage: RunUsage = NOTHING_USED;
  #log: CallLog | undefined = undefined;
  readonly #emissions: MutableEmission[] = [];
  readonly #notices: NoticePicture[] = [];
  #chat: ChatPicture | undefined = undefined;
  #view: ActivationPicture | undefined = undefined;

  constructor(
    { node, within, token, seq }: NodeHeader,
    place: Pick<OpenActivation, 'ordinal' | 'attempt' | 'startedAtMs'>,
  ) {
    this.ordinal = place.ordinal;
    this.node = node;
    this.within = within;
    this.token = token;
    this.attempt = place.attempt;
    this.startSeq = seq;
    this.startedAtMs = place.startedAtMs;
  }

  /** The working form of one that a picture shows as open. */
  static of(view: ActivationPicture): OpenActivation {
    const { node, within, token, startSeq: seq } = view;
    const header = { run: '', seq, at: 0, node, token, ...(within !== undefined && { within }) };
    const one = new OpenActivation(header, view);
    one.#status = view.status;
    one.#text = view.text;
    one.#thinking = view.thinking;
    one.#omittedCharacters = view.omittedCharacters;
    one.#outputs = view.outputs;
    one.#usage = view.usage;
    if (view.calls.length > 0) one.#log = new CallLog(view.calls);
    for (const emission of view.emissions) one.#emissions.push({ ...emission });
    for (const notice of view.notices) one.#notices.push(notice);
    if (view.chat !== undefined) one.#chat = view.chat;
    one.#view = view;
    return one;
  }

  get status(): ActivationStatus {
    return this.#status;
  }

  set status(status: ActivationStatus) {
    this.#status = status;
    this.#view = undefined;
  }

  set outputs(outputs: Outputs) {
    this.#outputs = outputs;
    this.#view = undefined;
  }

  /** As a picture shows it; the same object until something changes. */
  get view(): ActivationPicture {
    this.#view ??= this.#show(this.#log?.keyed ?? []);
    return this.#view;
  }

  write(kind: 'text' | 'thinking', text: string, held: Holding): void {
    this.#view = undefined;
    const before = kind === 'text' ? this.#text : this.#thinking;
    const room = Math.max(0, Math.min(MAX_TEXT - before.length, MAX_RUN_TEXT - held.characters));
    const taken = text.length <= room ? text : text.slice(0, room);
    held.characters += taken.length;
    this.#omittedCharacters += text.length - taken.length;
    if (kind === 'text') this.#text = before + taken;
    else this.#thinking = before + taken;
  }

  emit(kind: Emission['kind'], { seq, at }: NodeHeader, characters: number, held: Holding): void {
    this.#view = undefined;
    const last = this.#emissions.at(-1);
    const isFull = this.#emissions.length >= MAX_EMISSIONS || held.emissions >= MAX_RUN_EMISSIONS;
    if (last !== undefined && (last.kind === kind || isFull)) {
      last.toSeq = seq;
      last.pieces += 1;
      last.characters += characters;
    } else if (!isFull) {
      held.emissions += 1;
      this.#emissions.push({ kind, fromSeq: seq, toSeq: seq, atMs: at, pieces: 1, characters });
    }
  }

  /** What it wrote so far is void; it goes on. */
  retract(): void {
    this.#view = undefined;
    this.#text = '';
    this.#thinking = '';
  }

  use(usage: RunUsage): void {
    this.#view = undefined;
    this.#usage = addUsed(this.#usage, usage);
  }

  get calls(): CallLog {
    this.#view = undefined;
    this.#log ??= new CallLog();
    return this.#log;
  }

  notice({ seq, at, name, data }: NodeNotice, held: Holding): void {
    this.#view = undefined;
    const told = toldOfChat(this.#chat, { at, name, data });
    if (told !== undefined) {
      this.#chat = told;
      return;
    }
    if (this.#notices.length >= MAX_NOTICES || held.notices >= MAX_RUN_NOTICES) return;
    held.notices += 1;
    this.#notices.push({ seq, atMs: at, name, data });
  }

  /** As a picture shows it from now on. `calls` of the ending count where no event told of them. */
  close(ending: Ending, { seq, at }: { readonly seq: number; readonly at: number }, held: Holding): ActivationPicture {
    this.#log?.stop(at);
    const { calls: summed = [], status, elapsedMs = at - this.startedAtMs, outputs = this.#outputs } = ending;
    const own = this.#log?.keyed ?? [];
    const calls = (own.length > 0 ? own : summed.map(keyed)).slice(0, Math.max(0, MAX_RUN_CALLS - held.calls));
    held.calls += calls.length;
    this.#status = status;
    this.#outputs = outputs;
    const shown: Mutable<ActivationPicture> = this.#show(calls);
    for (const name of SAID_AT_END) {
      const value = ending[name];
      if (value !== undefined) Object.assign(shown, { [name]: value });
    }
    shown.endSeq = seq;
    shown.endedAtMs = at;
    shown.elapsedMs = elapsedMs;
    return shown;
  }

  /** Made by assignments: long runs have some ten thousand, and copying objects into each other takes several times as long. */
  #show(calls: readonly KeyedCall[]): ActivationPicture {
    const shown: Mutable<ActivationPicture> = {
      ordinal: this.ordinal,
      node: this.node,
      token: this.token,
      attempt: this.attempt,
      status: this.#status,
      startSeq: this.startSeq,
      startedAtMs: this.startedAtMs,
      text: this.#text,
      thinking: this.#thinking,
      omittedCharacters: this.#omittedCharacters,
      calls,
      usage: this.#usage,
      emissions: this.#emissions.map(copyOf),
      notices: this.#notices.slice(),
    };
    if (this.within !== undefined) shown.within = this.within;
    if (this.#outputs !== undefined) shown.outputs = this.#outputs;
    if (this.#chat !== undefined) shown.chat = this.#chat;
    return shown;
  }
}

/** What an ending says beside outputs and times. */
const SAID_AT_END = ['next', 'error', 'recovered', 'missing', 'question', 'isRetracted'] as const;

const copyOf = (emission: Emission): Emission => ({ ...emission });

/** The sum of what was used. */
export function addUsed(before: RunUsage, more: RunUsage): RunUsage {
  return {
    promptTokens: before.promptTokens + more.promptTokens,
    completionTokens: before.completionTokens + more.completionTokens,
    totalTokens: before.totalTokens + more.totalTokens,
    calls: before.calls + more.calls,
  };
}

function keyed(call: CallSummary): KeyedCall {
  return { key: String(call.id), ...call };
}
