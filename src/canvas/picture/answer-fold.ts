/** What a run tells its user, by speaker. */
import { type NodeHeader, pathOf } from '../../graph/events.js';
import type { JsonObject } from '../../json.js';
import { type AnswerPart, type AnswerPicture, MAX_ANSWER, MAX_PARTS } from './picture.js';

/** A part in its working form. */
interface Part {
  readonly about: Pick<AnswerPart, 'kind' | 'node' | 'within' | 'token' | 'fromSeq' | 'startedAtMs'>;
  readonly place: string;
  text: string;
  toSeq: number;
  lastAtMs: number;
  isOpen: boolean;
  ending: JsonObject | undefined;
  view: AnswerPart | undefined;
}

/** Folds pieces of text into what the user was told. */
export class AnswerFold {
  #parts: Part[] = [];
  /** The open part of each token. */
  readonly #open = new Map<number, Part>();
  /** The first parts, to which nothing is added any more, and their text. */
  #settledParts: AnswerPart[] = [];
  #settled = '';
  #characters = 0;
  #omitted = 0;
  #view: AnswerPicture | undefined = undefined;

  /** @param view what another fold showed, to go on with */
  constructor(view: AnswerPicture = NO_ANSWER) {
    this.#view = view;
    this.#omitted = view.omittedCharacters;
    for (const shown of view.parts) {
      const { kind, node, within, token, fromSeq, startedAtMs, text, toSeq, lastAtMs, isOpen, ending } = shown;
      const about = { kind, node, ...(within !== undefined && { within }), token, fromSeq, startedAtMs };
      const part: Part = { about, place: pathOf(shown), text, toSeq, lastAtMs, isOpen, ending, view: shown };
      this.#parts.push(part);
      this.#characters += text.length;
      if (isOpen) this.#open.set(token, part);
    }
  }

  /** As a picture shows it; the same object until something changes. */
  get view(): AnswerPicture {
    this.#view ??= this.#show();
    return this.#view;
  }

  write(kind: AnswerPart['kind'], header: NodeHeader, text: string): void {
    const { token, seq, at } = header;
    this.#view = undefined;
    let part = this.#open.get(token);
    if (part === undefined || part.about.kind !== kind) part = this.#begin(kind, header);
    const room = part === undefined ? 0 : Math.max(0, MAX_ANSWER - this.#characters);
    const taken = text.length <= room ? text : text.slice(0, room);
    this.#characters += taken.length;
    this.#omitted += text.length - taken.length;
    if (part === undefined) return;
    part.text += taken;
    part.toSeq = seq;
    part.lastAtMs = at;
    part.view = undefined;
  }

  /** The message of a token ends; what its end says goes to its last part. */
  endMessage(header: NodeHeader, ending: JsonObject): void {
    const part = this.#open.get(header.token) ?? this.#begin('text', header);
    if (part === undefined) return;
    part.ending = ending;
    this.close(header.token);
  }

  /** No more comes from a token. */
  close(token: number): void {
    const part = this.#open.get(token);
    if (part === undefined) return;
    this.#open.delete(token);
    part.isOpen = false;
    part.view = undefined;
    this.#view = undefined;
  }

  closeAll(): void {
    for (const token of [...this.#open.keys()]) this.close(token);
  }

  /** What a place said from an event on is void. */
  retract(place: string, fromSeq: number): void {
    const stays = this.#parts.filter((part) => part.place !== place || part.about.fromSeq < fromSeq);
    if (stays.length === this.#parts.length) return;
    for (const part of this.#parts) {
      if (part.place !== place || part.about.fromSeq < fromSeq) continue;
      this.#characters -= part.text.length;
      if (this.#open.get(part.about.token) === part) this.#open.delete(part.about.token);
    }
    this.#parts = stays;
    this.#settled = '';
    this.#settledParts = [];
    this.#view = undefined;
  }

  #begin(kind: AnswerPart['kind'], header: NodeHeader): Part | undefined {
    const { node, within, token, seq, at } = header;
    this.close(token);
    this.#view = undefined;
    if (this.#parts.length >= MAX_PARTS) return undefined;
    const about = { kind, node, ...(within !== undefined && { within }), token, fromSeq: seq, startedAtMs: at };
    const place = pathOf(header);
    const part: Part = {
      about,
      place,
      text: '',
      toSeq: seq,
      lastAtMs: at,
      isOpen: true,
      ending: undefined,
      view: undefined,
    };
    this.#parts.push(part);
    this.#open.set(token, part);
    return part;
  }

  #show(): AnswerPicture {
    for (let next = this.#nextPart(); next?.isOpen === false; next = this.#nextPart()) {
      this.#settled += textOf(next);
      this.#settledParts.push(shownPart(next));
    }
    let text = this.#settled;
    const parts = this.#settledParts.slice();
    for (let at = parts.length; at < this.#parts.length; at += 1) {
      const part = this.#parts[at] as Part;
      text += textOf(part);
      parts.push(shownPart(part));
    }
    return { text, parts, omittedCharacters: this.#omitted };
  }

  /** The first behind the settled ones. */
  #nextPart(): Part | undefined {
    return this.#parts[this.#settledParts.length];
  }
}

const NO_ANSWER: AnswerPicture = { text: '', parts: [], omittedCharacters: 0 };

function textOf({ about, text }: Part): string {
  return about.kind === 'text' ? text : '';
}

function shownPart(part: Part): AnswerPart {
  const { about, text, toSeq, lastAtMs, isOpen, ending } = part;
  part.view ??= { ...about, text, toSeq, lastAtMs, isOpen, ...(ending !== undefined && { ending }) };
  return part.view;
}
