/** The parts of a message that hold text: one for each node that speaks, and for what it thinks. */
import { type NodeHeader, pathOf } from '../graph/events.js';
import type { UiMessageChunk } from './protocol.js';

/** What a part holds. */
export type SpokenKind = 'text' | 'reasoning';

interface OpenPart {
  readonly kind: SpokenKind;
  readonly id: string;
}

interface SpokenPart {
  readonly id: string;
  readonly place: string;
  readonly token: number;
  readonly seq: number;
}

/** Parts that can be retracted later; older ones stay as they are. */
const MAX_REMEMBERED = 10_000;

/** The open part of each token, and which parts a retraction is about. */
export class SpokenParts {
  readonly #open = new Map<number, OpenPart>();
  #said: SpokenPart[] = [];

  /** Whether a part is open. */
  get areOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Whether the open part of a token is of that kind. */
  continues(token: number, kind: SpokenKind): boolean {
    return this.#open.get(token)?.kind === kind;
  }

  /** Adds text to the open part, or to one that begins. */
  write(kind: SpokenKind, header: NodeHeader, text: string, out: UiMessageChunk[]): void {
    let part = this.#open.get(header.token);
    if (part?.kind !== kind) {
      this.close(header.token, out);
      part = this.#begin(kind, header, out);
    }
    out.push({ type: `${kind}-delta`, id: part.id, delta: text });
  }

  /** Nothing more comes of what a token said. */
  close(token: number, out: UiMessageChunk[]): void {
    const part = this.#open.get(token);
    if (part === undefined) return;
    this.#open.delete(token);
    out.push({ type: `${part.kind}-end`, id: part.id });
  }

  closeAll(out: UiMessageChunk[]): void {
    for (const token of [...this.#open.keys()]) this.close(token, out);
  }

  /** Ends and forgets the parts of a place, or inside of it, since an event; gives their ids. */
  retract({ node, within, token }: NodeHeader, fromSeq: number, out: UiMessageChunk[]): readonly string[] {
    const place = pathOf(within === undefined ? { node } : { node, within });
    const isVoid = (part: SpokenPart): boolean =>
      part.seq >= fromSeq && (part.token === token || part.place === place || part.place.startsWith(`${place}/`));
    const retracted = this.#said.filter(isVoid);
    if (retracted.length === 0) return [];
    this.#said = this.#said.filter((part) => !isVoid(part));
    for (const part of retracted) if (this.#open.get(part.token)?.id === part.id) this.close(part.token, out);
    return retracted.map(({ id }) => id);
  }

  #begin(kind: SpokenKind, header: NodeHeader, out: UiMessageChunk[]): OpenPart {
    const { run, seq, node, within, token } = header;
    const id = `${run}-${seq}`;
    const part = { kind, id };
    this.#open.set(token, part);
    if (this.#said.length >= MAX_REMEMBERED) this.#said = this.#said.slice(MAX_REMEMBERED / 2);
    this.#said.push({ id, place: pathOf(header), token, seq });
    const runnel = { part: id, node, ...(within !== undefined && { within }) };
    out.push({ type: `${kind}-start`, id, providerMetadata: { runnel } });
    return part;
  }
}
