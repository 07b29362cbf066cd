/** What a research has read, each text once. */
import type { GraphReason } from '../../knowledge/graph/graph-search.js';
import { foldText } from '../../knowledge/words/split-words.js';
import { canonicalAddress } from './canonical-address.js';

/** Where evidence is searched for; `tool`: what another tool gave. */
export type Place = 'kb' | 'graph' | 'web' | 'tool';

/** A passage or page as it was found. */
export interface FoundEvidence {
  /** Of the passage, or of the page. */
  readonly id: string;
  readonly where: Place;
  /** Name of the document, title of the page, or the tool and its arguments. */
  readonly source: string;
  readonly text: string;
  /** 0 to 1. */
  readonly score: number;
  readonly url?: string | undefined;
  readonly document_id?: string | undefined;
  readonly dataset_id?: string | undefined;
  readonly page?: number | undefined;
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  /** When the page or document says that it was written, as it says it. */
  readonly date?: string | undefined;
  /** Of a page of the web of which only what a search said of it is read: why. */
  readonly unread?: string | undefined;
  /** Of what a graph led to: the entities and the way. */
  readonly why?: GraphReason | undefined;
}

/** The same as it was read: for which sub-question first, and when. */
export interface ResearchEvidence extends FoundEvidence {
  readonly question: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** See {@link EvidenceTable.add}. */
export interface AddedEvidence {
  /** What was found, as the table has it, the best first. */
  readonly all: readonly ResearchEvidence[];
  /** What of it was not there before. */
  readonly fresh: readonly ResearchEvidence[];
}

/** Everything that one research has read. A class, for it grows. */
export class EvidenceTable {
  readonly #byId = new Map<string, ResearchEvidence>();
  /** Ids by content and by address. */
  readonly #known = new Map<string, string>();
  readonly #excluded = new Set<string>();

  /** In the order in which it was read. */
  get items(): readonly ResearchEvidence[] {
    return [...this.#byId.values()];
  }

  find(id: string): ResearchEvidence | undefined {
    return this.#byId.get(id);
  }

  /** Leaves out a source from now on, by its name, its id, that of its document, or its address. */
  exclude(source: string): void {
    this.#excluded.add(canonicalAddress(source).toLowerCase());
  }

  isExcluded({ id, source, url, document_id }: FoundEvidence): boolean {
    if (this.#excluded.size === 0) return false;
    const names = [id, source, document_id, url].filter((name) => name !== undefined);
    return names.some((name) => this.#excluded.has(canonicalAddress(name).toLowerCase()));
  }

  /** Adds what was found for a sub-question; a text or a page that is there already is not added, and counts as found. */
  add(found: readonly FoundEvidence[], question: string, at: number): AddedEvidence {
    const all = new Map<string, ResearchEvidence>();
    const fresh: ResearchEvidence[] = [];
    for (const one of found) {
      if (this.isExcluded(one)) continue;
      const keys = keysOf(one);
      const id = keys.map((key) => this.#known.get(key)).find((known) => known !== undefined) ?? one.id;
      let item = this.#byId.get(id);
      if (item === undefined) {
        item = { ...one, question, at };
        this.#byId.set(id, item);
        fresh.push(item);
      } else if (item.why === undefined && one.why !== undefined) {
        item = { ...item, why: one.why };
        this.#byId.set(id, item);
      }
      for (const key of keys) this.#known.set(key, item.id);
      if (!all.has(item.id)) all.set(item.id, item);
    }
    return { all: [...all.values()], fresh };
  }
}

/** A page has one address; passages of a document, or of a page that was read, have many texts. */
function keysOf({ id, where, text, url }: FoundEvidence): readonly string[] {
  const content = `text:${foldText(text)
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()}`;
  const own = [`id:${id}`, content];
  if (where !== 'web' || url === undefined) return own;
  const address = canonicalAddress(url);
  return id.startsWith(`${address}#`) ? own : [...own, `url:${address}`];
}
